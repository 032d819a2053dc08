"""Records of runs that never were, for tests: every number is made up here."""

from __future__ import annotations

import random
from typing import Any, Dict, List

from ..results import FORMAT


def document(measurements: List[Dict[str, Any]], **facts: Any) -> Dict[str, Any]:
    return {
        "format": FORMAT,
        "started": "2026-01-31T12:00:00Z",
        "ended": "2026-01-31T12:20:00Z",
        "complete": True,
        "profile": "sampled",
        "repetitions": 3,
        "cpu_limit": "cgroup-v1",
        "memory_limit_bytes": 512 << 20,
        "handicap": 0.0,
        "cores": {"gateway_up_to_1000m": [1], "load": [0]},
        "machine": {
            "cpu": "Test CPU", "architecture": "x86_64", "cores": 2, "virtual": True, "memory_bytes": 8 << 30,
            "system": "Test", "kernel": "0",
        },
        "load_average_before": [0.1, 0.1, 0.1],
        "versions": {"envoy": "1.40.0"},
        "build": {"revision": "0123456789ab", "modules": {}},
        "scenarios": {},
        "left_out": [],
        "measurements": measurements,
        **facts,
    }  # fmt: skip


def measured(
    scenario: str, step: str, variant: str, repetition: int, qps: float, **facts: Any
) -> Dict[str, Any]:
    """One measurement of a gateway at its limit."""
    millicores = facts.pop("millicores", 500)
    mean = 1000 * facts.get("connections", 64) / qps
    return {
        "scenario": scenario,
        "step": step,
        "variant": variant,
        "repetition": repetition,
        "generator": "fortio",
        "millicores": millicores,
        "seconds": 2.5,
        "requests": round(2.5 * qps),
        "errors": 0,
        "requests_per_second": qps,
        "latency_ms": {
            "mean": mean, "stddev": mean / 3, "min": mean / 4, "p50": mean, "p90": 1.5 * mean, "p95": 1.7 * mean,
            "p99": 2 * mean, "p99_9": 3 * mean, "max": 4 * mean,
        },
        "gateway": {
            "millicores": 0.99 * millicores,
            "cpu_us_per_request": 990 * millicores / qps,
            "resident_peak_bytes": 80 << 20,
            "periods": 25, "throttled_periods": 20, "throttled_seconds": 0.5,
        },
        "load": {"millicores": {"echo": 100.0, "generator": 200.0}, "cores": 1, "shares_gateway_cores": False},
        "strangers": {"millicores": 3.0, "stolen_millicores": 0.0},
        "bound_by": "gateway",
        "quota_kept": True,
        "raw": "raw/none.json",
        **facts,
    }  # fmt: skip


def noisy(seed: int, slower: float = 0.0, noise: float = 0.02, drift: float = 0.0) -> Dict[str, Any]:
    """A run with noise of that size, whose policies are slower by that part. `drift` slows the whole machine down."""
    chance = random.Random(seed)
    found = []
    for scenario, steps in (("flex-max-qps", (250, 500, 1000)), ("flex-get", (500, 501, 502))):
        for millicores in steps:
            for repetition in range(3):
                # What the machine does falls on all variants of a repetition alike.
                weather = (1 - drift) * (1 + chance.gauss(0, 0.1))
                for variant, speed in (("bare", 14.0), ("policies", 9.0 * (1 - slower))):
                    qps = speed * millicores * weather * (1 + chance.gauss(0, noise))
                    found.append(
                        measured(scenario, f"{millicores}m", variant, repetition, qps, millicores=millicores)
                    )
    return document(found)
