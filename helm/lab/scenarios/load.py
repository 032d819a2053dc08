"""k6 in the cluster: a script as a Job, gateways of each topology at one CPU limit after the other, and the report."""

import json
import os
import shutil
import subprocess
import sys

import kube
from scenarios import ingress, sessions
from scenarios.common import install, removed

LOAD = kube.ROOT / "helm" / "load"
RESULTS = kube.STATE / "bench"
POLICIES = "client-id and access-log"
SHOP = ["--namespace", kube.NAMESPACE, "--backend", "echo", "app=orders", "--backend", "auth", "app=auth"]
# Long enough to see that all is there; the figures mean nothing.
SHORT = ["--set", "VUS=4", "--set", "DURATION=3s", "--set", "WARMUP=1s"]


def make_scripts_available(namespace):
    kube.kubectl(
        "create", "configmap", "portcullis-load",
        "--from-file", kube.ROOT / "k6" / "lib", "--from-file", kube.ROOT / "k6" / "scenarios",
        namespace=namespace,
    )  # fmt: skip


def it_installs():
    install("gateway", "load.yaml")
    kube.kubectl("apply", "--filename", LOAD / "bare.yaml")
    make_scripts_available(kube.NAMESPACE)
    kube.kubectl("rollout", "status", "deployment/bare", "--timeout", kube.PATIENCE)


def a_job_runs_a_script():
    quick = kube.kubectl(
        "set", "env", "--local", "--filename", LOAD / "job.yaml", "--output", "yaml", "PROFILE=smoke"
    ).stdout
    kube.kubectl("apply", "--filename", "-", stdin=quick)
    kube.kubectl("wait", "--for=condition=Complete", "job/portcullis-load", "--timeout", kube.PATIENCE)
    summary = json.loads(kube.kubectl("logs", "job/portcullis-load", "--container", "k6").stdout)
    kube.expect("the script has passed", summary["passed"], True)
    kube.expect("every reply was right", [phase["corrupt_rate"] for phase in summary["phases"]], [0] * 3)
    kube.kubectl("delete", "job", "portcullis-load", "--cascade=foreground")


def measure(name, *options):
    """Runs `measure`: its exit status, what it says, and the record."""
    folder = RESULTS / name
    shutil.rmtree(folder, ignore_errors=True)
    done = subprocess.run(
        [sys.executable, LOAD / "measure", "--output", folder, *SHORT, *options],
        capture_output=True, encoding="utf-8", check=False, env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"},
    )  # fmt: skip
    run = folder / "run.json"
    return done.returncode, done.stderr, json.loads(run.read_text(encoding="utf-8")) if run.exists() else None


def measured(name, *options):
    status, said, record = measure(name, *options)
    roles = ["auth", "echo", "generator"] if "--backend" in options else ["generator"]
    if status:
        raise kube.Failure(said)
    print(said, end="", flush=True)
    kube.expect("the record is complete", record["complete"], True)
    for entry in record["measurements"]:
        what = f"{entry['step']} {entry['variant']}"
        kube.expect(f"{what}: no reply was wrong", (entry["requests"] > 0, entry["errors"]), (True, 0))
        kube.expect(f"{what}: the quota was kept", entry["quota_kept"], True)
        kube.expect(f"{what}: who made the load is on record", sorted(entry["load"]["millicores"]), roles)
    return record


def cpu_limits_are_swept_in_place():
    gateway = "app.kubernetes.io/instance=gateway,app.kubernetes.io/component=gateway"
    (before,) = kube.pods(gateway)
    record = measured(
        "standard", *SHOP,
        "--gateway", "policies", "http://gateway-portcullis", gateway, "--title", "policies", POLICIES,
        "--gateway", "bare", "http://bare", "app=bare",
        "--millicores", "250,500",
    )  # fmt: skip
    kube.expect(
        "each was measured at each limit",
        sorted((entry["step"], entry["variant"]) for entry in record["measurements"]),
        [("250m-4c", "bare"), ("250m-4c", "policies"), ("500m-4c", "bare"), ("500m-4c", "policies")],
    )
    (after,) = kube.pods(gateway)
    kube.expect("by the same pod", after["metadata"]["uid"], before["metadata"]["uid"])
    restarts = [entry["restartCount"] for entry in after["status"]["containerStatuses"]]
    kube.expect("which was not restarted", restarts, [0])
    limits = [entry["resources"]["limits"]["cpu"] for entry in after["spec"]["containers"]]
    kube.expect("and has its first limit again", limits, ["500m"])


def the_report_takes_it():
    python = kube.ROOT / ".tools" / "venv" / "bin" / "python"
    made = subprocess.run(
        [python, "-m", "report", RESULTS / "standard"],
        capture_output=True, encoding="utf-8", check=False,
        env=os.environ | {"PYTHONPATH": str(kube.ROOT / "k6"), "PYTHONDONTWRITEBYTECODE": "1"},
    )  # fmt: skip
    if made.returncode:
        raise kube.Failure(made.stderr)
    page = (RESULTS / "standard" / "report" / "index.html").read_text(encoding="utf-8")
    kube.expect("it shows throughput by CPU limit", 'id="qps-by-millicores"' in page, True)
    kube.expect("it says whose figures they are", POLICIES in page, True)


def a_gateway_without_its_policies_is_not_measured():
    status, said, record = measure(
        "refused", *SHOP, "--gateway", "policies", "http://bare", "app=bare", "--set", "POLICIES=client-id"
    )
    kube.expect("it fails", (status, record), (1, None))
    kube.expect("and says why", "the gateway does not do what it is to be measured doing" in said, True)
    kube.kubectl("delete", "--filename", LOAD / "bare.yaml")
    removed("gateway")


def a_sidecar_is_measured():
    install("side", "sidecar.yaml")
    measured(
        "sidecar", *SHOP, "--topology", "sidecar", "--millicores", "400", "--title", "policies", POLICIES,
        "--gateway", "policies", "http://side-portcullis-demo",
        "app.kubernetes.io/instance=side,app.kubernetes.io/component=demo",
    )  # fmt: skip
    (pod,) = kube.pods("app.kubernetes.io/instance=side,app.kubernetes.io/component=demo")
    (envoy,) = [entry for entry in pod["spec"]["initContainers"] if entry["name"] == "envoy"]
    cpu = (envoy["resources"]["requests"]["cpu"], envoy["resources"]["limits"]["cpu"])
    kube.expect("it has its first request and limit again", cpu, ("250m", "500m"))
    removed("side")


def an_injected_sidecar_is_measured():
    install("inject", "injection.yaml")
    sessions.label_team()
    make_scripts_available(sessions.TEAM)
    measured(
        "injection", "--namespace", sessions.TEAM, "--topology", "sidecar", "--millicores", "400",
        "--title", "policies", POLICIES, "--gateway", "policies", "http://app", "app=app",
    )  # fmt: skip
    sessions.remove_team()
    removed("inject")


def an_ingress_is_measured():
    ingress.it_installs()
    measured(
        "ingress", *SHOP, "--topology", "ingress", "--resolve", f"shop.example:{ingress.address()}", "--set", "INSECURE=yes",
        "--title", "policies", POLICIES, "--gateway", "policies", "https://shop.example",
        "app.kubernetes.io/instance=edge,app.kubernetes.io/component=gateway",
    )  # fmt: skip
    removed(ingress.RELEASE)
    kube.kubectl("delete", "configmap", "portcullis-load")


STEPS = [
    it_installs,
    a_job_runs_a_script,
    cpu_limits_are_swept_in_place,
    the_report_takes_it,
    a_gateway_without_its_policies_is_not_measured,
    a_sidecar_is_measured,
    an_injected_sidecar_is_measured,
    an_ingress_is_measured,
]
