"""Runs Envoy with a configuration that the chart has rendered, and looks whether policies are enforced.

What differs from a pod: the ports, the paths, and the addresses of upstreams, which are this machine's.
"""

import base64
import contextlib
import json
import os
import re
import socket
import ssl
import subprocess
import tempfile
import threading
import time
import urllib.request
from http.client import HTTPConnection, HTTPSConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import cases
import envoy_configs
import watched
from cases import ROOT

START_SECONDS = 120
ACME = {"authorization": "Basic " + base64.b64encode(b"acme:acme-secret-1").decode()}


def backends_binary():
    program = Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target") / "native" / "portcullis-backends"
    if not program.is_file():
        raise RuntimeError("the backends are not built: run `make backends`")
    return program


def free_ports(count):
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)]
        return [entry.getsockname()[1] for entry in sockets]


@contextlib.contextmanager
def process(*command):
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8")
    try:
        yield running
    finally:
        running.kill()
        running.communicate()


@contextlib.contextmanager
def backend(*arguments):
    """A backend; gives its port."""
    with process(backends_binary(), *arguments, "--listen", "127.0.0.1:0") as running:
        line = running.stdout.readline()
        yield int(line.rsplit(":", 1)[1])


@contextlib.contextmanager
def recorder():
    """A service that answers everything with 200; gives its port, and the headers of the requests that it has had."""
    seen = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            seen.append(dict(self.headers))
            self.send_response(200)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *_):
            """Says nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server.server_port, seen
    finally:
        server.shutdown()
        server.server_close()


class Pressure:
    """Pressure on the memory that a test makes up, in place of that of the container."""

    def __init__(self, folder):
        self.path = Path(folder) / "pressure"
        self.set(0.0)

    def set(self, share):
        # Envoy watches for files that are moved into place.
        unfinished = self.path.with_suffix(".new")
        unfinished.write_text(str(share), encoding="utf-8")
        unfinished.rename(self.path)

    def in_place_of_memory(self, text):
        text, monitors = re.subn(
            r'"@type": \S+CgroupMemoryConfig\n',
            '"@type": type.googleapis.com/envoy.extensions.resource_monitors.injected_resource.v3.InjectedResourceConfig\n'
            f"      filename: {self.path}\n",
            text,
        )
        assert monitors == 1
        return text.replace("envoy.resource_monitors.cgroup_memory", "envoy.resource_monitors.injected_resource")


@contextlib.contextmanager
def gateway(rendered, upstreams, pressure=None):
    """Envoy with the configuration in `rendered`; gives its ports by their number in a pod."""
    config_map = envoy_configs.config_maps(cases.objects(rendered))[0]
    with tempfile.TemporaryDirectory() as folder:
        path = envoy_configs.place(config_map, Path(folder) / "envoy")
        text = path.read_text(encoding="utf-8")
        ports = dict(zip((10000, 10443, 9901, 9902), free_ports(4)))
        for port, free in ports.items():
            text = text.replace(f"port_value: {port} ", f"port_value: {free} ")
        text = re.sub(
            r'address: (0\.0\.0\.0|"::")(, port_value: \d+ )(, ipv4_compat: true )?', r"address: 127.0.0.1\2", text
        )
        if pressure:
            text = pressure.in_place_of_memory(text)
        for host, port in upstreams.items():
            text = re.sub(
                rf'address: "{re.escape(host)}", port_value: \d+', f"address: 127.0.0.1, port_value: {port}", text
            )
        path.write_text(text, encoding="utf-8")
        envoy = envoy_configs.envoy_binary()
        with process(
            envoy,
            "--config-path",
            path,
            "--service-node",
            "test",
            "--service-cluster",
            "test",
            "--concurrency",
            "1",
            "--log-level",
            "warning",
            "--disable-hot-restart",
        ) as running:
            wait_until_ready(running, ports[9902])
            yield ports


def wait_until_ready(running, port):
    deadline = time.monotonic() + START_SECONDS
    while running.poll() is None and time.monotonic() < deadline:
        with contextlib.suppress(OSError):
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/ready", timeout=5):
                return
        time.sleep(0.1)
    running.kill()
    raise RuntimeError(f"Envoy does not get ready:\n{running.communicate()[0]}")


def ask(connection, path, headers=None, method="GET"):
    """Status, headers and body of the answer to a request."""
    with contextlib.closing(connection):
        connection.request(method, path, headers=headers or {})
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read()


def differs(what, found, wanted):
    return [] if found == wanted else [f"{what}: {found!r}, not {wanted!r}"]


def checks(rendered):
    """Pairs of what was looked at and the problems found."""
    clients = ROOT / "k6" / "backends" / "clients.example.json"
    with backend("auth", "--clients", clients) as auth, backend("echo") as echo:
        with gateway(
            rendered["standard"], {"orders.shop.svc.cluster.local": echo, "auth.shop.svc.cluster.local": auth}
        ) as ports:
            yield from standard(ports)
        upstreams = {"auth.shop.svc.cluster.local": auth, "orders.shop.svc.cluster.local": echo}
        with gateway(rendered["ingress"], upstreams) as ports:
            yield from ingress(ports)
        with gateway(rendered["ingress-own-ports"], upstreams) as ports:
            yield from redirect(ports)
        upstreams["collector.shop.svc.cluster.local"] = echo
        with gateway(rendered["standard-watched"], upstreams) as ports:
            yield from metrics(ports, cases.objects(rendered["standard-watched"]))
        with tempfile.TemporaryDirectory() as folder:
            pressure = Pressure(folder)
            upstreams = {"server1.shop.svc.cluster.local": echo}
            with gateway(rendered["standard-soap-routing"], upstreams, pressure) as ports:
                yield from overload(ports, pressure)
    with recorder() as (auth, seen), backend("echo") as echo:
        upstreams = {"auth.shop.svc.cluster.local": auth, "orders.shop.svc.cluster.local": echo}
        with gateway(rendered["standard-credential"], upstreams) as ports:
            yield from credential(ports, seen)


def standard(ports):
    def http():
        return HTTPConnection("127.0.0.1", ports[10000], timeout=30)

    yield "no request passes without credentials", differs("status", ask(http(), "/")[0], 401)
    status, headers, body = ask(http(), "/orders", ACME | {"x-portcullis-client-id": "root"})
    seen = dict(json.loads(body)["headers"]) if status == 200 else {}
    yield (
        "a client passes, under its own name",
        [
            *differs("status", status, 200),
            *differs("identity", seen.get("x-portcullis-client-id"), "acme"),
            *differs("credentials", seen.get("authorization"), None),
            *differs("quota", headers.get("x-ratelimit-limit"), "80000"),
            *differs("vary", headers.get("vary"), "authorization, client_id, client_secret, client-id, client-secret"),
        ],
    )
    yield "what is exempt needs no credentials", differs("status", ask(http(), "/health")[0], 200)

    def health():
        return HTTPConnection("127.0.0.1", ports[9902], timeout=30)

    yield (
        "probes are answered, and nothing else of the administration",
        [
            *differs("/ready", ask(health(), "/ready")[0], 200),
            *differs("/live", ask(health(), "/live")[0], 200),
            *differs("/config_dump", ask(health(), "/config_dump")[0], 404),
            *differs("POST /ready", ask(health(), "/ready", method="POST")[0], 404),
        ],
    )
    metrics = ask(health(), "/metrics")[2].decode()
    wanted = 'portcullis_admitted{portcullis_policy="client_id"'
    yield "metrics have their labels", [] if wanted in metrics else [f"no {wanted}"]

    connection = http()
    with contextlib.closing(connection):
        connection.request("GET", "/health")
        connection.getresponse().read()
        admin = HTTPConnection("127.0.0.1", ports[9901], timeout=30)
        status = ask(admin, "/healthcheck/fail", method="POST")[0]
        connection.request("GET", "/health")
        answer = connection.getresponse()
        yield (
            "a gateway that is to drain ends connections, but serves what comes",
            [
                *differs("POST /healthcheck/fail", status, 200),
                *differs("status", answer.status, 200),
                *differs("connection", answer.headers.get("connection"), "close"),
                *differs("a new connection", ask(http(), "/health")[0], 200),
                *differs("/ready", ask(health(), "/ready")[0], 503),
            ],
        )


def redirect(ports):
    def location(host):
        connection = HTTPConnection("127.0.0.1", ports[10000], timeout=30)
        status, headers, _ = ask(connection, "/orders?x=1", {"host": host})
        return status, headers.get("location")

    wanted = (301, "https://shop.example:8443/orders?x=1")
    yield (
        "who is sent on is sent to the Service's port",
        [
            problem
            for host in ("shop.example", "shop.example:80", "shop.example:8080")
            for problem in differs(host, location(host), wanted)
        ],
    )


def metrics(ports, objects):
    connection = HTTPConnection("127.0.0.1", ports[10000], timeout=30)
    ask(connection, "/orders", ACME)
    text = ask(HTTPConnection("127.0.0.1", ports[9902], timeout=30), "/metrics")[2].decode()
    yield from watched.checks(objects, text)


def overload(ports, pressure):
    """Requests whose bodies do not go on, one that holds much and one that holds little. What HTTP/1.1 holds Envoy does
    not count by streams: these are HTTP/2."""
    # Until the Header ends the policy cannot know.
    envelope = '<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Header>'

    def held(size):
        running = subprocess.Popen(
            [
                *(
                    "curl",
                    "--silent",
                    "--include",
                    "--http2-prior-knowledge",
                    "--max-time",
                    "60",
                    "--request",
                    "POST",
                ),
                *("--header", "content-type: text/xml", "--header", "soapaction: x", "--upload-file", "-"),
                f"http://127.0.0.1:{ports[10000]}/",
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        running.stdin.write((envelope + "<x>of no concern</x>" * (size // 20)).encode())
        running.stdin.flush()
        return running

    def finished(running):
        answer, _ = running.communicate(b"</s:Header><s:Body/></s:Envelope>", timeout=60)
        return answer.partition(b"\r\n")[0].strip(), running.returncode

    def resets():
        admin = HTTPConnection("127.0.0.1", ports[9901], timeout=30)
        name = "envoy.overload_actions.reset_high_memory_stream.count"
        return int(ask(admin, f"/stats?filter=^{name}$")[2].decode().rpartition(": ")[2])

    refused = (b"HTTP/2 500", 0)
    yield (
        "over HTTP/2 a body may be as long as the policies may read",
        differs("what the policy says to it", finished(held(3_000_000)), refused),
    )
    large, small = held(3_000_000), held(100)
    time.sleep(1)
    early = resets()
    pressure.set(0.94)
    for _ in range(50):
        if resets():
            break
        time.sleep(0.2)
    yield (
        "short of memory, it ends the request that holds most, and not the one that holds little",
        [
            *differs("ended in good times", early, 0),
            *differs("ended when short of memory", resets(), 1),
            *differs("the small one", finished(small), refused),
            *([] if finished(large)[1] else ["the large one was answered"]),
        ],
    )
    pressure.set(0.96)
    time.sleep(1)
    yield (
        "shorter still, it refuses requests, but no probes",
        [
            *differs("status", ask(HTTPConnection("127.0.0.1", ports[10000], timeout=30), "/")[0], 503),
            *differs("/ready", ask(HTTPConnection("127.0.0.1", ports[9902], timeout=30), "/ready")[0], 200),
        ],
    )


def credential(ports, seen):
    connection = HTTPConnection("127.0.0.1", ports[10000], timeout=30)
    status, _, body = ask(connection, "/", ACME)
    upstream = dict(json.loads(body)["headers"]) if status == 200 else {}
    yield (
        "a policy's call-out has the credential that Envoy adds, and nobody else has it",
        [
            *differs("status", status, 200),
            *differs("x-api-key", [headers.get("x-api-key") for headers in seen], ["Bearer test"]),
            *differs("at the upstream", upstream.get("x-api-key"), None),
        ],
    )


def ingress(ports):
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE

    def certificate(name):
        with socket.create_connection(("127.0.0.1", ports[10443]), timeout=30) as plain:
            with context.wrap_socket(plain, server_hostname=name) as secured:
                return f"{name}".encode() in secured.getpeercert(binary_form=True)

    yield (
        "each host gets its certificate",
        [name for name in ("shop-tls.example", "partners-tls.example") if not certificate(name)],
    )

    def https():
        return HTTPSConnection("127.0.0.1", ports[10443], timeout=30, context=context)

    yield (
        "policies are enforced over TLS",
        [
            *differs("status", ask(https(), "/orders/1", {"host": "shop.example"})[0], 401),
            *differs("status", ask(https(), "/orders/1", {"host": "shop.example"} | ACME)[0], 200),
            *differs("another host", ask(https(), "/", {"host": "other.example"} | ACME)[0], 404),
        ],
    )

    def upstream_path(path):
        status, _, body = ask(https(), path, {"host": f"moved.example:{ports[10443]}"} | ACME)
        return json.loads(body)["path"] if status == 200 else status

    yield (
        "a prefix is rewritten without doubled or lost slashes, whatever port the client names",
        [
            problem
            for path, wanted in (
                ("/bare", "/"),
                ("/bare/7", "/7"),
                ("/old", "/new"),
                ("/old/7", "/new/7"),
                ("/7", "/v1/7"),
                ("/", "/v1/"),
            )
            for problem in differs(path, upstream_path(path), wanted)
        ],
    )
    plain = HTTPConnection("127.0.0.1", ports[10000], timeout=30)
    status, headers, _ = ask(plain, "/orders/1?x=1", {"host": "shop.example"})
    yield (
        "without TLS a client is sent on",
        [
            *differs("status", status, 301),
            *differs("location", headers.get("location"), "https://shop.example/orders/1?x=1"),
        ],
    )
