"""HTTPS, as clients of the gateways and workloads of the mesh speak it, and what is expected of the answers."""

import base64
import contextlib
import http.client
import json
import socket
import ssl
import threading
import time

from mesh import CERTIFICATES, Failure

HOSTS = {"shop.example": 8443, "soap.example": 9443}


def basic(identifier, secret):
    return {"authorization": "Basic " + base64.b64encode(f"{identifier}:{secret}".encode()).decode()}


ACME = basic("acme", "acme-secret-1")
GLOBEX = basic("globex", "globex-secret-1")


def connected(host):
    """A connection to a gateway, by the name of its host."""
    context = ssl.create_default_context(cafile=CERTIFICATES / "ca.pem")
    connection = http.client.HTTPConnection(host, timeout=15)
    connection.sock = context.wrap_socket(
        socket.create_connection(("127.0.0.1", HOSTS[host]), timeout=15), server_hostname=host
    )
    return connection


def as_workload(name, address):
    """A connection to a sidecar, with the certificate of a workload, or in clear text without a name."""
    connection = http.client.HTTPConnection(address, 8080, timeout=15)
    if name:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        # The name of a workload is a URI, which this context does not know how to compare.
        context.check_hostname = False
        context.load_verify_locations(CERTIFICATES / "ca.pem")
        context.load_cert_chain(CERTIFICATES / f"{name}.pem", CERTIFICATES / f"{name}.key")
        context.set_alpn_protocols(["istio-http/1.1", "istio"])
        connection.sock = context.wrap_socket(socket.create_connection((address, 8080), timeout=15))
    return connection


def ask(connection, path="/", headers=None, body=None):
    """Status, headers and body of the answer."""
    with contextlib.closing(connection):
        connection.request("GET" if body is None else "POST", path, body=body, headers=headers or {})
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read()


def shop(path="/", headers=None):
    return ask(connected("shop.example"), path, headers)


def soap(body, headers=None, path="/"):
    headers = {"content-type": "text/xml", "soapaction": '""'} | (headers or {})
    return ask(connected("soap.example"), path, headers, body)


def status(exchange, *arguments, **options):
    """The status of an answer, or 0 without one."""
    try:
        return exchange(*arguments, **options)[0]
    except (OSError, http.client.HTTPException):
        return 0


def echoed(answer):
    """The headers that the upstream has seen."""
    if answer[0] != 200:
        raise Failure(f"status {answer[0]}: {answer[2][:300]!r}")
    return dict(json.loads(answer[2])["headers"])


def expect(what, found, wanted):
    if found != wanted:
        raise Failure(f"{what}: {found!r}, not {wanted!r}")
    print(f"    ok: {what}", flush=True)


def eventually(what, probe, wanted, seconds=120):
    """Waits until a probe gives what is wanted."""
    deadline = time.monotonic() + seconds
    while (found := probe()) != wanted and time.monotonic() < deadline:
        time.sleep(0.2)
    expect(what, found, wanted)


class Load:
    """Requests to the gateway without a pause while something else happens, and some before and after it. Each must be
    answered with the status that is wanted."""

    ENOUGH = 20

    def __init__(self, headers, wanted=200):
        self._headers, self._wanted = headers, wanted
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.requests, self.failures = 0, []

    def __enter__(self):
        self._thread.start()
        self._await_more()
        return self

    def __exit__(self, *_):
        self._await_more()
        self._done.set()
        self._thread.join()

    def _await_more(self):
        deadline, enough = time.monotonic() + 60, self.requests + self.ENOUGH
        while self.requests < enough and time.monotonic() < deadline:
            time.sleep(0.05)

    def _run(self):
        while not self._done.is_set():
            found = status(shop, headers=self._headers)
            self.requests += 1
            if found != self._wanted:
                self.failures.append(found)
