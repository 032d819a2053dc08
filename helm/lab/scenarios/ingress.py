"""An edge gateway: a load balancer's address, TLS from Secrets, hosts and paths."""

import shutil
import ssl

import kube
from scenarios.common import ACME, echoed, install, policies_are_enforced, removed

RELEASE = "edge"
NAME = "edge-portcullis"
CERTIFICATES = kube.STATE / "certificates"


def write_certificate(host, certificate, key):
    """A certificate that vouches for itself."""
    kube.run(
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-nodes",
        "-days",
        "2",
        "-subj",
        f"/CN={host}",
        "-addext",
        f"subjectAltName=DNS:{host}",
        "-keyout",
        key,
        "-out",
        certificate,
    )


def make_certificate(host):
    """A certificate in a Secret; the old one is replaced."""
    folder = CERTIFICATES / host
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    write_certificate(host, folder / "tls.crt", folder / "tls.key")
    secret = kube.kubectl(
        "create",
        "secret",
        "tls",
        host.replace(".", "-"),
        "--cert",
        folder / "tls.crt",
        "--key",
        folder / "tls.key",
        "--dry-run=client",
        "--output",
        "yaml",
    ).stdout
    kube.kubectl("apply", "--filename", "-", stdin=secret)


def tls(host):
    return {"ca": CERTIFICATES / host / "tls.crt", "name": host}


def address():
    return kube.get("service", NAME)["status"]["loadBalancer"]["ingress"][0]["ip"]


def it_installs():
    for host in ("shop.example", "partners.example"):
        make_certificate(host)
    install(RELEASE, "ingress.yaml")


def it_is_reached_by_host_and_over_tls():
    policies_are_enforced(address(), port=443, tls=tls("shop.example"))
    policies_are_enforced(address(), port=443, tls=tls("partners.example"))
    status, headers, _ = kube.ask(address(), "/orders?x=1", {"host": "shop.example"})
    kube.expect("without TLS: 301", status, 301)
    kube.expect("to the same place", headers.get("location"), "https://shop.example/orders?x=1")


def paths_decide_where_requests_go():
    seen = echoed(kube.ask(address(), "/orders/7", ACME, port=443, tls=tls("shop.example")))
    kube.expect("/orders has its upstream", seen.get("host"), "orders.internal")
    seen = echoed(kube.ask(address(), "/other", ACME, port=443, tls=tls("shop.example")))
    kube.expect("the rest has another", seen.get("host"), "shop.example")


def a_new_certificate_needs_no_new_pod():
    before = {pod["metadata"]["uid"] for pod in kube.pods(f"app.kubernetes.io/instance={RELEASE}")}
    make_certificate("shop.example")

    def status():
        # Until the kubelet has mounted the new Secret, the old certificate is not to be trusted any more.
        try:
            return kube.ask(address(), "/", ACME, port=443, tls=tls("shop.example"))[0]
        except ssl.SSLCertVerificationError:
            return 0

    kube.eventually("the new certificate is served", status, 200, 180)
    after = {pod["metadata"]["uid"] for pod in kube.pods(f"app.kubernetes.io/instance={RELEASE}")}
    kube.expect("by the same pods", after, before)


def helm_test_passes():
    kube.helm("test", RELEASE, "--timeout", "120s")


def it_leaves_nothing_behind():
    removed(RELEASE)


STEPS = [
    it_installs,
    it_is_reached_by_host_and_over_tls,
    paths_decide_where_requests_go,
    a_new_certificate_needs_no_new_pod,
    helm_test_passes,
    it_leaves_nothing_behind,
]
