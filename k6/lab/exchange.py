"""What is sent, and what must come back."""

from __future__ import annotations

import base64
import http.client
import json
import re
import ssl
import subprocess
import tempfile
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Dict, Optional
from xml.etree import ElementTree

from . import paths
from .processes import Failure

ROUTING = "xadmin;server1;community#1.0##"

_ALPHABET = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

CREDENTIALS = {"Authorization": "Basic " + base64.b64encode(b"acme:acme-secret-1").decode()}


def filler(size: int) -> bytes:
    """The body of so many bytes that the echo backend makes."""
    return (_ALPHABET * (size // len(_ALPHABET) + 1))[:size]


@lru_cache(maxsize=None)
def messages() -> Dict[str, str]:
    """The SOAP messages of the routing and transformation experiments, such as `compact-1024`. The load scripts make
    them; this asks them to."""
    with tempfile.TemporaryDirectory() as folder:
        written = Path(folder) / "messages.json"
        finished = subprocess.run(
            [paths.k6(), "run", "--quiet", "--no-usage-report", "--address", "127.0.0.1:0",
             "-e", f"MESSAGES={written}", str(paths.ROOT / "k6/tests/library.js")],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
        )  # fmt: skip
        if finished.returncode != 0:
            raise Failure(f"k6 cannot make the messages: {finished.stdout.decode(errors='replace')}")
        return json.loads(written.read_text(encoding="utf-8"))


@dataclass(frozen=True)
class Request:
    """A request, always the same, and the reply that it must have."""

    path: str
    method: str = "GET"
    headers: Dict[str, str] = field(default_factory=dict)
    body: Optional[bytes] = None
    reply: Optional[bytes] = None
    """The body of the right reply; None where any will do."""
    status: int = 200
    same_as: Optional[bytes] = None
    """An XML document that the reply must say the same as, if not in the same bytes."""

    def without(self, header: str) -> "Request":
        return replace(self, headers={name: value for name, value in self.headers.items() if name != header})

    def with_header(self, name: str, value: str) -> "Request":
        return replace(self, headers={**self.headers, name: value})

    def at_once(self) -> "Request":
        """The same without a delay of the upstream."""
        return replace(self, path=re.sub(r"&?delay_ms=\d+", "", self.path))

    def problem(self, port: int, tls: bool = False, timeout: float = 30) -> Optional[str]:
        """Sends it once. What is wrong with the reply, or None. Raises OSError where there is none."""
        status, body = send(self, port, tls, timeout)
        if status != self.status:
            return f"{self.method} {self.path} gets {status}, not {self.status}: {body[:200]!r}"
        if not self._is_right(body):
            return f"{self.method} {self.path} gets a wrong body of {len(body)} bytes: {body[:200]!r}"
        return None

    def _is_right(self, body: bytes) -> bool:
        if self.reply is not None:
            return body == self.reply
        return self.same_as is None or canonical(body) == canonical(self.same_as)

    def settled(self, port: int) -> "Request":
        """With the bytes of the right reply, where those are the gateway's choice. Raises Failure where the reply is
        wrong."""
        if self.same_as is None:
            return self
        status, body = send(self, port)
        if status != self.status or not self._is_right(body):
            raise Failure(f"{self.method} {self.path} gets {status} and another document: {body[:200]!r}")
        return replace(self, reply=body)


def send(request: Request, port: int, tls: bool = False, timeout: float = 30):
    """Sends a request on a connection of its own: status and body of the reply."""
    connection: http.client.HTTPConnection
    if tls:
        # The certificates are made for the run: nobody vouches for them.
        context = ssl.create_default_context()
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=timeout, context=context)
    else:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
    try:
        connection.request(request.method, request.path, body=request.body, headers=request.headers)
        response = connection.getresponse()
        return response.status, response.read()
    except http.client.HTTPException as error:
        raise OSError(f"no proper reply: {error!r}") from error
    finally:
        connection.close()


def get(reply_bytes: int, delay_ms: int = 0) -> Request:
    """A GET with credentials."""
    return Request(_query(reply_bytes, delay_ms), headers=CREDENTIALS, reply=filler(reply_bytes))


def post(request_bytes: int, reply_bytes: int) -> Request:
    """A POST of filler with credentials."""
    headers = {**CREDENTIALS, "Content-Type": "text/plain"}
    return Request(
        _query(reply_bytes, 0), "POST", headers, body=filler(request_bytes), reply=filler(reply_bytes)
    )


def soap(epoch: str, size: int, delay_ms: int = 0) -> Request:
    """A POST of a SOAP message, which is echoed."""
    body = messages()[f"{epoch}-{size}"].encode()
    headers = {"Content-Type": "text/xml", "SOAPAction": "urn:buyStocks", "routing": ROUTING}
    return Request(f"/?delay_ms={delay_ms}", "POST", headers, body=body, reply=body)


def transformed(epoch: str, size: int, delay_ms: int = 0) -> Request:
    """The same, through a gateway that transforms messages there and back."""
    request = soap(epoch, size, delay_ms)
    return replace(request, reply=None, same_as=request.body)


def canonical(document: bytes) -> Optional[str]:
    """Canonical XML 2.0 without regard to prefixes and to white space around texts; None for what is no XML."""
    try:
        return ElementTree.canonicalize(document.decode(), strip_text=True, rewrite_prefixes=True)
    except (ElementTree.ParseError, UnicodeDecodeError):
        return None


def _query(reply_bytes: int, delay_ms: int) -> str:
    return f"/?size={reply_bytes}" + (f"&delay_ms={delay_ms}" if delay_ms else "")
