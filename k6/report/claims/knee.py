"""Knee points: more users than that bring no more throughput."""

from __future__ import annotations

from typing import List, Optional, Tuple

from ..data import Run, qps
from .common import FACT, Claim

# As in k6/lib/knee.js: a step with more errors is past the knee, and throughput that is greater by less is the same.
_TOLERABLE_ERRORS = 0.01
_SIGNIFICANT = 0.02

_SCENARIOS = ("mule-proxy", "mule-client-id", "mule-rate-limit", "mule-one-core", "mule-streaming")


def knees(run: Run) -> List[Claim]:
    found = []
    for scenario in _SCENARIOS:
        steps = run.steps(scenario)
        texts = []
        for variant, title in run.variants(scenario).items():
            point = knee(run, scenario, variant)
            if point is not None:
                step, throughput = point
                users = run.fact(scenario, step, "connections")
                reached = "" if step != steps[-1] else ", where the ramp ends"
                texts.append(f"{title}: {throughput:.0f} requests/s at {users} users{reached}")
        if not texts:
            continue
        facts = run.document["scenarios"][scenario]
        found.append(
            Claim(
                f"{scenario}-knee",
                f"Knee point: {facts['title']}",
                "",
                "; ".join(texts),
                FACT,
                "The step with the most requests per second and at most 1 % of errors; of steps within 2 % of each other "
                "the one with the fewest users. Means over repetitions.",
                [
                    entry
                    for step in steps
                    for variant in run.variants(scenario)
                    for entry in run.repetitions(scenario, step, variant)
                ],
            )
        )
    return found


def knee(run: Run, scenario: str, variant: str) -> Optional[Tuple[str, float]]:
    """The step, and its requests per second; None where every step has too many errors."""
    eligible = []
    for step in run.steps(scenario):
        measured = run.repetitions(scenario, step, variant)
        requests = sum(entry["requests"] for entry in measured)
        figure = run.figure(scenario, step, variant, qps)
        if figure and requests and sum(entry["errors"] for entry in measured) <= _TOLERABLE_ERRORS * requests:
            eligible.append((step, figure.value))
    if not eligible:
        return None
    most = max(value for _, value in eligible)
    return next((step, value) for step, value in eligible if value >= most * (1 - _SIGNIFICANT))
