"""Routing and transformation of SOAP messages."""

from __future__ import annotations

from typing import List

from .. import published
from ..data import Run, qps
from .common import Figure, bar_chart, caption_of, reference_points


def wso2(run: Run) -> List[Figure]:
    found = []
    titles = {
        "wso2-soap": "Routing by a SOAP header", "wso2-transport": "Routing by an HTTP header",
        "wso2-xslt": "XSLT, request and reply",
    }  # fmt: skip
    for scenario, title in titles.items():
        if not run.has(scenario):
            continue
        for epoch in ("compact", "indented"):
            for users in sorted({run.fact(scenario, step, "connections") for step in run.steps(scenario)}):
                steps = [
                    step for step in run.steps(scenario)
                    if run.fact(scenario, step, "epoch") == epoch and run.fact(scenario, step, "delay_ms") == 0
                    and run.fact(scenario, step, "connections") == users
                ]  # fmt: skip
                if not steps:
                    continue
                sizes = [run.fact(scenario, step, "size") for step in steps]
                reference = reference_points(
                    "published: WSO2, 2 vCPU, other machine",
                    {
                        float(place): published.WSO2_TPS[scenario][size]
                        for place, size in enumerate(sizes)
                        if size in published.WSO2_TPS[scenario]
                    },
                    published.WSO2,
                    "requests/s",
                )
                names = {step: _size(size) for step, size in zip(steps, sizes)}
                caption = caption_of(
                    run, scenario,
                    f"{users} users, no delay, {epoch} messages; the gateway has one core, load and upstream another. "
                    "Published: indented messages.",
                )  # fmt: skip
                svg = bar_chart(
                    run, scenario, names, title, qps, "requests/s", reference, "message", y_log=True
                )
                found.append(
                    Figure(f"{scenario}-{epoch}-{users}", "Routing and transformation", caption, svg)
                )
    return found


def _size(size: int) -> str:
    return f"{size // 1024} KB" if size >= 1024 else f"{size} B"
