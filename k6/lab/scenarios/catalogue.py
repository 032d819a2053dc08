"""Every experiment, in the order in which they run."""

from __future__ import annotations

from typing import Callable, List

from .. import certificates, paths, variants
from ..bench import Scenario
from ..exchange import Request, get, post, soap, transformed
from ..profiles import Profile, often, once
from .overhead import Overhead
from .scripts import Script, Setting
from .startup import Startup
from .steps import Step, Steps

_KB = 1024

_FLEX = [variants.BARE, variants.CLIENT_ID_AND_LOG]

# --- Flex Gateway benchmarking guide.


def _max_qps(profile: Profile) -> List[Step]:
    limits = profile.pick([100, 250], [250, 500, 1000, 1500, 2000], [100, 250, 500, 1000, 1500, 2000])
    connections = profile.pick([50], [64], [10, 25, 50, 100, 200, 300, 400])
    return [
        Step(f"{millicores}m-{count}c", millicores, count, get(_KB), {"reply_bytes": _KB, "request_bytes": 0})
        for millicores in limits
        for count in connections
    ]


def _get(profile: Profile) -> List[Step]:
    return [
        Step(f"reply-{size}KB", 500, 200, get(size * _KB), {"reply_bytes": size * _KB, "request_bytes": 0})
        for size in profile.pick([1], [1, 10, 100], [1, 10, 100])
    ]


def _post(profile: Profile) -> List[Step]:
    return [
        Step(
            f"reply-{size}KB",
            500,
            200,
            post(_KB, size * _KB),
            {"reply_bytes": size * _KB, "request_bytes": _KB},
        )
        for size in profile.pick([1], [1, 10, 100], [1, 10, 100])
    ]


def _sweep(profile: Profile) -> List[int]:
    return profile.pick([1], [1, 50, 200], [1, 5, 10, 25, 50, 100, 150, 200])


def _sweep_limits(profile: Profile) -> List[int]:
    return profile.pick([500], [500], [500, 1000, 1500, 2000])


def _request_size(profile: Profile) -> List[Step]:
    return [
        Step(
            f"request-{size}KB-{millicores}m", millicores, 200, post(size * _KB, _KB),
            {"request_bytes": size * _KB, "reply_bytes": _KB},
        )
        for millicores in _sweep_limits(profile)
        for size in _sweep(profile)
    ]  # fmt: skip


def _reply_size(profile: Profile) -> List[Step]:
    return [
        Step(
            f"reply-{size}KB-{millicores}m", millicores, 200, post(_KB, size * _KB),
            {"request_bytes": _KB, "reply_bytes": size * _KB},
        )
        for millicores in _sweep_limits(profile)
        for size in _sweep(profile)
    ]  # fmt: skip


# --- Mule 4.3 performance report: an upstream that takes 70 ms.

_DELAY_MS = 70


def _ramp(profile: Profile) -> Setting:
    users = profile.pick([2, 10], [25, 50, 100, 200], [10, 25, 50, 100, 150, 200, 300, 400])
    return Setting(
        phases=len(users),
        seconds=profile.pick(1.0, 2.5, 30.0),
        warmup=profile.pick(0.3, 0.5, 10.0),
        variables={"VUS": ",".join(map(str, users))},
    )


def _streaming(profile: Profile) -> Setting:
    users = profile.pick([2], [2, 5, 10], [2, 5, 10, 25, 50, 100])
    return Setting(
        phases=len(users),
        seconds=profile.pick(1.0, 2.5, 30.0),
        warmup=profile.pick(0.3, 0.5, 10.0),
        variables={"VUS": ",".join(map(str, users))},
    )


def _one_core(profile: Profile) -> List[Step]:
    return [
        Step(
            f"{users}-users", 1000, users, get(_KB, _DELAY_MS),
            {"reply_bytes": _KB, "request_bytes": 0, "delay_ms": _DELAY_MS},
        )
        for users in profile.pick([50], [300, 600, 900, 1200], [100, 200, 300, 500, 750, 1000, 1500, 2000, 3000, 5000])
    ]  # fmt: skip


def _added_latency(profile: Profile) -> Setting:
    sizes = profile.pick(["10K"], ["10K", "100K", "300K"], ["10K", "50K", "100K", "200K", "300K"])
    return Setting(
        phases=len(sizes),
        seconds=profile.pick(1.0, 2.5, 30.0),
        warmup=profile.pick(0.3, 0.5, 5.0),
        variables={"SIZE": ",".join(sizes)},
    )


def _spike(profile: Profile) -> Setting:
    return Setting(
        phases=3,
        seconds=profile.pick(1.0, 10.0, 60.0),
        warmup=profile.pick(0.3, 2.0, 10.0),
        variables={"VUS": profile.pick("2", "50", "50"), "SPIKE_VUS": profile.pick("20", "500", "1000")},
    )


def _soak(profile: Profile) -> Setting:
    parts = profile.pick(2, 6, 24)
    return Setting(
        phases=parts,
        seconds=profile.pick(1.0, 60.0, 600.0),
        warmup=profile.pick(0.3, 5.0, 60.0),
        variables={"PARTS": str(parts), "VUS": profile.pick("2", "50", "50")},
    )


def _tls(reuse: bool):
    def steps(profile: Profile) -> List[Step]:
        return [
            Step(
                "reused" if reuse else "fresh", 1000, profile.pick(4, 32, 100), get(10 * _KB),
                {"reply_bytes": 10 * _KB, "request_bytes": 0, "reuse": "yes" if reuse else "no"}, reuse,
            )
        ]  # fmt: skip

    return steps


def _tls_scenario(kind: str) -> Steps:
    return Steps(
        f"tls-{kind}",
        f"TLS 1.3, {kind.upper()}: with and without connection reuse",
        [variants.BARE, variants.ALL],
        lambda profile: _tls(True)(profile) + _tls(False)(profile),
        tls=lambda folder: certificates.make(folder, kind),
    )


# --- WSO2 Micro Integrator 1.2.0.


def _wso2(message: Callable[[str, int, int], Request]) -> Callable[[Profile], List[Step]]:
    """Messages of all sizes; `message` makes one of an epoch, a size and a delay."""

    def steps(profile: Profile) -> List[Step]:
        return [
            Step(
                f"{epoch}-{size}B-{users}users-{delay}ms", 1000, users, request,
                {
                    "epoch": epoch, "size": size, "request_bytes": len(request.body or b""),
                    "reply_bytes": len(request.body or b""), "delay_ms": delay,
                },
            )
            for epoch in profile.pick(["compact"], ["compact"], ["compact", "indented"])
            for users in profile.pick([10], [100], [100, 200])
            for size in profile.pick([500], [500, 1024, 10240, 102400], [500, 1024, 10240, 102400])
            for delay in profile.pick([0], [0], [0, 30, 100, 500, 1000])
            for request in [message(epoch, size, delay)]
        ]  # fmt: skip

    return steps


def scenarios() -> List[Scenario]:
    """All of them; the one with transformations where its module is built."""
    found: List[Scenario] = [
        Startup("startup", "From process start to the first reply", [variants.BARE, variants.ALL]),
        Steps(
            "flex-max-qps",
            "Most requests per second: GET, reply of 1 KB",
            [variants.BARE, variants.NO_OP, variants.CLIENT_ID_AND_LOG, variants.NATIVE_AUTH_AND_LOG],
            _max_qps,
            repetitions=often,
        ),
        Steps(
            "wso2-soap",
            "Routing by a SOAP header",
            [variants.BARE, variants.SOAP_ROUTING, variants.LUA_ROUTING],
            _wso2(soap),
            repetitions=often,
        ),
        Steps(
            "wso2-transport",
            "Routing by an HTTP header",
            [variants.BARE, variants.TRANSPORT_ROUTING, variants.NATIVE_ROUTING],
            _wso2(soap),
            repetitions=often,
        ),
        Steps("flex-get", "GET, replies of 1, 10 and 100 KB, 200 connections", _FLEX, _get),
        Steps("flex-post", "POST of 1 KB, replies of 1, 10 and 100 KB, 200 connections", _FLEX, _post),
        Steps("flex-request-size", "Requests of 1 to 200 KB, reply of 1 KB", _FLEX, _request_size),
        Steps("flex-reply-size", "Replies of 1 to 200 KB, request of 1 KB", _FLEX, _reply_size),
        Script(
            "mule-proxy", "HTTP proxy, upstream of 70 ms, 0.1 core", "mule-proxy", 100,
            [variants.BARE, variants.NO_OP, variants.NGINX], _ramp, get(_KB),
        ),
        Script(
            "mule-client-id", "Client-ID enforcement, upstream of 70 ms, 0.1 core", "mule-client-id", 100,
            [variants.BARE, variants.CLIENT_ID, variants.NATIVE_AUTH], _ramp, get(_KB),
            lambda variant: {"CREDENTIALS": "query"} if variant == "policies" else {},
        ),
        Script(
            "mule-rate-limit", "Rate limit without and with headers, upstream of 70 ms, 0.1 core",
            "mule-rate-limit", 100,
            [variants.BARE, variants.RATE_LIMIT, variants.RATE_LIMIT_HEADERS, variants.NATIVE_RATE_LIMIT],
            _ramp, get(_KB),
            lambda variant: {"RATE_LIMIT_HEADERS": "on", "POLICIES": "rate-limit"}
            if variant == "policies-headers" else {"RATE_LIMIT_HEADERS": "off"},
        ),
        Steps(
            "mule-one-core", "Client-ID enforcement, upstream of 70 ms, one core",
            [variants.BARE, variants.CLIENT_ID], _one_core,
        ),
        Script(
            "mule-streaming", "Replies of 1 MB that stream, upstream of 70 ms, half a core", "mule-streaming", 500,
            [variants.BARE, variants.ALL], _streaming, get(_KB),
        ),
        _tls_scenario("rsa-2048"),
        _tls_scenario("rsa-4096"),
        _tls_scenario("p-256"),
        Script(
            "added-latency", "What the gateway adds to the latency of replies of 10 to 300 KB", "added-latency", 1000,
            [variants.BARE, variants.ALL], _added_latency, get(_KB),
        ),
        Script(
            "spike", "A sudden crowd: 50 users, many more, 50 again; half a core", "spike", 500,
            [variants.BARE, variants.ALL], _spike, get(_KB),
        ),
        Script(
            "soak", "The same mixture of requests for long, one of ten with wrong credentials", "soak", 500,
            [variants.BARE, variants.ALL], _soak, get(_KB), repetitions=once,
        ),
        Overhead(
            "overhead", "CPU time that each filter adds to a request",
            [
                "sdk-no-op", "no-op", "client-id", "rate-limit", "rate-limit-headers", "access-log",
                "three-filters", "chain", "chain-headers", "native-three",
            ],
        ),
    ]  # fmt: skip
    if paths.has_module("xslt-transform"):
        found.insert(
            4,
            Steps(
                "wso2-xslt",
                "XSLT on the request and on the reply",
                [variants.BARE, variants.XSLT],
                _wso2(transformed),
                repetitions=often,
            ),
        )
    return found


# They take long, and are not about how fast a gateway is.
_BY_NAME_ONLY = {"soak", "spike"}


def selected(names: List[str], profile: Profile) -> List[Scenario]:
    """Those with these names, or those that the profile runs. Raises KeyError for a name that there is not."""
    known = {scenario.name: scenario for scenario in scenarios()}
    if names:
        return [known[name] for name in names]
    # flex-post is a part of flex-reply-size.
    left_out = profile.pick(set(), {"tls-rsa-4096", "flex-post"}, set())
    return [scenario for scenario in known.values() if scenario.name not in left_out | _BY_NAME_ONLY]
