"""What all claims have in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, List, Optional

from lab.estimates import Estimate
from lab.results import Measurement

from ..data import Run, qps

# What else than the gateway limited a throughput.
_LIMITS = {
    "load": ", limited by the load generator and the upstream",
    "neither": ", not limited by the gateway",
    "mixed": ", not always limited by the gateway",
}

MET, MISSED, UNDECIDED, FACT = "met", "missed", "not decided", "no goal"


@dataclass(frozen=True)
class Claim:
    name: str
    """Of its file."""
    text: str
    goal: str
    figure: str
    verdict: str
    method: str
    measurements: List[Measurement]

    def raw(self, document: Dict[str, Any]) -> Dict[str, Any]:
        """For its file: everything that it takes to work it out again."""
        return {
            "format": "portcullis-claim/1",
            "claim": self.text,
            "goal": self.goal,
            "figure": self.figure,
            "verdict": self.verdict,
            "method": self.method,
            "run": {
                name: document[name]
                for name in ("started", "profile", "machine", "versions", "build", "cpu_limit")
            },
            "measurements": self.measurements,
        }


def verdict(holds: bool) -> str:
    return MET if holds else MISSED


def at_most(figure: Estimate, limit: float) -> str:
    """Whether a figure is at most that, as far as its interval tells."""
    if figure.high <= limit:
        return MET
    return MISSED if figure.low > limit else UNDECIDED


def at_least(figure: Estimate, limit: float) -> str:
    if figure.count == 1:
        return verdict(figure.value >= limit)
    if figure.low >= limit:
        return MET
    return MISSED if figure.high < limit else UNDECIDED


def best_step(run: Run, scenario: str, steps: List[str], variant: str) -> Optional[str]:
    """The step with the most requests per second."""
    figures = [(run.figure(scenario, step, variant, qps), step) for step in steps]
    there = [(figure.value, step) for figure, step in figures if figure is not None]
    return max(there)[1] if there else None


def throughput_claim(
    run: Run, name: str, scenario: str, step: str, target: float, text: str, why: str
) -> Claim:
    """Whether throughput reaches a number. A number of another machine: no ratio is worked out."""
    figure = run.figure(scenario, step, "policies", qps)
    assert figure is not None
    bound = run.bound_by(scenario, step, "policies")
    note = _LIMITS.get(bound, "")
    verdict = at_least(figure, target)
    if verdict == MISSED and bound != "gateway":
        # The gateway could have done more.
        verdict = UNDECIDED
    margin = f" ± {figure.margin:.0f}" if figure.count > 1 else ""
    bare = run.figure(scenario, step, "bare", qps)
    beside = f"; bare Envoy {bare.value:.0f}" if bare is not None else ""
    return Claim(
        name, text, f"at least {target:.0f}/s: {why}, of another machine", f"{figure.value:.0f}{margin} requests/s{note}{beside}",
        verdict,
        "Mean over repetitions with its 95 % confidence interval. The published number is of another machine, so that "
        "it is a goal and no baseline; what bare Envoy does here is beside it.",
        run.repetitions(scenario, step, "policies") + run.repetitions(scenario, step, "bare"),
    )  # fmt: skip
