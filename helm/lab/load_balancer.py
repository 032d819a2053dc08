#!/usr/bin/env python3
"""Gives each Service of type LoadBalancer an address, as a cloud would; kube-proxy sees to the rest.

Usage: load_balancer.py KUBECONFIG RANGE
"""

import ipaddress
import sys
import time

from api import Api


def main(kubeconfig, addresses):
    api = Api(kubeconfig)
    free = ipaddress.ip_network(addresses).hosts()
    while True:
        try:
            give(api, free)
        except OSError as error:
            print(error, file=sys.stderr, flush=True)
        time.sleep(0.5)


def give(api, free):
    """Gives those an address that wait for one."""
    for service in api.get("/api/v1/services")["items"]:
        if service["spec"].get("type") == "LoadBalancer" and not service["status"]["loadBalancer"]:
            metadata = service["metadata"]
            path = f"/api/v1/namespaces/{metadata['namespace']}/services/{metadata['name']}/status"
            api.merge(path, {"status": {"loadBalancer": {"ingress": [{"ip": str(next(free))}]}}})


if __name__ == "__main__":
    main(*sys.argv[1:])
