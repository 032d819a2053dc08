"""A run with a little of everything, for tests: every number is made up here."""

from __future__ import annotations

import random
from typing import Any, Dict, List

from lab.tests.runs import document, measured

_VARIANTS = {
    "flex-max-qps": {"bare": "Envoy without filters", "no-op": "no-op Wasm filter", "policies": "client-id and access-log",
                     "native": "Envoy's ext_authz"},
    "wso2-soap": {"bare": "Envoy without filters", "policies": "content-router", "lua": "Lua"},
    "mule-client-id": {"bare": "Envoy without filters", "policies": "client-id", "native": "Envoy's ext_authz"},
}  # fmt: skip
_BOTH = {
    "bare": "Envoy without filters",
    "policies": "all <policies> & more, with a title that is too long for the legend",
}
_SPEED = {"bare": 14.0, "no-op": 12.5, "policies": 9.0, "native": 4.0, "lua": 8.0}


def sample() -> Dict[str, Any]:
    chance = random.Random(3)
    found: List[Dict[str, Any]] = []
    scenarios: Dict[str, Any] = {}

    def add(scenario: str, title: str, steps: Dict[str, Dict[str, Any]], generator: str = "fortio") -> None:
        variants = _VARIANTS.get(scenario, _BOTH)
        scenarios[scenario] = {"title": title, "generator": generator, "variants": variants, "repetitions": 3}
        for step, facts in steps.items():
            for variant in variants:
                for repetition in range(3):
                    speed = _SPEED[variant] * facts.get("millicores", 500) * facts.pop("scale", 1.0)
                    qps = speed * (1 + chance.gauss(0, 0.03))
                    found.append(measured(scenario, step, variant, repetition, qps, **facts))

    add("flex-max-qps", "Most requests per second",
        {f"{m}m-64c": {"millicores": m, "connections": 64} for m in (250, 500, 1000)})  # fmt: skip
    for scenario in ("flex-get", "flex-post"):
        add(scenario, "Replies", {f"reply-{size}KB": {"connections": 200} for size in (1, 10, 100)})
    add("flex-request-size", "Requests",
        {f"request-{size}KB-500m": {"request_bytes": size * 1024, "reply_bytes": 1024} for size in (1, 50, 200)})  # fmt: skip
    add("wso2-soap", "Routing by a SOAP header", {
        f"compact-{size}B-100users-0ms": {"millicores": 1000, "connections": 100, "epoch": "compact", "size": size, "delay_ms": 0}
        for size in (500, 1024, 10240, 102400)
    })  # fmt: skip
    add("mule-client-id", "Client-ID enforcement, upstream of 70 ms",
        {f"vus-{users}": {"millicores": 100, "connections": users, "delay_ms": 70} for users in (25, 50, 100)}, "k6")  # fmt: skip
    add(
        "soak",
        "A title that is far too long for one line of a chart of this width",
        {f"part-{part}": {"connections": 50} for part in (1, 2, 3)},
        "k6",
    )
    for kind in ("rsa-2048", "p-256"):
        add(f"tls-{kind}", "TLS", {step: {"millicores": 1000} for step in ("reused", "fresh")})
    add("added-latency", "Added latency", {"reply-10KB": {"added_ms": {"p50": 0.3}}}, "k6")
    _add_startup(found, scenarios)
    _add_overhead(found, scenarios, chance)
    left_out = [{"scenario": "flex-max-qps", "what": "2000m", "why": "<two cores> are too few"}]
    return document(found, scenarios=scenarios, left_out=left_out)


def _add_startup(found: List[Dict[str, Any]], scenarios: Dict[str, Any]) -> None:
    scenarios["startup"] = {"title": "Start", "generator": "lab", "variants": _BOTH, "repetitions": 3}
    for step, millicores, workers in (("1000m-1w", 1000, 1), ("100m-1w", 100, 1), ("1000m-2w", 1000, 2)):
        for variant, seconds in (("bare", 0.2), ("policies", 0.8)):
            for repetition in range(3):
                found.append({
                    "scenario": "startup", "step": step, "variant": variant, "repetition": repetition, "generator": "lab",
                    "millicores": millicores, "workers": workers, "seconds_to_first_200": seconds * 1000 / millicores,
                    "cpu_seconds_to_first_200": seconds, "resident_bytes": 70 << 20, "resident_loaded_bytes": 90 << 20,
                })  # fmt: skip


def _add_overhead(found: List[Dict[str, Any]], scenarios: Dict[str, Any], chance: random.Random) -> None:
    scenarios["overhead"] = {"title": "Overhead", "generator": "overhead", "rounds": 10}
    cost = {"bare": 60.0, "no-op": 68.0, "chain": 95.0, "chain-headers": 96.0, "native-three": 140.0}
    for repetition in range(10):
        weather = chance.gauss(0, 3)
        for variant, microseconds in cost.items():
            spent = microseconds + weather + chance.gauss(0, 1)
            found.append({
                "scenario": "overhead", "step": "GET", "variant": variant, "title": variant, "repetition": repetition,
                "generator": "overhead", "cpu_us_per_request": spent, "added_cpu_us": spent - cost["bare"] - weather,
                "raw": "raw/overhead.json",
            })  # fmt: skip
