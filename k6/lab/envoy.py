"""Envoys that are compared with each other: the same in everything but what is measured."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Dict, List, Optional

from . import paths

Json = Dict[str, Any]

_TYPE = "type.googleapis.com/envoy.extensions"

# Room for the largest bodies: filters that hold a body may hold this much.
_BUFFER_BYTES = 4 << 20


@dataclass(frozen=True)
class Ports:
    """Where everything listens."""

    gateway: int
    admin: int
    echo: int
    auth: int


@dataclass
class Chain:
    """What makes one Envoy different from another."""

    filters: List[Json] = field(default_factory=list)
    """HTTP filters before the router."""
    routes: Optional[List[Json]] = None
    """In place of the route that takes everything."""
    access_log: Optional[Json] = None


def command(config: Path, workers: int) -> List[str]:
    """The policies' access log goes to Envoy's log, which is written to /dev/null: what is measured is the making of
    the lines. Warnings would be lost with it, so that a configuration is validated before."""
    return [
        paths.envoy(), "--disable-hot-restart", "--concurrency", str(workers),
        "--log-level", "warn", "--component-log-level", "wasm:info", "--log-path", "/dev/null",
        "-c", str(config),
    ]  # fmt: skip


def write(config: Path, ports: Ports, chain: Chain, tls: Optional[Path] = None) -> None:
    config.write_text(json.dumps(document(ports, chain, tls), indent=1), encoding="utf-8")


def document(ports: Ports, chain: Chain, tls: Optional[Path] = None) -> Json:
    """A whole configuration. `tls` is the certificate's path without .crt or .key."""
    manager: Json = {
        "@type": f"{_TYPE}.filters.network.http_connection_manager.v3.HttpConnectionManager",
        "stat_prefix": "ingress",
        "server_name": "gateway",
        # As at an edge: see envoy-config/gateway/envoy.yaml.
        "use_remote_address": True,
        "normalize_path": True,
        "merge_slashes": True,
        "path_with_escaped_slashes_action": "UNESCAPE_AND_REDIRECT",
        "request_timeout": "300s",
        "stream_idle_timeout": "300s",
        "http_filters": [
            *chain.filters,
            {"name": "router", "typed_config": {"@type": f"{_TYPE}.filters.http.router.v3.Router"}},
        ],
        "route_config": {
            "virtual_hosts": [{"name": "echo", "domains": ["*"], "routes": chain.routes or [route("echo")]}]
        },
    }
    if chain.access_log:
        manager["access_log"] = [chain.access_log]
    filter_chain: Json = {"filters": [{"name": "http", "typed_config": manager}]}
    if tls is not None:
        filter_chain["transport_socket"] = _tls(tls)
    return {
        "admin": {"address": _address(ports.admin)},
        "memory_allocator_manager": {"bytes_to_release": 8 << 20, "memory_release_interval": "1s"},
        "static_resources": {
            "listeners": [
                {
                    "name": "ingress",
                    "address": _address(ports.gateway),
                    "per_connection_buffer_limit_bytes": _BUFFER_BYTES,
                    "filter_chains": [filter_chain],
                }
            ],
            "clusters": [_cluster("echo", ports.echo), _cluster("auth", ports.auth)],
        },
    }


def route(cluster: str, header: Optional[Json] = None) -> Json:
    match: Json = {"prefix": "/", **({"headers": [header]} if header else {})}
    return {"match": match, "route": {"cluster": cluster, "timeout": "120s"}}


def wasm(module: str, configuration: Json, holds_bodies: bool = False) -> Json:
    """A policy of the suite. `holds_bodies` where it decides by what the body says."""
    return {
        "name": module,
        "typed_config": {
            "@type": f"{_TYPE}.filters.http.wasm.v3.Wasm",
            "config": {
                "name": module,
                "configuration": {
                    "@type": "type.googleapis.com/google.protobuf.Struct",
                    "value": configuration,
                },
                "allow_on_headers_stop_iteration": holds_bodies,
                "failure_policy": "FAIL_CLOSED",
                "vm_config": {
                    "vm_id": module,
                    "runtime": "envoy.wasm.runtime.v8",
                    "code": {"local": {"filename": str(paths.module(module))}},
                },
            },
        },
    }


def native(name: str, kind: str, configuration: Json) -> Json:
    """A filter of Envoy's own; `kind` is what follows `filters.http.` in its type."""
    return {
        "name": f"envoy.filters.http.{name}",
        "typed_config": {"@type": f"{_TYPE}.filters.http.{kind}", **configuration},
    }


def file_log(fields: Json) -> Json:
    """Envoy's own access log of JSON lines, to /dev/null."""
    return {
        "name": "envoy.access_loggers.file",
        "typed_config": {
            "@type": f"{_TYPE}.access_loggers.file.v3.FileAccessLog",
            "path": "/dev/null",
            "log_format": {"json_format": fields},
        },
    }


def _cluster(name: str, port: int) -> Json:
    return {
        "name": name,
        "type": "STATIC",
        "connect_timeout": "5s",
        "per_connection_buffer_limit_bytes": _BUFFER_BYTES,
        # Beyond what any step has under way: nothing is refused here.
        "circuit_breakers": {
            "thresholds": [{"max_connections": 20000, "max_pending_requests": 20000, "max_requests": 20000}]
        },
        "load_assignment": {
            "cluster_name": name,
            "endpoints": [{"lb_endpoints": [{"endpoint": {"address": _address(port)}}]}],
        },
    }


def _tls(certificate: Path) -> Json:
    return {
        "name": "envoy.transport_sockets.tls",
        "typed_config": {
            "@type": f"{_TYPE}.transport_sockets.tls.v3.DownstreamTlsContext",
            "common_tls_context": {
                "alpn_protocols": ["http/1.1"],
                "tls_certificates": [
                    {
                        "certificate_chain": {"filename": f"{certificate}.crt"},
                        "private_key": {"filename": f"{certificate}.key"},
                    }
                ],
            },
        },
    }


def _address(port: int) -> Json:
    return {"socket_address": {"address": "127.0.0.1", "port_value": port}}
