"""What scenarios share: clients, and checks that hold for every topology."""

import base64
import json
import os

import kube


def basic(identifier, secret):
    return {"authorization": "Basic " + base64.b64encode(f"{identifier}:{secret}".encode()).decode()}


ACME = basic("acme", "acme-secret-1")
GLOBEX = basic("globex", "globex-secret-1")


# A way to see that the tests notice: PORTCULLIS_LAB_BREAK=1 leaves the policies out, whatever is installed.
BROKEN = ["--set-json", 'policies=[{"access-log":{}}]'] if os.environ.get("PORTCULLIS_LAB_BREAK") else []


def install(release, values, *options):
    kube.helm(
        "install",
        release,
        kube.CHART,
        "--values",
        kube.LAB / "values" / values,
        "--wait",
        "--timeout",
        kube.PATIENCE,
        *options,
        *BROKEN,
    )


def upgrade(release, values, *options, check=True, patience=kube.PATIENCE):
    return kube.helm(
        "upgrade",
        release,
        kube.CHART,
        "--values",
        kube.LAB / "values" / values,
        "--wait",
        "--timeout",
        patience,
        *options,
        check=check,
    )


def echoed(answer):
    """The headers that the upstream has seen."""
    status, _headers, body = answer
    if status != 200:
        raise kube.Failure(f"status {status}: {body[:200]!r}")
    return dict(json.loads(body)["headers"])


def policies_are_enforced(address, **options):
    """As the values of the lab have them: client-id, rate-limit, access-log."""
    kube.expect("without credentials: 401", kube.status(address, **options), 401)
    kube.expect("with a wrong secret: 401", kube.status(address, headers=basic("acme", "wrong"), **options), 401)
    answer = kube.ask(address, headers=ACME | {"x-portcullis-client-id": "root"}, **options)
    seen = echoed(answer)
    kube.expect("the upstream knows the client", seen.get("x-portcullis-client-id"), "acme")
    kube.expect("the upstream does not see the secret", seen.get("authorization"), None)
    kube.expect("the client knows its quota", answer[1].get("x-ratelimit-limit"), "1000000")


def removed(release, *namespaces):
    """Uninstalls, and looks whether anything is left that the release has made."""
    kube.helm("uninstall", release, "--wait", "--timeout", kube.PATIENCE)
    kinds = kube.run("kubectl", "api-resources", "--verbs", "list", "--output", "name").stdout.split()
    selector = f"app.kubernetes.io/instance={release}"

    def left():
        found = kube.run(
            "kubectl",
            "get",
            ",".join(kinds),
            "--all-namespaces",
            "--ignore-not-found",
            "--output",
            "name",
            "--selector",
            selector,
        )
        return found.stdout.split()

    kube.eventually("nothing is left of the release", left, [])
