"""One measurement: what the load has seen, and what the gateway has used for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict

from .account import Usage
from .bench import Cores
from .generators import Outcome
from .limits.cgroup import PERIOD_MICROSECONDS

QUOTA_TOLERANCE = 0.05
"""A gateway that has used more CPU time than its quota and this part of it was not limited as the record says."""

# A window shorter than this can have one more refill of the quota in it than its length says by more than the
# tolerance.
_SHORT_SECONDS = 2.5

# Whoever uses more of what it may have than this is what limits the throughput.
_BUSY = 0.9


@dataclass(frozen=True)
class Subject:
    """What was measured."""

    scenario: str
    step: str
    variant: str
    repetition: int
    generator: str
    millicores: int
    """What the step says."""
    allowed: int
    """What the gateway was given: less with a handicap."""
    facts: Dict[str, Any]
    raw: str
    """The file of the generator, in the run's folder."""


def measurement(subject: Subject, outcome: Outcome, usage: Usage, cores: Cores) -> Dict[str, Any]:
    """As it stands in run.json: README.md describes it."""
    gateway = usage.millicores("gateway")
    right = outcome.requests - outcome.errors
    load = sum(usage.millicores(role) for role in usage.cpu if role not in ("gateway", "lab"))
    return {
        "scenario": subject.scenario,
        "step": subject.step,
        "variant": subject.variant,
        "repetition": subject.repetition,
        "generator": subject.generator,
        "millicores": subject.millicores,
        **subject.facts,
        "seconds": round(outcome.seconds, 4),
        "requests": outcome.requests,
        "errors": outcome.errors,
        "requests_per_second": round(outcome.requests / outcome.seconds, 3),
        "latency_ms": _rounded(outcome.latency_ms),
        **{name: _rounded(values) for name, values in outcome.extra.items()},
        "gateway": {
            "millicores": round(gateway, 2),
            "cpu_us_per_request": round(1e6 * usage.cpu["gateway"] / right, 3) if right > 0 else None,
            "resident_peak_bytes": usage.resident_peak,
            "periods": usage.throttling.periods,
            "throttled_periods": usage.throttling.throttled,
            "throttled_seconds": round(usage.throttling.seconds, 4),
        },
        "load": {
            "millicores": {
                role: round(usage.millicores(role), 2)
                for role in sorted(usage.cpu)
                if role not in ("gateway", "lab")
            },
            "cores": len(cores.load),
            "shares_gateway_cores": cores.shared,
        },
        "strangers": {
            "millicores": round(1000 * usage.others / usage.seconds, 1),
            "stolen_millicores": round(1000 * usage.stolen / usage.seconds, 1),
        },
        "bound_by": bound_by(gateway, load, subject.allowed, cores),
        "quota_kept": gateway <= allowance(subject.allowed, outcome.seconds),
        "raw": subject.raw,
    }


def allowance(millicores: int, seconds: float) -> float:
    """The most that a gateway can have used within its quota, in millicores."""
    extra = QUOTA_TOLERANCE
    if seconds < _SHORT_SECONDS:
        extra += PERIOD_MICROSECONDS / 1e6 / seconds
    return millicores * (1 + extra)


def bound_by(gateway: float, load: float, millicores: int, cores: Cores) -> str:
    """What kept the throughput from being higher: the `gateway` with its quota used up; the `load`, which is the
    generator with the backends; or `neither`: the number of connections, or the upstream's delay. Where it is not the
    gateway, the gateway could have done more."""
    if gateway >= _BUSY * min(millicores, 1000 * len(cores.gateway)):
        return "gateway"
    available = 1000 * len(cores.load) - (gateway if cores.shared else 0)
    return "load" if load >= _BUSY * available else "neither"


def _rounded(figures: Any) -> Any:
    if isinstance(figures, dict):
        return {name: round(value, 4) for name, value in figures.items()}
    return figures
