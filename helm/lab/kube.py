"""kubectl, helm and HTTP, as the end-to-end tests use them. KUBECONFIG and PATH come from `cluster`."""

import contextlib
import http.client
import json
import os
import socket
import ssl
import subprocess
import threading
import time
from pathlib import Path

LAB = Path(__file__).resolve().parent
ROOT = LAB.parent.parent
CHART = ROOT / "helm" / "portcullis"
STATE = Path(os.environ.get("PORTCULLIS_LAB_STATE", "/var/tmp/portcullis-lab"))

NAMESPACE = "shop"
PATIENCE = "180s"


class Failure(AssertionError):
    """What is not as it must be."""


def run(*command, check=True, stdin=None):
    """Runs a command and returns what it printed; its error is part of the failure."""
    done = subprocess.run(
        [str(part) for part in command], input=stdin, capture_output=True, encoding="utf-8", check=False
    )
    if check and done.returncode:
        raise Failure(f"{' '.join(map(str, command))}: {done.stderr.strip()}")
    return done


def kubectl(*arguments, namespace=NAMESPACE, **options):
    return run("kubectl", "--namespace", namespace, *arguments, **options)


def get(*arguments, namespace=NAMESPACE):
    return json.loads(kubectl("get", *arguments, "--output", "json", namespace=namespace).stdout)


def pods(selector, namespace=NAMESPACE):
    """The pods that are not on their way out."""
    found = get("pods", "--selector", selector, namespace=namespace)["items"]
    return [pod for pod in found if "deletionTimestamp" not in pod["metadata"]]


def helm(*arguments, **options):
    return run("helm", "--namespace", NAMESPACE, *arguments, **options)


def service_address(name, namespace=NAMESPACE):
    return get("service", name, namespace=namespace)["spec"]["clusterIP"]


def expect(what, found, wanted):
    if found != wanted:
        raise Failure(f"{what}: {found!r}, not {wanted!r}")
    print(f"    ok: {what}", flush=True)


def eventually(what, probe, wanted, seconds=60):
    """Waits until a probe gives what is wanted."""
    deadline = time.monotonic() + seconds
    while True:
        found = probe()
        if found == wanted or time.monotonic() > deadline:
            return expect(what, found, wanted)
        time.sleep(0.2)


def ask(address, path="/", headers=None, port=80, tls=None):
    """Status, headers and body. `tls` is a dict of `ca`, a file, and `name`, the server's."""
    connection = http.client.HTTPConnection(address, port, timeout=15)
    if tls:
        context = ssl.create_default_context(cafile=tls["ca"])
        plain = socket.create_connection((address, port), timeout=15)
        connection.sock = context.wrap_socket(plain, server_hostname=tls["name"])
        headers = {"host": tls["name"]} | (headers or {})
    with contextlib.closing(connection):
        connection.request("GET", path, headers=headers or {})
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read()


def status(*arguments, **options):
    """The status of an answer, or 0 without one."""
    try:
        return ask(*arguments, **options)[0]
    except OSError:
        return 0


class Load:
    """Requests without a pause, over connections that stay open, from several threads. Whatever is not the expected
    status counts as failed, and so does a connection that ends in the midst of a request: nothing is tried again."""

    def __init__(self, address, headers, clients=4, wanted=200):
        self._address, self._headers, self._wanted = address, headers, wanted
        self._done = threading.Event()
        self.requests, self.failures = 0, []
        self._lock = threading.Lock()
        self._threads = [threading.Thread(target=self._client, daemon=True) for _ in range(clients)]

    def __enter__(self):
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self._done.set()
        for thread in self._threads:
            thread.join()

    def _client(self):
        connection = http.client.HTTPConnection(self._address, timeout=15)
        while not self._done.is_set():
            failure = None
            try:
                connection.request("GET", "/", headers=self._headers)
                answer = connection.getresponse()
                answer.read()
                if answer.status != self._wanted:
                    failure = f"status {answer.status}"
            except (OSError, http.client.HTTPException) as error:
                failure = repr(error)
                connection.close()
            with self._lock:
                self.requests += 1
                if failure:
                    self.failures.append(failure)
            time.sleep(0.005)
        connection.close()
