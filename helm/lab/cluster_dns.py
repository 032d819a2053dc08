#!/usr/bin/env python3
"""DNS for the names of Services: `service.namespace.svc.cluster.local` (RFC 1035).

Answers questions for addresses (A) of Services with an address of their own, and for the ready endpoints of those
without. All other names do not exist; other types have no records.

Usage: cluster_dns.py ADDRESS KUBECONFIG
"""

import ipaddress
import socketserver
import struct
import sys
import threading
import time

from api import Api

PORT = 53
TTL = 2
ZONE = ["svc", "cluster", "local"]

TYPE_A = 1
NO_ERROR, SERVER_FAILURE, NO_SUCH_NAME = 0, 2, 3
# A response, authoritative; the question's bits for recursion are left as they are.
RESPONSE = 0x8400
RECURSION_DESIRED = 0x0100


class Names:
    """The addresses of Services, remembered for as long as answers may be."""

    def __init__(self, api):
        self._api = api
        self._known = {}

    def addresses(self, labels):
        """The addresses behind a name; None if there is no such name."""
        if len(labels) != 5 or labels[2:] != ZONE:
            return None
        known = self._known.get(tuple(labels))
        if known is None or known[0] < time.monotonic():
            known = (time.monotonic() + TTL, self._look_up(*labels[:2]))
            self._known[tuple(labels)] = known
        return known[1]

    def _look_up(self, name, namespace):
        service = self._api.get(f"/api/v1/namespaces/{namespace}/services/{name}")
        if service is None:
            return None
        address = service["spec"].get("clusterIP", "None")
        if address != "None":
            return [address]
        slices = self._api.get(
            f"/apis/discovery.k8s.io/v1/namespaces/{namespace}/endpointslices"
            f"?labelSelector=kubernetes.io/service-name%3D{name}"
        )
        return [
            address
            for entry in slices["items"]
            for endpoint in entry.get("endpoints") or []
            if endpoint.get("conditions", {}).get("ready")
            for address in endpoint["addresses"]
        ]


def answer(names, message):
    """The answer to a message with one question."""
    identifier, flags, questions = struct.unpack_from(">HHH", message)
    at, labels = 12, []
    while message[at]:
        labels.append(message[at + 1 : at + 1 + message[at]].decode("ascii", "replace").lower())
        at += 1 + message[at]
    (kind,) = struct.unpack_from(">H", message, at + 1)
    question = message[12 : at + 5]

    records, code = [], NO_ERROR
    try:
        addresses = names.addresses(labels)
        if addresses is None:
            code = NO_SUCH_NAME
        elif kind == TYPE_A:
            records = addresses
    except OSError as error:
        print(f"{'.'.join(labels)}: {error}", file=sys.stderr, flush=True)
        code = SERVER_FAILURE
    head = struct.pack(
        ">HHHHHH", identifier, RESPONSE | (flags & RECURSION_DESIRED) | code, min(questions, 1), len(records), 0, 0
    )
    # Each record's name is the question's, which stands at the 12th byte.
    rows = [
        struct.pack(">HHHIH", 0xC00C, TYPE_A, 1, TTL, 4) + ipaddress.IPv4Address(address).packed
        for address in records
    ]
    return head + question + b"".join(rows)


def main(address, kubeconfig):
    names = Names(Api(kubeconfig))

    class Datagram(socketserver.BaseRequestHandler):
        def handle(self):
            message, reply = self.request
            reply.sendto(answer(names, message), self.client_address)

    class Stream(socketserver.StreamRequestHandler):
        def handle(self):
            (size,) = struct.unpack(">H", self.rfile.read(2))
            message = answer(names, self.rfile.read(size))
            self.wfile.write(struct.pack(">H", len(message)) + message)

    streams = socketserver.ThreadingTCPServer((address, PORT), Stream)
    threading.Thread(target=streams.serve_forever, daemon=True).start()
    socketserver.ThreadingUDPServer((address, PORT), Datagram).serve_forever()


if __name__ == "__main__":
    main(*sys.argv[1:])
