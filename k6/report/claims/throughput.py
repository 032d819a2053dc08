"""Requests per second."""

from __future__ import annotations

from typing import Callable, Dict, List, Optional, Tuple

from lab.estimates import bootstrap_r_squared, fit_means
from lab.results import Measurement

from .. import published
from ..data import Run, qps
from .common import FACT, Claim, at_least, best_step, throughput_claim


def per_millicore(run: Run) -> List[Claim]:
    found = []
    for limit in (250, 500, 1000):
        steps = [
            step
            for step in run.steps("flex-max-qps")
            if run.fact("flex-max-qps", step, "millicores") == limit
        ]
        best = best_step(run, "flex-max-qps", steps, "policies")
        if best is None:
            continue
        target = 5 * published.FLEX_MAX_QPS[limit]
        found.append(
            throughput_claim(
                run, f"qps-{limit}m", "flex-max-qps", best, target,
                f"Requests per second with client-id and access-log at {limit} millicores, reply of 1 KB",
                f"5 times the published {published.FLEX_MAX_QPS[limit]:g}/s",
            )
        )  # fmt: skip
    return found


def _by_limit(run: Run, variant: str) -> Tuple[List[Tuple[float, List[float]]], List[Measurement]]:
    """Throughputs by CPU limit, where the gateway was what limited them."""
    scenario = "flex-max-qps"
    found, used = [], []
    for step in run.steps(scenario):
        limit = run.fact(scenario, step, "millicores")
        repetitions = run.repetitions(scenario, step, variant)
        values = [value for value in map(qps, repetitions) if value is not None]
        if values and limit >= 250 and run.bound_by(scenario, step, variant) == "gateway":
            found.append((float(limit), values))
            used += repetitions
    return (found if len({limit for limit, _ in found}) >= 3 else []), used


def linear(run: Run) -> List[Claim]:
    goal = 0.99
    samples, used = _by_limit(run, "policies")
    if not samples:
        return []
    line, explained = fit_means(samples), bootstrap_r_squared(samples)
    beside = ""
    bare, bare_used = _by_limit(run, "bare")
    if bare:
        beside, used = f"; bare Envoy {fit_means(bare).r_squared:.4f}", used + bare_used
    margin = f" ± {explained.margin:.4f}" if explained.count > 1 else ""
    return [
        Claim(
            "linear", "Throughput grows in proportion to the CPU limit, from 250 millicores on", f"R² of at least {goal}",
            f"R² {line.r_squared:.4f}{margin}{beside}; {line.slope * 1000:.0f} requests/s for each core",
            at_least(explained, goal),
            "Least squares through the means of those limits at which the gateway was what limited the throughput, with the "
            "95 % interval by bootstrap of the repetitions.",
            used,
        )
    ]  # fmt: skip


def wso2(run: Run) -> List[Claim]:
    found = []
    factors: Dict[str, Callable[[int], Optional[float]]] = {
        "wso2-soap": lambda size: 10.0 if size <= 1024 else 50.0 if size == 102400 else None,
        "wso2-transport": lambda size: 10.0 if size <= 1024 else None,
        "wso2-xslt": lambda size: 10.0 if size <= 1024 else 15.0,
    }
    for scenario, factor in factors.items():
        for size, there in published.WSO2_TPS[scenario].items():
            times = factor(size)
            steps = [
                step for step in run.steps(scenario)
                if run.fact(scenario, step, "size") == size and run.fact(scenario, step, "delay_ms") == 0
            ]  # fmt: skip
            best = best_step(run, scenario, steps, "policies")
            if times is None or best is None:
                continue
            title = run.document["scenarios"][scenario]["title"]
            found.append(
                throughput_claim(
                    run, f"{scenario}-{size}", scenario, best, times * there,
                    f"{title}: requests per second on one core, message of {size} bytes ({run.fact(scenario, best, 'epoch')})",
                    f"{times:g} times the published {there:g}/s",
                )
            )  # fmt: skip
    return found


def sweeps(run: Run) -> List[Claim]:
    found = []
    for scenario, fact, what, fall in (
        ("flex-request-size", "request_bytes", "request", published.FLEX_REQUEST_SWEEP),
        ("flex-reply-size", "reply_bytes", "reply", published.FLEX_REPLY_SWEEP),
    ):
        steps = run.steps(scenario)
        sizes = {run.fact(scenario, step, fact): step for step in steps}
        if len(sizes) < 2:
            continue
        small, large = sizes[min(sizes)], sizes[max(sizes)]
        figures = [
            run.figure(scenario, step, variant, qps)
            for variant in ("policies", "bare")
            for step in (small, large)
        ]
        if any(figure is None for figure in figures):
            continue
        falls = [1 - late.value / early.value for early, late in (figures[:2], figures[2:])]  # type: ignore[union-attr]
        found.append(
            Claim(
                scenario, f"How far throughput falls when the {what} grows from {min(sizes) // 1024} to {max(sizes) // 1024} KB",
                "", f"by {falls[0]:.0%}; bare Envoy by {falls[1]:.0%} (published, of another machine: {fall:.0%})", FACT,
                "One minus the ratio of the means, within the run.",
                [entry for step in (small, large) for variant in ("policies", "bare")
                 for entry in run.repetitions(scenario, step, variant)],
            )
        )  # fmt: skip
    return found
