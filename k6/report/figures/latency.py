"""Latency distributions."""

from __future__ import annotations

from typing import List

from ..data import Run, latency
from ..svg import Chart, Series
from .common import Figure, caption_of, point_at

_PERCENTILES = ["p50", "p90", "p95", "p99", "p99_9"]


def distributions(run: Run) -> List[Figure]:
    found = []
    for scenario in ("flex-max-qps", "flex-get", "mule-client-id"):
        steps = run.steps(scenario)
        if not steps:
            continue
        step = next((step for step in steps if step.startswith(("500m", "vus-25"))), steps[0])
        series = []
        for variant, title in run.variants(scenario).items():
            points = []
            for place, name in enumerate(_PERCENTILES):
                figure = run.figure(scenario, step, variant, latency(name))
                if figure is not None:
                    label = name.replace("_", ".")
                    points.append(point_at(float(place), figure, f"{title}, {label}", "ms"))
            series.append(Series(title, variant, points))
        names = ["50 %", "90 %", "95 %", "99 %", "99.9 %"]
        svg = Chart(
            f"Latency distribution: {scenario}, {step}", "of requests are faster", "ms", series, names
        ).svg()
        found.append(
            Figure(f"{scenario}-distribution", "Latency distributions", caption_of(run, scenario), svg)
        )
    return found
