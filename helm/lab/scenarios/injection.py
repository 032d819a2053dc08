"""Label a namespace, get the sidecar: by a MutatingAdmissionPolicy, without a webhook."""

import kube
from scenarios.common import install, policies_are_enforced, removed

RELEASE = "inject"


def it_installs():
    install(RELEASE, "injection.yaml")


def pods_of_a_labelled_namespace_get_the_sidecar():
    # The API server learns of a new policy within a moment: until then pods come without.
    def injected():
        kube.kubectl("delete", "pod", "app", "--ignore-not-found", namespace="injected")
        kube.run("kubectl", "apply", "--filename", manifest())
        return [
            entry["name"] for entry in kube.get("pod", "app", namespace="injected")["spec"].get("initContainers", [])
        ]

    kube.eventually("it has modules and Envoy", injected, ["portcullis-modules", "envoy"], 60)
    kube.kubectl("wait", "--for=condition=Ready", "pod/app", "--timeout", kube.PATIENCE, namespace="injected")
    pod = kube.get("pod", "app", namespace="injected")["status"]["podIP"]
    policies_are_enforced(pod, port=10000)
    kube.expect("there is no way past it", kube.status(pod, port=3000), 0)


def manifest():
    return kube.LAB / "manifests" / "injected.yaml"


def others_do_not():
    plain = kube.get("pod", "app", namespace="plain")["spec"]
    kube.expect("a namespace without the label", plain.get("initContainers", []), [])


def a_port_that_is_no_number_is_refused():
    refused = kube.kubectl(
        "run", "bad", "--image", "x", "--annotations", "portcullis/app-port=80}", check=False, namespace="injected"
    )
    kube.expect(
        "the pod is not created, and the policy is why", "inject-portcullis-injection" in refused.stderr, True
    )


def it_leaves_nothing_behind():
    kube.run("kubectl", "delete", "--filename", manifest(), "--wait=true")
    removed(RELEASE)


STEPS = [
    it_installs,
    pods_of_a_labelled_namespace_get_the_sidecar,
    others_do_not,
    a_port_that_is_no_number_is_refused,
    it_leaves_nothing_behind,
]
