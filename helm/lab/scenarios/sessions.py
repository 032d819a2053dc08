"""From `helm install` to an enforced policy in five commands: those of docs/install-helm.md, as they stand there, with
what they print. PORTCULLIS_LAB_RECORD=1 writes that anew."""

import json
import os
import time

import kube
import session
from scenarios.common import removed
from scenarios.ingress import write_certificate

TEAM = "team"
MANIFEST = kube.LAB / "manifests" / "team.yaml"

# Where the commands are typed: it has the chart, as a checkout does.
FOLDER = kube.STATE / "session"


def replay(name, after=lambda command: None):
    FOLDER.mkdir(exist_ok=True)
    if not (FOLDER / "helm").exists():
        (FOLDER / "helm").symlink_to(kube.ROOT / "helm")
    # In the node's own network: no port of this machine is taken.
    leader = (kube.STATE / "leader").read_text(encoding="utf-8").strip()
    inside = ["nsenter", "--target", leader, "--net", "--mount", "--pid", f"--wd={FOLDER}"]
    with session.Shell(inside, {"KUBECONFIG": os.environ["KUBECONFIG"]}) as shell:
        try:
            session.replay(name, shell, bool(os.environ.get("PORTCULLIS_LAB_RECORD")), after)
        except session.Mismatch as mismatch:
            raise kube.Failure(str(mismatch)) from None


def a_gateway():
    replay("standard")
    removed("gateway")


def an_ingress():
    # The session has the files of a certificate, and puts them into a Secret.
    FOLDER.mkdir(exist_ok=True)
    write_certificate("shop.example", FOLDER / "shop.crt", FOLDER / "shop.key")
    replay("ingress")
    removed("edge")
    kube.kubectl("delete", "secret", "shop-tls")


def a_sidecar():
    replay("sidecar")
    removed("side")


def an_injected_sidecar():
    make_team()
    replay("injection", after=lambda command: until_injected() if command.startswith("kubectl label") else None)
    remove_team()
    removed("inject")


def make_team():
    """An application that runs already, in a namespace that knows nothing of sidecars."""
    kube.run("kubectl", "apply", "--filename", MANIFEST)
    kube.kubectl("rollout", "status", "deployment/app", "--timeout", kube.PATIENCE, namespace=TEAM)


def label_team():
    """The same, with sidecars."""
    make_team()
    kube.run("kubectl", "label", "namespace", TEAM, "portcullis/inject=enabled")
    until_injected()
    kube.kubectl("rollout", "restart", "deployment/app", namespace=TEAM)
    kube.kubectl("rollout", "status", "deployment/app", "--timeout", kube.PATIENCE, namespace=TEAM)


def remove_team():
    kube.run("kubectl", "delete", "--filename", MANIFEST, "--wait=true")


def until_injected():
    """The API server learns of a new policy within a moment, in which it may also refuse pods. Whoever types the next
    command takes longer."""
    template = kube.get("deployment", "app", namespace=TEAM)["spec"]["template"]
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "probe"}, "spec": template["spec"]}
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        created = kube.kubectl(
            "create", "--dry-run=server", "--output", "jsonpath={.spec.initContainers[*].name}", "--filename", "-",
            check=False, namespace=TEAM, stdin=json.dumps(pod),
        )  # fmt: skip
        if "envoy" in created.stdout:
            return
        time.sleep(0.2)
    raise kube.Failure(f"pods of a labelled namespace get no sidecar: {created.stderr}")


STEPS = [a_gateway, an_ingress, a_sidecar, an_injected_sidecar]
