"""The Flex Gateway guide: throughput and latency by CPU limit and by payload."""

from __future__ import annotations

from typing import List

from .. import published
from ..data import Run, latency, qps
from ..svg import Chart
from .common import Figure, bar_chart, caption_of, reference_points, series_of


def by_millicores(run: Run) -> List[Figure]:
    scenario = "flex-max-qps"
    if not run.has(scenario):
        return []
    steps = run.steps(scenario)

    def limit(step: str) -> float:
        return float(run.fact(scenario, step, "millicores"))

    measured = {limit(step) for step in steps}
    there = {float(x): y for x, y in published.FLEX_MAX_QPS.items() if x <= max(max(measured), 1000)}
    throughput = series_of(run, scenario, steps, limit, qps, "requests/s")
    throughput.append(
        reference_points("published: Flex Gateway, other machine", there, published.FLEX, "requests/s")
    )
    charts = [
        Figure(
            "qps-by-millicores", "Throughput and latency by CPU limit",
            caption_of(run, scenario, "Published points: " + published.FLEX.machine + "."),
            Chart("Requests per second by CPU limit", "millicores", "requests/s", throughput).svg(),
        )
    ]  # fmt: skip
    for name, title in (
        ("mean", "Mean latency by CPU limit"),
        ("p99", "99th percentile of latency by CPU limit"),
    ):
        series = series_of(run, scenario, steps, limit, latency(name), "ms")
        charts.append(
            Figure(
                f"{name}-by-millicores", "Throughput and latency by CPU limit",
                "At the gateway's limit, with 64 connections that never pause." if run.document["profile"] == "sampled"
                else "At the gateway's limit.",
                Chart(title, "millicores", "ms", series).svg(),
            )
        )  # fmt: skip
    return charts


def by_payload(run: Run) -> List[Figure]:
    found = []
    for scenario, what in (("flex-get", "GET"), ("flex-post", "POST of 1 KB")):
        if not run.has(scenario):
            continue
        names = {step: step.replace("reply-", "") for step in run.steps(scenario)}
        for read, unit, title, name in (
            (qps, "requests/s", "requests per second", "qps"),
            (latency("mean"), "ms", "mean latency", "latency"),
        ):
            svg = bar_chart(
                run, scenario, names, f"{what}: {title} by size of the reply", read, unit, x_label="reply"
            )
            found.append(
                Figure(
                    f"{scenario}-{name}",
                    "By payload",
                    caption_of(run, scenario, "500 millicores, 200 connections."),
                    svg,
                )
            )
    return found


def sweeps(run: Run) -> List[Figure]:
    found = []
    for scenario, fact, what, fall in (
        ("flex-request-size", "request_bytes", "request", published.FLEX_REQUEST_SWEEP),
        ("flex-reply-size", "reply_bytes", "reply", published.FLEX_REPLY_SWEEP),
    ):
        if not run.has(scenario):
            continue
        limits = sorted({run.fact(scenario, step, "millicores") for step in run.steps(scenario)})
        for limit in limits:
            steps = [step for step in run.steps(scenario) if run.fact(scenario, step, "millicores") == limit]
            sizes = {step: run.fact(scenario, step, fact) / 1024 for step in steps}
            series = series_of(run, scenario, steps, sizes.__getitem__, qps, "requests/s")
            caption = caption_of(
                run,
                scenario,
                f"{limit} millicores, 200 connections. Published: throughput falls by {fall:.0%} from 1 to 200 KB.",
            )
            svg = Chart(
                f"Requests per second by size of the {what}", f"KB of the {what}", "requests/s", series
            ).svg()
            found.append(Figure(f"{scenario}-{limit}m", "By payload", caption, svg))
    return found
