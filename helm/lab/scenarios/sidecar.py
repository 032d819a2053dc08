"""Envoy in the application's own pods, by the chart's named templates."""

import kube
from scenarios.common import ACME, install, policies_are_enforced, removed, upgrade

RELEASE = "side"
NAME = "side-portcullis-demo"
SELECTOR = f"app.kubernetes.io/instance={RELEASE},app.kubernetes.io/component=demo"


def address():
    return kube.service_address(NAME)


def it_installs():
    install(RELEASE, "sidecar.yaml")
    for pod in kube.pods(SELECTOR):
        sidecars = [
            entry["name"] for entry in pod["spec"]["initContainers"] if entry.get("restartPolicy") == "Always"
        ]
        kube.expect("Envoy is a native sidecar", sidecars, ["envoy"])


def requests_go_through_the_sidecar():
    policies_are_enforced(address())
    pod = kube.pods(SELECTOR)[0]["status"]["podIP"]
    kube.expect("the sidecar's port refuses strangers", kube.status(pod, port=10000), 401)
    kube.expect("there is no way past it", kube.status(pod, port=8080), 0)


def an_upgrade_under_load_loses_nothing():
    with kube.Load(address(), ACME) as load:
        upgrade(
            RELEASE, "sidecar.yaml", "--set-json", 'policies[1].rate-limit.limits=[{"max":2000000,"period_ms":60000}]'
        )
        kube.eventually(
            "the old pods have ended", lambda: len(kube.get("pods", "--selector", SELECTOR)["items"]), 1, 120
        )
    kube.expect(f"none of {load.requests} requests failed", load.failures, [])
    kube.expect("the new limit is in force", kube.ask(address(), headers=ACME)[1].get("x-ratelimit-limit"), "2000000")


def helm_test_passes():
    kube.helm("test", RELEASE, "--timeout", "120s")


def it_leaves_nothing_behind():
    removed(RELEASE)


STEPS = [
    it_installs,
    requests_go_through_the_sidecar,
    an_upgrade_under_load_loses_nothing,
    helm_test_passes,
    it_leaves_nothing_behind,
]
