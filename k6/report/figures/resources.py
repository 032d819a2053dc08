"""CPU time and memory, and what a start takes."""

from __future__ import annotations

from typing import List

from lab.estimates import quartiles

from .. import published
from ..data import Run, cpu, latency, millicores, qps, resident_mib
from ..svg import Point, rows
from .common import Figure, bar_chart, caption_of, reference_points


def cpu_and_memory(run: Run) -> List[Figure]:
    scenario = "flex-max-qps"
    if not run.has(scenario):
        return []
    names = {step: f"{run.fact(scenario, step, 'millicores')}m" for step in run.steps(scenario)}
    found = []
    for read, unit, title, name in (
        (millicores, "millicores", "CPU that the gateway has used", "cpu-used"),
        (cpu, "µs", "CPU time for each request", "cpu-per-request"),
        (resident_mib, "MiB", "Memory under load", "memory"),
    ):
        svg = bar_chart(run, scenario, names, title, read, unit, x_label="limit")
        found.append(Figure(name, "CPU and memory", caption_of(run, scenario), svg))
    return found


def overhead(run: Run) -> List[Figure]:
    scenario = "overhead"
    found = []
    for number, step in enumerate(run.steps(scenario)):
        entries = []
        for variant in run.document["scenarios"][scenario].get("order") or _measured(run, scenario, step):
            measured = run.repetitions(scenario, step, variant)
            if variant == "bare" or not measured:
                continue
            lower, middle, upper = quartiles([entry["added_cpu_us"] for entry in measured])
            tip = f"{measured[0]['title']}\n{middle:.1f} µs ({lower:.1f} to {upper:.1f})"
            style = (
                "native" if variant.startswith("native") else "no-op" if "no-op" in variant else "policies"
            )
            entries.append((variant, style, Point(middle, 0, lower, upper, tip)))
        if entries:
            svg = rows(f"CPU time that filters add: {step}", "µs per request over bare Envoy", entries)
            rounds = run.document["scenarios"][scenario]["rounds"]
            caption = (
                f"Medians and quartiles of differences to bare Envoy in the same round; {rounds} rounds. "
                "Not limited by a quota: what is measured is CPU time."
            )
            found.append(Figure(f"overhead-{number + 1}", "CPU and memory", caption, svg))
    return found


def _measured(run: Run, scenario: str, step: str) -> List[str]:
    return list(
        dict.fromkeys(
            entry["variant"] for entry in run.document["measurements"]
            if entry["scenario"] == scenario and entry["step"] == step
        )
    )  # fmt: skip


def endurance(run: Run) -> List[Figure]:
    """What a crowd, or hours, do to throughput, latency and memory."""
    found = []
    for scenario in ("spike", "soak"):
        if not run.has(scenario):
            continue
        names = {step: step.replace("part-", "") for step in run.steps(scenario)}
        title = run.document["scenarios"][scenario]["title"].split(":")[0].split(",")[0]
        for read, unit, what, name in (
            (qps, "requests/s", "requests per second", "qps"),
            (latency("p99"), "ms", "99th percentile of latency", "latency"),
            (resident_mib, "MiB", "memory", "memory"),
        ):
            svg = bar_chart(run, scenario, names, f"{title}: {what}", read, unit, x_label="in order of time")
            found.append(Figure(f"{scenario}-{name}", "Endurance", caption_of(run, scenario), svg))
    return found


def startup(run: Run) -> List[Figure]:
    scenario = "startup"
    if not run.has(scenario):
        return []
    steps = [step for step in run.steps(scenario) if step.endswith("-1w")]
    names = {step: f"{run.fact(scenario, step, 'millicores')}m" for step in steps}
    reference = reference_points(
        "published: a Mule app, at the most, other machine",
        {
            float(place): published.MULE_STARTUP_SECONDS[run.fact(scenario, step, "millicores")]
            for place, step in enumerate(steps)
            if run.fact(scenario, step, "millicores") in published.MULE_STARTUP_SECONDS
        },
        published.MULE,
        "s",
    )
    title = "From process start to the first reply"
    svg = bar_chart(
        run,
        scenario,
        names,
        title,
        lambda m: m.get("seconds_to_first_200"),
        "s",
        reference,
        "limit",
        y_log=True,
    )
    memory = bar_chart(
        run, scenario, {step: step.replace("-", ", ") for step in run.steps(scenario)}, "Memory after the first requests",
        lambda m: m["resident_loaded_bytes"] / (1 << 20), "MiB", x_label="limit, workers",
    )  # fmt: skip
    caption = f"{run.document['repetitions']} repetitions, fewer at the lowest limits. Published: {published.MULE.machine}."
    return [
        Figure("startup", "Start", caption, svg),
        Figure("startup-memory", "Start", f"Resident memory after 2000 requests. {caption}", memory),
    ]
