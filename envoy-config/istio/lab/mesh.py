"""The programs of the lab: a registry, istiod, backends, and proxies, each of which is Istio's agent with stock Envoy.

All run in the network of `contained`, in which nobody else is; the ports are therefore fixed.
"""

import contextlib
import fcntl
import json
import os
import platform
import shutil
import socket
import struct
import subprocess
import time
import urllib.request
from dataclasses import dataclass
from pathlib import Path

import yaml
from manifests import LAB, ROOT

ISTIO = ROOT / ".tools" / "istio"
STATE = Path(os.environ.get("PORTCULLIS_LAB_STATE", "/nonexistent"))
CERTIFICATES = STATE / "certificates"
CONFIGURATION = STATE / "configuration"
LOGS = STATE / "log"

REGISTRY = "127.0.0.1:5000"
DISCOVERY = "127.0.0.1:15010"
AUTH = "127.0.0.1:8082"

START_SECONDS = 300

# A new key, as openssl makes it.
EC = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256")


class Failure(AssertionError):
    """What is not as it must be."""


@dataclass(frozen=True)
class Proxy:
    """A pod: what istiod knows it by, and the ports of its own that others must not have."""

    name: str
    namespace: str
    kind: str
    address: str
    labels: dict
    admin: int

    @property
    def folder(self):
        return STATE / "proxies" / self.name

    @property
    def modules(self):
        """Where its agent keeps modules, outside the pod."""
        return self.folder / "data"


PROXIES = {
    proxy.name: proxy
    for proxy in (
        Proxy("edge", "istio-ingress", "router", "127.0.0.2", {"istio": "ingressgateway"}, 15200),
        Proxy("soap", "istio-ingress", "router", "127.0.0.3", {"istio": "soapgateway"}, 15300),
        Proxy("orders", "shop", "sidecar", "127.0.0.4", {"app": "orders"}, 15400),
        Proxy("stock", "shop", "sidecar", "127.0.0.5", {"app": "stock"}, 15500),
        Proxy("auth", "shop", "sidecar", "127.0.0.6", {"app": "auth"}, 15600),
    )
}

_running = {}


def start(name, *command, cwd=None, environment=None):
    LOGS.mkdir(exist_ok=True)
    with (LOGS / f"{name}.log").open("ab") as log:
        _running[name] = subprocess.Popen(
            [str(part) for part in command],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=cwd,
            env={"PATH": os.environ["PATH"], "HOME": str(STATE)} | (environment or {}),
        )


def stop(name):
    """Has a program end as it would; an agent ends its Envoy first."""
    process = _running.pop(name)
    process.terminate()
    try:
        process.wait(timeout=30)
    except subprocess.TimeoutExpired:
        raise Failure(f"{name} does not stop") from None


def log(name):
    return (LOGS / f"{name}.log").read_text(encoding="utf-8", errors="replace")


def await_that(what, probe, name, seconds=START_SECONDS):
    """Waits for a program to get ready; its last words are part of the failure."""
    deadline = time.monotonic() + seconds
    while not probe():
        if _running[name].poll() is not None or time.monotonic() > deadline:
            words = "\n".join(log(name).splitlines()[-15:])
            raise Failure(f"{what}\n{words}")
        time.sleep(0.1)


def answers(url):
    def probe():
        with contextlib.suppress(OSError), urllib.request.urlopen(url, timeout=5) as answer:
            return answer.status == 200
        return False

    return probe


def start_registry():
    """A registry in memory with the artifact of the gateway module; gives the artifact's reference."""
    start("registry", ROOT / ".tools" / "bin" / "crane", "registry", "serve", "--address", REGISTRY)
    await_that("the registry does not start", answers(f"http://{REGISTRY}/v2/"), "registry")
    done = subprocess.run(
        [ROOT / ".tools" / "bin" / "crane", "push", ROOT / "dist" / "images" / "wasm-gateway"]
        + [f"{REGISTRY}/portcullis/gateway:lab"],
        env={"DOCKER_CONFIG": "/nonexistent", "HOME": str(STATE)},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    if done.returncode:
        raise Failure(f"the artifact cannot be pushed: {done.stderr}")
    # crane prints the reference with its digest.
    return f"{REGISTRY}/portcullis/gateway@{done.stdout.strip().rpartition('@')[2]}"


def backends_binary():
    """What `helm/images/build` has built."""
    machine = {"arm64": "aarch64"}.get(platform.machine(), platform.machine())
    target = Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target")
    return target / f"{machine}-unknown-linux-musl" / "native" / "portcullis-backends"


def start_auth():
    clients = ROOT / "k6" / "backends" / "clients.example.json"
    start("auth-service", backends_binary(), "auth", "--listen", AUTH, "--clients", clients)
    await_that("the auth service does not start", answers(f"http://{AUTH}/stats"), "auth-service")


def start_echo():
    start("echo-service", backends_binary(), "echo", "--listen", "127.0.0.1:8081")
    await_that("the echo service does not start", answers("http://127.0.0.1:8081/"), "echo-service")


def start_istiod():
    CONFIGURATION.mkdir()
    start(
        "istiod",
        ISTIO / "pilot-discovery",
        "discovery",
        *("--configDir", CONFIGURATION),
        *("--meshConfig", LAB / "mesh-config.yaml"),
        *("--networksConfig", "/dev/null"),
        *("--registries", ""),
        *("--grpcAddr", DISCOVERY),
        *("--httpAddr", "127.0.0.1:15080"),
        *("--monitoringAddr", "127.0.0.1:15014"),
        *("--secureGRPCAddr", ""),
        *("--httpsAddr", ""),
        cwd=STATE,
        environment={
            "POD_NAME": "istiod",
            "POD_NAMESPACE": "istio-system",
            # Filters that Istio's own build of Envoy has, and the stock one lacks.
            "PILOT_ENABLE_ALPN_FILTER": "false",
            "PILOT_ENABLE_METADATA_EXCHANGE": "false",
        },
    )
    # It is never ready as Kubernetes has it: injection and validation, which need an API server, are not there.
    await_that("istiod does not start", answers("http://127.0.0.1:15014/version"), "istiod")


def apply(name, documents):
    """Puts objects where istiod reads them, in place of those that had been applied by that name."""
    text = yaml.safe_dump_all(documents, sort_keys=False)
    # istiod reads what ends in .yaml, and it must not read half of it.
    path = CONFIGURATION / f"{name}.new"
    path.write_text(text, encoding="utf-8")
    path.rename(CONFIGURATION / f"{name}.yaml")


def envoy_binary():
    named = os.environ.get("PORTCULLIS_ENVOY")
    if named:
        return named
    (found,) = (ROOT / ".tools" / "venv" / "lib").glob("python3*/site-packages/envoy/_bin/envoy")
    return found


def start_proxy(proxy):
    """Istio's agent as in a new pod, which starts stock Envoy with Istio's own bootstrap."""
    folder = proxy.folder
    shutil.rmtree(folder, ignore_errors=True)
    for name in ("etc/istio/pod", "etc/certs", "data"):
        (folder / name).mkdir(parents=True)
    labels = "".join(f'{key}="{value}"\n' for key, value in proxy.labels.items())
    (folder / "etc" / "istio" / "pod" / "labels").write_text(labels, encoding="utf-8")
    for name, source in [("cert-chain", f"{proxy.name}.pem"), ("key", f"{proxy.name}.key"), ("root-cert", "ca.pem")]:
        shutil.copyfile(CERTIFICATES / source, folder / "etc" / "certs" / f"{name}.pem")
    settings = {
        "discoveryAddress": DISCOVERY,
        "controlPlaneAuthPolicy": "NONE",
        "binaryPath": str(envoy_binary()),
        "proxyBootstrapTemplatePath": str(ISTIO / "envoy_bootstrap.json"),
        "proxyAdminPort": proxy.admin,
        "statusPort": proxy.admin + 20,
        "terminationDrainDuration": "1s",
        "concurrency": 1,
    }
    if proxy.kind == "router":
        # What Istio's proxies do not keep unless they are told to.
        settings["proxyStatsMatcher"] = {
            "inclusionPrefixes": ["extension_config_discovery"],
            "inclusionSuffixes": ["ssl.handshake"],
        }
    environment = {
        "PROXY_CONFIG": json.dumps(settings),
        "POD_NAME": f"{proxy.name}-1",
        "POD_NAMESPACE": proxy.namespace,
        "SERVICE_ACCOUNT": proxy.name,
        "INSTANCE_IP": proxy.address,
        "ISTIO_META_CLUSTER_ID": "Kubernetes",
        "ENVOY_STATUS_PORT": str(proxy.admin + 21),
        "ENVOY_PROMETHEUS_PORT": str(proxy.admin + 90),
        # Certificates are files, in place of istiod's signing them for tokens of Kubernetes.
        "FILE_MOUNTED_CERTS": "true",
        # A registry without TLS, which is nothing but the lab's.
        "WASM_INSECURE_REGISTRIES": REGISTRY,
    }
    if proxy.kind == "sidecar":
        environment["ISTIO_META_INTERCEPTION_MODE"] = "NONE"
    agent = [ISTIO / "pilot-agent", "proxy", proxy.kind, "--domain", f"{proxy.namespace}.svc.cluster.local"]
    agent += ["--proxyLogLevel", "warning", "--proxyComponentLogLevel", "wasm:info"]
    # Each agent has a folder of modules of its own, as in a pod.
    private = 'mount --bind "$1" /var/lib/istio/data && shift && exec "$@"'
    start(
        proxy.name,
        *("unshare", "--mount", "sh", "-c", private, "sh", proxy.modules),
        *agent,
        cwd=folder,
        environment=environment,
    )


def await_proxy(proxy):
    await_that(f"{proxy.name} does not get ready", answers(f"http://127.0.0.1:{proxy.admin}/ready"), proxy.name)


def administration(proxy, path):
    with urllib.request.urlopen(f"http://127.0.0.1:{proxy.admin}{path}", timeout=15) as answer:
        return answer.read().decode()


def statistic(proxy, name):
    """The value of a counter, 0 where there is none yet."""
    lines = administration(proxy, "/stats").splitlines()
    values = dict(line.rpartition(": ")[::2] for line in lines)
    return int(values.get(name, 0))


def bring_network_up():
    """A new network has a loopback device, which is down."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as device:
        up, set_flags = 1, 0x8914  # IFF_UP, SIOCSIFFLAGS
        fcntl.ioctl(device, set_flags, struct.pack("16sh", b"lo", up))


def make_certificates():
    """A certificate authority, certificates of workloads, as Istio's have them, and of the gateways' hosts."""
    CERTIFICATES.mkdir()
    root = ("-days", "2", "-subj", "/O=portcullis-lab", "-keyout", "ca.key", "-out", "ca.pem")
    openssl("req", "-x509", "-nodes", *EC, *root)
    workloads = [(proxy.name, proxy.namespace) for proxy in PROXIES.values()] + [("stranger", "elsewhere")]
    for name, namespace in workloads:
        signed(name, f"subjectAltName=critical,URI:spiffe://cluster.local/ns/{namespace}/sa/{name}")
    signed("shop-tls", "subjectAltName=DNS:shop.example")
    signed("soap-tls", "subjectAltName=DNS:soap.example")


def signed(name, extension):
    (CERTIFICATES / f"{name}.ext").write_text(extension + "\n", encoding="utf-8")
    openssl("req", "-new", "-nodes", *EC, "-subj", "/", "-keyout", f"{name}.key", "-out", f"{name}.csr")
    openssl(
        *("x509", "-req", "-in", f"{name}.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial"),
        *("-days", "2", "-extfile", f"{name}.ext", "-out", f"{name}.pem"),
    )


def openssl(*arguments):
    done = subprocess.run(
        ["openssl", *arguments], cwd=CERTIFICATES, capture_output=True, encoding="utf-8", check=False
    )
    if done.returncode:
        raise Failure(f"openssl {arguments[0]}: {done.stderr}")
