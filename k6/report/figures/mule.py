"""The Mule report: knee curves, TLS, what a gateway adds to the latency."""

from __future__ import annotations

from typing import List

from .. import published
from ..data import Run, latency, qps
from ..svg import Chart, Series
from .common import Figure, bar_chart, caption_of, point_at, reference_points, series_of


def knees(run: Run) -> List[Figure]:
    found = []
    for scenario in ("mule-proxy", "mule-client-id", "mule-rate-limit", "mule-one-core", "mule-streaming"):
        if not run.has(scenario):
            continue
        steps = run.steps(scenario)

        def users(step: str, scenario: str = scenario) -> float:
            return float(run.fact(scenario, step, "connections"))

        title = run.document["scenarios"][scenario]["title"].split(",")[0]
        limit = run.fact(scenario, steps[0], "millicores")
        for read, unit, what, name in (
            (qps, "requests/s", "requests per second", "qps"),
            (latency("p50"), "ms", "median latency", "latency"),
        ):
            chart = Chart(
                f"{title}: {what}", "users", unit, series_of(run, scenario, steps, users, read, unit)
            )
            caption = caption_of(
                run,
                scenario,
                f"{limit} millicores, upstream of 70 ms. The knee is where throughput stops growing.",
            )
            found.append(Figure(f"{scenario}-{name}", "Knee curves", caption, chart.svg()))
    return found


def tls(run: Run) -> List[Figure]:
    kinds = [kind for kind in ("rsa-2048", "rsa-4096", "p-256") if run.has(f"tls-{kind}")]
    if not kinds:
        return []
    found = []
    for step, title in (("fresh", "a new connection for each request"), ("reused", "connections kept alive")):
        series = []
        for variant in ("bare", "policies"):
            points = []
            label = ""
            for place, kind in enumerate(kinds):
                label = run.variants(f"tls-{kind}").get(variant, variant)
                figure = run.figure(f"tls-{kind}", step, variant, qps)
                if figure is not None:
                    points.append(point_at(float(place), figure, f"{label}, {kind}", "requests/s"))
            series.append(Series(label, variant, points))
        reference = {
            float(place): published.MULE_TLS[f"tls-{kind}"][step]
            for place, kind in enumerate(kinds)
            if f"tls-{kind}" in published.MULE_TLS
        }
        series.append(
            reference_points(
                "published: Runtime Fabric, per core, other machine", reference, published.MULE, "requests/s"
            )
        )
        chart = Chart(
            f"TLS, {title}",
            "certificate",
            "requests/s",
            series,
            [kind.upper() for kind in kinds],
            kind="bars",
        )
        found.append(
            Figure(
                f"tls-{step}",
                "TLS",
                caption_of(run, f"tls-{kinds[0]}", "One core, TLS 1.3, replies of 10 KB."),
                chart.svg(),
            )
        )
    return found


def added_latency(run: Run) -> List[Figure]:
    scenario = "added-latency"
    if not run.has(scenario):
        return []
    names = {step: step.replace("reply-", "") for step in run.steps(scenario)}

    def added(measured):
        return measured["added_ms"]["p50"] if measured.get("added_ms") else None

    svg = bar_chart(
        run, scenario, names, "What the gateway adds to the latency, median", added, "ms", x_label="reply"
    )
    caption = caption_of(
        run, scenario,
        f"One user; the difference between pairs of requests, through the gateway and directly. Published: "
        f"{published.MULE_ESB_ADDED_MS:g} ms (Mule ESB as an API proxy, 32 cores, replies of 10 to 300 KB).",
    )  # fmt: skip
    return [Figure("added-latency", "Latency distributions", caption, svg)]
