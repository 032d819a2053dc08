"""What policies cost beside others in the same run."""

from __future__ import annotations

from typing import List

from lab.estimates import bootstrap_median, estimate

from ..data import Run, cpu
from .common import FACT, Claim, at_most


def _cpu_ratio(
    run: Run, name: str, text: str, goal: str, limit: float, variant: str, other: str, minus: float
) -> List[Claim]:
    found = []
    for number, step in enumerate(run.steps("overhead")):
        pairs = run.paired_ratio("overhead", step, variant, other, cpu)
        if not pairs:
            continue
        ratio = bootstrap_median([value - minus for value, *_ in pairs])
        figure = f"{ratio.value:.1%}" if minus else f"{ratio.value:.2f} ×"
        margin = f"{ratio.margin:.1%}" if minus else f"{ratio.margin:.2f}"
        found.append(
            Claim(
                f"{name}-{number + 1}" if number else name,
                f"{text} ({step})",
                goal,
                f"{figure} (± {margin})",
                at_most(ratio, limit),
                "Median of ratios of CPU time per request within the same round, with its 95 % bootstrap interval.",
                [entry for _, *pair in pairs for entry in pair],
            )
        )
    return found


def chain(run: Run) -> List[Claim]:
    return _cpu_ratio(
        run, "chain", "CPU time of a request with client-id, rate-limit and access-log as one chain, beside a no-op Wasm filter",
        "at most 1.5 ×", 1.5, "chain", "no-op", 0.0,
    )  # fmt: skip


def headers(run: Run) -> List[Claim]:
    return _cpu_ratio(
        run, "headers", "What rate limit headers cost a request, beside the same chain without them",
        "at most 2 % (published: 12 to 19 % of the throughput)", 0.02, "chain-headers", "chain", 1.0,
    )  # fmt: skip


def beside(run: Run) -> List[Claim]:
    """Ratios within the run."""
    found = []
    for scenario in ("flex-max-qps", "wso2-soap", "wso2-transport", "wso2-xslt"):
        titles = run.variants(scenario)
        for other in ("bare", "no-op", "native", "lua"):
            if other not in titles or "policies" not in titles:
                continue
            pairs = [
                pair
                for step in run.steps(scenario)
                for pair in run.paired_ratio(scenario, step, "policies", other, cpu)
            ]
            if not pairs:
                continue
            ratio = estimate([value for value, *_ in pairs])
            title = run.document["scenarios"][scenario]["title"]
            found.append(
                Claim(
                    f"{scenario}-beside-{other}",
                    f"{title}: CPU time of a request with “{titles['policies']}”, beside “{titles[other]}”",
                    "", f"{ratio.value:.2f} ×" + (f" (± {ratio.margin:.2f})" if ratio.count > 1 else ""), FACT,
                    "Mean of ratios within the same repetition and step, over all steps; same machine, same run.",
                    [entry for _, *pair in pairs for entry in pair],
                )
            )  # fmt: skip
    return found
