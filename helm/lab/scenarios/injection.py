"""Label a namespace, get the sidecar: by a MutatingAdmissionPolicy, without a webhook."""

import json

import kube
from scenarios.common import install, policies_are_enforced, removed

RELEASE = "inject"


def it_installs():
    install(RELEASE, "injection.yaml")


def created_anew():
    """The init containers of a new pod; none where it was refused."""
    kube.kubectl("delete", "pod", "app", "--ignore-not-found", namespace="injected")
    if kube.run("kubectl", "apply", "--filename", manifest(), check=False).returncode:
        return []
    return kube.get("pod", "app", namespace="injected")["spec"].get("initContainers", [])


def pods_of_a_labelled_namespace_get_the_sidecar():
    # The API server learns of a new policy within a moment: until then pods come without, or are refused.
    kube.eventually(
        "it has modules and Envoy",
        lambda: [entry["name"] for entry in created_anew()],
        ["portcullis-modules", "envoy"],
        60,
    )
    kube.kubectl("wait", "--for=condition=Ready", "pod/app", "--timeout", kube.PATIENCE, namespace="injected")
    pod = kube.get("pod", "app", namespace="injected")["status"]["podIP"]
    spec = kube.get("pod", "app", namespace="injected")["spec"]
    kube.expect("it has the time to drain", spec["terminationGracePeriodSeconds"] >= 40, True)
    policies_are_enforced(pod, port=10000)
    kube.expect("there is no way past it", kube.status(pod, port=3000), 0)


def a_configuration_as_long_as_may_be_is_injected_whole():
    # In the policy it is in pieces; letters outside of ASCII must not be cut in two.
    words = "".join(f"<!-- {number} größer & länger $(HOME) -->\n" for number in range(1600))
    sheet = f'<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">{words}</xsl:stylesheet>'
    transform = {"stylesheets": {"long.xsl": sheet}, "request": {"stylesheet": {"named": "long.xsl"}}}
    values = json.loads(kube.helm("get", "values", RELEASE, "--output", "json").stdout)
    values["policies"].append({"xslt-transform": transform})
    kube.helm("upgrade", RELEASE, kube.CHART, "--values", "-", stdin=json.dumps(values))

    def length():
        for container in created_anew():
            for entry in container.get("env", []):
                if entry["name"] == "PORTCULLIS_CONFIG":
                    return len(entry["value"]) > 100_000
        return False

    kube.eventually("the pod has the long configuration", length, True, 60)
    kube.kubectl("wait", "--for=condition=Ready", "pod/app", "--timeout", kube.PATIENCE, namespace="injected")
    policies_are_enforced(kube.get("pod", "app", namespace="injected")["status"]["podIP"], port=10000)


def manifest():
    return kube.LAB / "manifests" / "injected.yaml"


def others_do_not():
    plain = kube.get("pod", "app", namespace="plain")["spec"]
    kube.expect("a namespace without the label", plain.get("initContainers", []), [])


def a_port_that_is_no_number_or_the_sidecars_own_is_refused():
    for port, why in (("80}", "type conversion error"), ("10000", "none of the sidecar's"), ("0", "must be a port")):
        refused = kube.kubectl(
            "run",
            "bad",
            "--image",
            "x",
            "--annotations",
            f"portcullis/app-port={port}",
            check=False,
            namespace="injected",
        )
        kube.expect(f"{port}: not created", refused.returncode == 0, False)
        kube.expect(f"{port}: the policy is why", "inject-portcullis-injection" in refused.stderr, True)
        kube.expect(f"{port}: it says why", why in refused.stderr, True)


def a_container_with_the_sidecars_name_is_refused():
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "bad", "namespace": "injected"},
        "spec": {
            "containers": [{"name": "app", "image": "x"}],
            "initContainers": [{"name": "envoy", "image": "x"}],
        },
    }
    refused = kube.run("kubectl", "apply", "--filename", "-", check=False, stdin=json.dumps(pod))
    kube.expect("the pod is not created", refused.returncode == 0, False)
    kube.expect("the name is why", 'Duplicate value: "envoy"' in refused.stderr, True)


def it_leaves_nothing_behind():
    kube.run("kubectl", "delete", "--filename", manifest(), "--wait=true")
    removed(RELEASE)


STEPS = [
    it_installs,
    pods_of_a_labelled_namespace_get_the_sidecar,
    a_configuration_as_long_as_may_be_is_injected_whole,
    others_do_not,
    a_port_that_is_no_number_or_the_sidecars_own_is_refused,
    a_container_with_the_sidecars_name_is_refused,
    it_leaves_nothing_behind,
]
