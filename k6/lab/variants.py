"""What is compared with what. In each scenario `bare` is Envoy without any filter, and everything else is beside it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Callable, Optional

from . import envoy, nginx, paths
from .envoy import Chain, Json, Ports
from .exchange import ROUTING, Request

ROUTING_PATTERN = ROUTING.replace(".", r"\.")


@dataclass(frozen=True)
class Variant:
    """A gateway with one configuration."""

    name: str
    """Within a scenario; `bare`, `policies` (what the scenario is about), or the name of a peer."""
    title: str
    chain: Optional[Callable[[Ports], Chain]] = None
    """Of an Envoy; None for nginx."""
    refuses: Optional[Callable[[Request], Request]] = None
    """Makes of a scenario's request one that this gateway must refuse, with the status that it must do so with. None
    where it lets everything pass. This is how the lab sees that what it measures is there."""

    def is_available(self, workers: int) -> bool:
        return self.chain is not None or (paths.nginx() is not None and workers == 1)

    def prepare(self, folder: Path, ports: Ports, workers: int, tls: Optional[Path]) -> list:
        """Writes the configuration and gives the command."""
        if self.chain is None:
            return nginx.prepare(folder, ports)
        config = folder / f"{self.name}.json"
        envoy.write(config, ports, self.chain(ports), tls)
        return envoy.command(config, workers)


def _without_credentials(request: Request) -> Request:
    return _refused(request.without("Authorization"), 401)


def _wrong_header(request: Request) -> Request:
    return _refused(request.with_header("routing", "nobody"), 500)


def _wrong_message(request: Request) -> Request:
    body = (request.body or b"").replace(ROUTING.encode(), b"nobody;nowhere")
    return _refused(_with_body(request, body), 500)


def _no_xml(request: Request) -> Request:
    return _refused(_with_body(request, b"<order>"), 400)


def _with_body(request: Request, body: bytes) -> Request:
    return Request(request.path, request.method, request.headers, body)


def _refused(request: Request, status: int) -> Request:
    return Request(request.path, request.method, request.headers, request.body, status=status)


BARE = Variant("bare", "Envoy without filters", lambda _: Chain())

NO_OP = Variant("no-op", "no-op Wasm filter", lambda _: Chain([envoy.wasm("no-op", {})]))

NGINX = Variant("nginx", "nginx as a proxy")

# --- The suite's policies.


def client_id() -> Json:
    # As shipped in envoy-config/gateway; admissions stay in the cache for their default time.
    return {"client-id": {"auth": {"per-request": {"cluster": "auth"}}}}


def rate_limit(headers: Optional[str] = None) -> Json:
    # The published experiments' limit. It is not reached: what is measured is the counting.
    document: Json = {"limits": [{"max": 80000, "period_ms": 6000}], "key": ["client-id"]}
    return {"rate-limit": {**document, **({"headers": headers} if headers else {})}}


def _one_limit(headers: Optional[str] = None) -> Chain:
    """For all requests together, whoever sends them."""
    document = rate_limit(headers)["rate-limit"]
    return Chain(
        [envoy.wasm("rate-limit", {name: value for name, value in document.items() if name != "key"})]
    )


def chain_of(*policies: Json) -> Chain:
    """Policies as one chain in one module."""
    return Chain([envoy.wasm("gateway", {"policies": list(policies)})])


CLIENT_ID_AND_LOG = Variant(
    "policies",
    "client-id and access-log, one chain",
    lambda _: chain_of(client_id(), {"access-log": {}}),
    _without_credentials,
)

CLIENT_ID = Variant(
    "policies",
    "client-id",
    lambda _: Chain([envoy.wasm("client-id", client_id()["client-id"])]),
    _without_credentials,
)

ALL = Variant(
    "policies",
    "client-id, rate-limit and access-log, one chain",
    lambda _: chain_of(client_id(), rate_limit("mule"), {"access-log": {}}),
    _without_credentials,
)

RATE_LIMIT = Variant("policies", "rate-limit", lambda _: _one_limit())

RATE_LIMIT_HEADERS = Variant("policies-headers", "rate-limit with headers", lambda _: _one_limit("mule"))

_ROUTER: Json = {
    "namespaces": {"t": "http://someuri"},
    "default": {"reply": {"status": 500, "detail": "Invalid routing header"}},
}


def _routed(condition: Json, holds_bodies: bool, further: Json) -> Chain:
    rules = [{"name": "server1", "when": condition, "then": {"route": "server1"}}]
    return Chain(
        [envoy.wasm("content-router", {**_ROUTER, **further, "rules": rules}, holds_bodies)],
        routes=[
            envoy.route("echo", {"name": "x-portcullis-route", "string_match": {"exact": "server1"}}),
            {"match": {"prefix": "/"}, "direct_response": {"status": 404}},
        ],
    )


SOAP_ROUTING = Variant(
    "policies",
    "content-router, by a SOAP header block",
    lambda _: _routed(
        {
            "xpath": {
                "expression": "/soap11:Envelope/soap11:Header/t:routing",
                "value": {"matches": ROUTING_PATTERN},
            }
        },
        True,
        {"body": {"max_bytes": 1 << 20}},
    ),
    _wrong_message,
)

TRANSPORT_ROUTING = Variant(
    "policies",
    "content-router, by an HTTP header",
    lambda _: _routed({"header": {"name": "routing", "value": {"matches": ROUTING_PATTERN}}}, False, {}),
    _wrong_header,
)

_STYLESHEETS = paths.ROOT / "filters/xslt-transform/tests/stylesheets"


def _xslt(_: Ports) -> Chain:
    def transformation(name: str) -> Json:
        return {"stylesheet": {"inline": paths.text(_STYLESHEETS / f"orders-{name}.xsl")}}

    both = {direction: transformation(direction) for direction in ("request", "response")}
    return Chain([envoy.wasm("xslt-transform", both, holds_bodies=True)])


XSLT = Variant("policies", "xslt-transform, request and response", _xslt, _no_xml)

# --- Envoy's own filters that do a part of the same.


def _ext_authz(ports: Ports) -> Json:
    return envoy.native(
        "ext_authz",
        "ext_authz.v3.ExtAuthz",
        {
            "http_service": {
                "server_uri": {"uri": f"http://127.0.0.1:{ports.auth}", "cluster": "auth", "timeout": "30s"},
                "path_prefix": "/verify",
            }
        },
    )


def _local_rate_limit() -> Json:
    always = {"default_value": {"numerator": 100, "denominator": "HUNDRED"}}
    return envoy.native(
        "local_ratelimit",
        "local_ratelimit.v3.LocalRateLimit",
        {
            "stat_prefix": "limit",
            "token_bucket": {"max_tokens": 80000, "tokens_per_fill": 80000, "fill_interval": "6s"},
            "filter_enabled": always,
            "filter_enforced": always,
        },
    )


_LOG = envoy.file_log(
    {
        "time": "%START_TIME%", "method": "%REQ(:METHOD)%", "path": "%REQ(:PATH)%", "protocol": "%PROTOCOL%",
        "status": "%RESPONSE_CODE%", "duration_ms": "%DURATION%", "bytes_in": "%BYTES_RECEIVED%",
        "bytes_out": "%BYTES_SENT%", "upstream": "%UPSTREAM_HOST%", "request_id": "%REQ(X-REQUEST-ID)%",
        "flags": "%RESPONSE_FLAGS%", "details": "%RESPONSE_CODE_DETAILS%",
    }
)  # fmt: skip

NATIVE_AUTH_AND_LOG = Variant(
    "native",
    "Envoy's ext_authz (asks for each request) and access log",
    lambda ports: Chain([_ext_authz(ports)], access_log=_LOG),
    _without_credentials,
)

NATIVE_AUTH = Variant(
    "native",
    "Envoy's ext_authz (asks for each request)",
    lambda ports: Chain([_ext_authz(ports)]),
    _without_credentials,
)

NATIVE_RATE_LIMIT = Variant(
    "native",
    "Envoy's local_ratelimit without headers",
    lambda _: Chain([_local_rate_limit()]),
)

NATIVE_ROUTING = Variant(
    "native",
    "Envoy's route table, by the same header",
    lambda _: Chain(
        routes=[
            envoy.route(
                "echo", {"name": "routing", "string_match": {"safe_regex": {"regex": ROUTING_PATTERN}}}
            ),
            {"match": {"prefix": "/"}, "direct_response": {"status": 500}},
        ]
    ),
    _wrong_header,
)

# What people do without a parser: it takes the first element of that name, wherever it is, and knows no namespaces.
_LUA = """
function envoy_on_request(handle)
  local body = handle:body()
  local text = tostring(body:getBytes(0, body:length()))
  local routing = string.match(text, '<routing[^>]*>([^<]*)</routing>')
  if routing ~= 'xadmin;server1;community#1.0##' then
    handle:respond({[':status'] = '500'}, 'Invalid routing header')
  end
end
"""

LUA_ROUTING = Variant(
    "lua",
    "Envoy's Lua filter, by a text pattern",
    lambda _: Chain([envoy.native("lua", "lua.v3.Lua", {"default_source_code": {"inline_string": _LUA}})]),
    _wrong_message,
)
