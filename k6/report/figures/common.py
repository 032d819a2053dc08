"""What all figures have in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable, Dict, List, Optional, Sequence

from lab.estimates import Estimate

from .. import published
from ..data import Reader, Run, qps
from ..scale import readable
from ..svg import Chart, Point, Series


@dataclass(frozen=True)
class Figure:
    name: str
    """Of its file."""
    section: str
    caption: str
    svg: str


def point_at(x: float, found: Estimate, what: str, unit: str, note: str = "") -> Point:
    margin = f" ± {readable(float(f'{found.margin:.2g}'))}" if found.count > 1 else ""
    tip = f"{what}\n{readable(float(f'{found.value:.4g}'))}{margin} {unit}{note}"
    return Point(x, found.value, max(0.0, found.low), found.high, tip)


def series_of(
    run: Run, scenario: str, steps: Sequence[str], x: Callable[[str], float], read: Reader, unit: str
) -> List[Series]:
    """One for each variant, over steps."""
    found = []
    for variant, title in run.variants(scenario).items():
        points = []
        for step in steps:
            figure = run.figure(scenario, step, variant, read)
            if figure is not None:
                bound = run.bound_by(scenario, step, variant)
                note = "" if bound == "gateway" else f"\nnot the gateway's limit: {bound}"
                points.append(
                    point_at(x(step), figure, f"{title}, {step}", unit, note if read is qps else "")
                )
        if points:
            found.append(Series(title, variant, points))
    return found


def reference_points(title: str, points: Dict[float, float], source: published.Source, unit: str) -> Series:
    tip = f"{source.name}\n{source.machine}"
    return Series(
        title, "published", [Point(x, y, tip=f"{readable(y)} {unit}\n{tip}") for x, y in points.items()]
    )


def caption_of(run: Run, scenario: str, more: str = "") -> str:
    facts = run.document["scenarios"][scenario]
    generators = {
        "fortio": "Load by fortio, which leaves more CPU time to the upstream than k6, and verifies less.",
        "k6": "Load by k6, which verifies every reply.",
    }
    repetitions = facts.get("repetitions", run.document["repetitions"])
    interval = (
        "Means with 95 % confidence intervals"
        if repetitions > 1
        else "One repetition, so that nothing is known of its noise"
    )
    return " ".join(
        part
        for part in (generators.get(facts["generator"], ""), f"{interval}; {repetitions} repetitions.", more)
        if part
    )


def bar_chart(
    run: Run, scenario: str, names: Dict[str, str], title: str, read: Reader, unit: str,
    reference: Optional[Series] = None, x_label: str = "", y_log: bool = False,
) -> str:  # fmt: skip
    """Bars by category; `names` has a category's name by step."""
    steps = list(names)
    series = series_of(run, scenario, steps, lambda step: float(steps.index(step)), read, unit)
    if reference is not None:
        series.append(reference)
    return Chart(
        title, x_label, unit, series, list(names.values()), kind="lines" if y_log else "bars", y_log=y_log
    ).svg()
