"""A gateway before Services: enforcement, limits of CPU, upgrades, roll-backs and losses under load."""

import os
import re
import time
from pathlib import Path

import kube
from scenarios.common import ACME, GLOBEX, basic, install, policies_are_enforced, removed, upgrade

RELEASE = "gateway"
NAME = "gateway-portcullis"
SELECTOR = f"app.kubernetes.io/instance={RELEASE},app.kubernetes.io/component=gateway"


def address():
    return kube.service_address(NAME)


def it_installs():
    install(RELEASE, "standard.yaml")
    kube.expect("its pods are ready", len(kube.pods(SELECTOR)), 2)


def its_policies_are_enforced():
    policies_are_enforced(address())
    kube.expect("a disabled client: 401", kube.status(address(), headers=basic("initech", "initech-secret-1")), 401)
    logs = kube.kubectl("logs", "--selector", SELECTOR, "--container", "envoy", "--tail", "-1").stdout
    kube.expect("the log says who was admitted", '"client_id":"acme"' in logs, True)
    kube.expect("the log does not have the secret", "acme-secret-1" in logs, False)


def helm_test_passes():
    kube.helm("test", RELEASE, "--timeout", "120s")


def a_failing_helm_test_fails():
    upgrade(RELEASE, "standard.yaml", "--set-json", 'helmTest.requests=[{"path":"/","status":200}]')
    failed = kube.helm("test", RELEASE, "--timeout", "120s", check=False)
    kube.expect("helm test notices a status that is not the expected one", failed.returncode != 0, True)
    upgrade(RELEASE, "standard.yaml")
    # Its pod stays for whoever wants to read its log, until the next test.
    kube.helm("test", RELEASE, "--timeout", "120s")


def cpu_limits_are_quotas():
    for pod in kube.pods(SELECTOR):
        (container,) = [entry for entry in pod["status"]["containerStatuses"] if entry["name"] == "envoy"]
        quota = cgroup(pod, container) / "cpu.cfs_quota_us"
        kube.expect("500m are 50 ms of each 100", quota.read_text(encoding="utf-8").strip(), "50000")


def cgroup(pod, container):
    identifier = container["containerID"].partition("//")[2]
    (found,) = Path("/sys/fs/cgroup/cpu/portcullis-lab").glob(f"kubepods/**/pod{pod['metadata']['uid']}/{identifier}")
    return found


def a_limit_changes_under_load():
    with kube.Load(address(), ACME) as load:
        upgrade(
            RELEASE,
            "standard.yaml",
            "--set-json",
            'policies[1].rate-limit.limits=[{"max":2000000,"period_ms":60000}]',
        )
        wait_for_old_pods()
    kube.expect(f"none of {load.requests} requests failed", load.failures, [])
    kube.expect("the new limit is in force", kube.ask(address(), headers=ACME)[1].get("x-ratelimit-limit"), "2000000")


def wait_for_old_pods():
    """Until those that drain are gone as well: their last requests count."""
    kube.eventually("the old pods have ended", lambda: len(kube.get("pods", "--selector", SELECTOR)["items"]), 2, 120)


def a_bad_policy_is_refused_before_anything_changes():
    refused = upgrade(
        RELEASE,
        "standard.yaml",
        "--set-json",
        'policies[1].rate-limit.limits=[{"max":-1,"period_ms":60000}]',
        check=False,
    )
    kube.expect("helm refuses it", refused.returncode != 0, True)
    kube.expect("and says where", "/policies/1/rate-limit/limits/0/max" in refused.stderr, True)


def what_only_envoy_refuses_replaces_nothing():
    # The schema knows that a name is a text; that its letters are wrong, the policy says.
    with kube.Load(address(), ACME) as load:
        refused = upgrade(
            RELEASE,
            "standard.yaml",
            "--set-json",
            'policies[1].rate-limit.name="No Such Name!"',
            check=False,
            patience="20s",
        )
        kube.expect("the upgrade fails", refused.returncode != 0, True)
        kube.expect(
            "the old limit is in force", kube.ask(address(), headers=ACME)[1].get("x-ratelimit-limit"), "2000000"
        )
        kube.eventually("the log names the field", refusal, "policies[1].rate-limit.name", 120)
        kube.helm("rollback", RELEASE, "--wait", "--timeout", kube.PATIENCE)
        wait_for_old_pods()
    kube.expect(f"none of {load.requests} requests failed", load.failures, [])


def refusal():
    """The field that a refused configuration is refused for, as Envoy's log has it; of this start or the one before."""
    for pod in kube.pods(SELECTOR):
        for start in ("--previous=false", "--previous=true"):
            log = kube.kubectl("logs", pod["metadata"]["name"], "--container", "envoy", start, check=False).stdout
            found = re.search(r"configuration refused: ([^: ]+)", log)
            if found:
                return found.group(1)
    return None


def a_rollback_under_load_brings_the_old_limit_back():
    revisions = kube.helm("history", RELEASE, "--output", "json").stdout
    first = min(int(number) for number in re.findall(r'"revision":(\d+)', revisions))
    with kube.Load(address(), ACME) as load:
        kube.helm("rollback", RELEASE, str(first), "--wait", "--timeout", kube.PATIENCE)
        wait_for_old_pods()
    kube.expect(f"none of {load.requests} requests failed", load.failures, [])
    kube.expect(
        "the first limit is in force again", kube.ask(address(), headers=ACME)[1].get("x-ratelimit-limit"), "1000000"
    )


def a_pod_that_is_deleted_drains():
    with kube.Load(address(), ACME) as load:
        time.sleep(1)
        kube.kubectl("delete", "pod", kube.pods(SELECTOR)[0]["metadata"]["name"], "--wait=true")
        kube.kubectl("rollout", "status", f"deployment/{NAME}", "--timeout", kube.PATIENCE)
    kube.expect(f"none of {load.requests} requests failed", load.failures, [])


def an_envoy_that_is_killed_comes_back():
    pod = kube.pods(SELECTOR)[0]
    (container,) = [entry for entry in pod["status"]["containerStatuses"] if entry["name"] == "envoy"]
    for process in (cgroup(pod, container) / "cgroup.procs").read_text(encoding="utf-8").split():
        os.kill(int(process), 9)

    def restarts():
        entries = kube.get("pod", pod["metadata"]["name"])["status"]["containerStatuses"]
        return [(entry["restartCount"], entry["ready"]) for entry in entries]

    kube.eventually("it is started anew and gets ready", restarts, [(1, True)], 120)
    policies_are_enforced(address())


def a_client_over_its_limit_is_refused():
    upgrade(
        RELEASE,
        "standard.yaml",
        "--set-json",
        'policies[1].rate-limit.limits=[{"max":5,"period_ms":600000}]',
        "--set",
        "replicaCount=1",
    )
    kube.eventually("one pod is left", lambda: len(kube.get("pods", "--selector", SELECTOR)["items"]), 1, 120)
    statuses = [kube.status(address(), headers=GLOBEX) for _ in range(8)]
    kube.expect("five pass, then 429", statuses, [200] * 5 + [429] * 3)
    kube.expect("another client is not concerned", kube.status(address(), headers=ACME), 200)


def an_auth_service_that_is_down_lets_nobody_in():
    kube.kubectl("scale", "deployment/auth", "--replicas", "0")
    kube.eventually("it is gone", lambda: kube.get("pods", "--selector", "app=auth")["items"], [], 90)
    kube.expect("an unknown client: 503", kube.status(address(), headers=basic("globex", "globex-secret-2")), 503)
    kube.kubectl("scale", "deployment/auth", "--replicas", "1")
    kube.kubectl("rollout", "status", "deployment/auth", "--timeout", kube.PATIENCE)
    kube.eventually("it recovers", lambda: kube.status(address(), headers=basic("globex", "globex-secret-2")), 429)


def it_leaves_nothing_behind():
    removed(RELEASE)


STEPS = [
    it_installs,
    its_policies_are_enforced,
    helm_test_passes,
    a_failing_helm_test_fails,
    cpu_limits_are_quotas,
    a_limit_changes_under_load,
    a_bad_policy_is_refused_before_anything_changes,
    what_only_envoy_refuses_replaces_nothing,
    a_rollback_under_load_brings_the_old_limit_back,
    a_pod_that_is_deleted_drains,
    an_envoy_that_is_killed_comes_back,
    a_client_over_its_limit_is_refused,
    an_auth_service_that_is_down_lets_nobody_in,
    it_leaves_nothing_behind,
]
