"""What the load scripts are run against: the backends, and Envoy with a configuration of this repository."""

import hashlib
import http.server
import json
import os
import re
import signal
import socket
import subprocess
import threading
import time
import urllib.error
import urllib.request
import xml.etree.ElementTree as ElementTree
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CLIENTS = ROOT / "k6/backends/clients.example.json"
START_SECONDS = 30

# The ports in the configurations.
GATEWAY, ADMIN, ECHO, AUTH = 10000, 9901, 8081, 8082
TLS = {"rsa-2048": 10443, "rsa-4096": 10444, "p-256": 10445}


class Service:
    """A child process that ends with the `with` block."""

    def __init__(self, command, ready, **options):
        self._ready = ready
        self._process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, **options
        )

    def __enter__(self):
        self._ready(self._process)
        return self

    def __exit__(self, *_):
        self._process.terminate()
        self._process.wait()
        self._process.stdout.close()


def backends_binary():
    return ROOT / os.environ.get("CARGO_TARGET_DIR", "target") / "native" / "portcullis-backends"


def envoy_binary():
    named = os.environ.get("PORTCULLIS_ENVOY")
    installed = sorted(ROOT.glob(".tools/venv/lib/python3*/site-packages/envoy/_bin/envoy"))
    return named or (str(installed[0]) if installed else None)


def free_ports(count):
    """Ports that nobody listens on at the moment."""
    probes = [socket.socket() for _ in range(count)]
    try:
        for probe in probes:
            probe.bind(("127.0.0.1", 0))
        return [probe.getsockname()[1] for probe in probes]
    finally:
        for probe in probes:
            probe.close()


class Backend(Service):
    """A backend on a port of its own, which is known once it runs."""

    def __init__(self, name, *arguments):
        super().__init__([backends_binary(), name, "--listen", "127.0.0.1:0", *arguments], self._read_port)

    def _read_port(self, process):
        line = process.stdout.readline().decode()
        match = re.search(r"listening on 127\.0\.0\.1:(\d+)", line)
        if not match:
            raise RuntimeError(f"a backend does not start: {line!r}")
        self.port = int(match[1])

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"


def echo(*arguments):
    return Backend("echo", *arguments)


def auth():
    return Backend("auth", "--clients", str(CLIENTS))


class Envoy(Service):
    """Envoy with a configuration whose ports are replaced, and texts in it if need be."""

    def __init__(self, config, directory, ports, texts=()):
        text = (ROOT / config).read_text(encoding="utf-8")
        for old, new in texts:
            if old not in text:
                raise RuntimeError(f"{config} has no {old!r}")
            text = text.replace(old, new)
        self.ports = {**ports, **{port: free_ports(1)[0] for port in (GATEWAY, ADMIN) if port not in ports}}
        text = re.sub(
            r"port_value: (\d+)", lambda match: f"port_value: {self.ports.get(int(match[1]), match[1])}", text
        )
        rendered = Path(directory) / "envoy.yaml"
        rendered.write_text(text, encoding="utf-8")
        self._log = Path(directory) / "envoy.log"
        command = [envoy_binary(), "--disable-hot-restart", "--concurrency", "1", "--log-level", "warn"]
        super().__init__([*command, "--log-path", str(self._log), "-c", str(rendered)], self._wait, cwd=ROOT)

    @property
    def url(self):
        return f"http://127.0.0.1:{self.ports[GATEWAY]}"

    def _wait(self, process):
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline and process.poll() is None:
            try:
                opener.open(f"http://127.0.0.1:{self.ports[ADMIN]}/ready", timeout=2).close()
                return
            except (OSError, urllib.error.HTTPError):
                time.sleep(0.1)
        raise RuntimeError(f"Envoy does not start:\n{self._log.read_text(encoding='utf-8')}")


class Demo:
    """What `make run` starts for a folder of envoy-config, on ports of its own."""

    # By the number in the configuration, the variable that changes it.
    PORTS = {
        GATEWAY: "PORT", ADMIN: "ADMIN_PORT", ECHO: "ECHO_PORT", AUTH: "AUTH_PORT", 8083: "LIMITS_PORT",
        10443: "RSA_2048_PORT", 10444: "RSA_4096_PORT", 10445: "P_256_PORT",
    }  # fmt: skip

    def __init__(self, scenario):
        ports = dict(zip(self.PORTS, free_ports(len(self.PORTS))))
        variables = {self.PORTS[default]: str(port) for default, port in ports.items()}
        self.url = f"http://127.0.0.1:{ports[GATEWAY]}"
        self.upstream = f"http://127.0.0.1:{ports[ECHO]}"
        self.tls = {key: f"https://127.0.0.1:{ports[port]}" for key, port in TLS.items()}
        self._process = subprocess.Popen(
            [ROOT / "envoy-config/run"], env={**os.environ, **variables, "SCENARIO": scenario}, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        )  # fmt: skip

    def __enter__(self):
        said = []
        for line in self._process.stderr:
            said.append(line)
            if "stops everything" in line:
                # Envoy's complaints, if there are some, must not fill the pipe.
                self._reader = threading.Thread(target=self._process.stderr.read)
                self._reader.start()
                return self
        self._process.communicate()
        raise RuntimeError(f"envoy-config/run does not start:\n{''.join(said)}")

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        """Ends it as Ctrl-C does; its exit status."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)
        self._reader.join()
        self._process.stderr.close()
        return self._process.wait()


class Transformer:
    """What a gateway that transforms messages, and an upstream that echoes them, look like from outside: the reply says
    the same as the request in other bytes. `spoil` is done to each message on its way back."""

    def __init__(self, spoil=lambda envelope: None):
        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                sent = self.rfile.read(int(self.headers["content-length"]))
                envelope = ElementTree.fromstring(sent)
                spoil(envelope)
                transformed = ElementTree.tostring(envelope)
                if "describe=true" in self.path:
                    body = {"bytes": len(transformed), "sha256": hashlib.sha256(transformed).hexdigest()}
                    self.reply("application/json", json.dumps({"body": body}).encode())
                else:
                    self.reply("text/xml; charset=us-ascii", transformed)

            def reply(self, content_type, body):
                self.send_response(200)
                self.send_header("content-type", content_type)
                self.send_header("content-length", str(len(body)))
                self.send_header("x-echo-tag", self.headers["x-echo-tag"])
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self):
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()
