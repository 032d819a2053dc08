"""Whether one run differs from another by more than noise.

What is compared is the ratio to bare Envoy within the same repetition of the same step: what the machine did in the
meantime falls on both alike, so that runs of different days can be compared. Bare Envoy itself is compared as it
stands, and says whether the machine was the same.

Every scenario and variant has one verdict for each metric, over all of its steps: few repetitions of one step prove
little, many steps together prove much. A difference counts if it is both beyond chance (a permutation test, corrected
for how many there are) and large enough to matter: two runs of one build differ by a few percent for reasons that no
repetition within a run shows, such as where the kernel has put what.
"""

from __future__ import annotations

import argparse
import math
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional, Tuple

from .estimates import Stratum, holm, least_p, permutation_test, stratified_difference
from .results import Document, Measurement, NoRun, load

SIGNIFICANCE = 0.05
LEAST_EFFECT = 0.05
"""The part by which a metric must differ."""

SAME, WORSE, UNUSABLE = 0, 1, 2


@dataclass(frozen=True)
class Metric:
    """Something of a measurement that should be small, or great."""

    name: str
    more_is_better: bool
    read: Callable[[Measurement], Optional[float]]


def _cpu(measured: Measurement) -> Optional[float]:
    gateway = measured.get("gateway")
    return gateway["cpu_us_per_request"] if gateway else measured.get("cpu_us_per_request")


def _throughput(measured: Measurement) -> Optional[float]:
    # Where the load or a delay limits the throughput it says nothing about the gateway.
    return measured.get("requests_per_second") if measured.get("bound_by") == "gateway" else None


def _latency(measured: Measurement) -> Optional[float]:
    # At its limit a gateway's latency is the number of connections divided by its throughput: that has its metric.
    latency = measured.get("latency_ms")
    return latency["p50"] if latency and measured.get("bound_by") == "neither" else None


METRICS = (
    Metric("requests per second", True, _throughput),
    Metric("CPU time per request", False, _cpu),
    Metric("median latency", False, _latency),
    Metric("time to first reply", False, lambda measured: measured.get("seconds_to_first_200")),
)


@dataclass(frozen=True)
class Finding:
    """What became of a metric of a variant in a scenario."""

    scenario: str
    variant: str
    metric: Metric
    change: float
    """The second run's part above the first's: 0.1 is ten percent more."""
    p: float
    """Corrected for the number of findings."""
    steps: int
    is_decidable: bool
    """Whether there are enough repetitions for any difference to be beyond chance."""

    @property
    def is_significant(self) -> bool:
        return self.is_decidable and self.p < SIGNIFICANCE and abs(self.change) >= LEAST_EFFECT

    @property
    def is_worse(self) -> bool:
        return self.is_significant and (self.change < 0) == self.metric.more_is_better

    @property
    def verdict(self) -> str:
        if not self.is_decidable:
            return "too few repetitions to tell"
        if not self.is_significant:
            return "no difference beyond noise"
        return "WORSE" if self.is_worse else "better"


Test = Tuple[str, str, Metric, List[Stratum]]
"""Scenario, variant, metric, and the values of both runs by step."""


def findings(base: Document, new: Document) -> List[Finding]:
    """Of everything that both runs have measured."""
    tested: List[Test] = []
    for metric in METRICS:
        old_logs, new_logs = _logarithms(base, metric), _logarithms(new, metric)
        families: Dict[Tuple[str, str], List[Stratum]] = {}
        for (scenario, step, variant), values in old_logs.items():
            others = new_logs.get((scenario, step, variant))
            if others:
                families.setdefault((scenario, variant), []).append((values, others))
        tested += [(scenario, variant, metric, strata) for (scenario, variant), strata in families.items()]
    return [finding for family in _families(tested) for finding in _judge(family)]


def _families(tested: List[Test]) -> List[List[Test]]:
    """Tests that are corrected for together: those of bare Envoy have no say. One that cannot come out significant is
    none of the others' business (R. E. Tarone, A Modified Bonferroni Method for Discrete Data, 1990)."""
    families: Dict[Tuple[bool, bool], List[Test]] = {}
    for test in tested:
        _scenario, variant, _metric, strata = test
        families.setdefault((variant == "bare", _is_decidable(strata)), []).append(test)
    return list(families.values())


def _is_decidable(strata: List[Stratum]) -> bool:
    return least_p(strata) < SIGNIFICANCE


def _judge(tests: List[Test]) -> List[Finding]:
    p_values = holm([permutation_test(strata) for *_, strata in tests])
    return [
        Finding(
            scenario,
            variant,
            metric,
            math.exp(stratified_difference(strata)) - 1,
            p,
            len(strata),
            _is_decidable(strata),
        )
        for (scenario, variant, metric, strata), p in zip(tests, p_values)
    ]


def _logarithms(document: Document, metric: Metric) -> Dict[Tuple[str, str, str], List[float]]:
    """The logarithm of a metric by scenario, step and variant, one value for each repetition: of its ratio to bare
    Envoy's in the same repetition. Where bare Envoy has no value, there is no ratio."""
    values: Dict[Tuple[str, str, int], Dict[str, float]] = {}
    for measured in document["measurements"]:
        value = metric.read(measured)
        if value is not None and value > 0:
            place = (measured["scenario"], measured["step"], measured["repetition"])
            values.setdefault(place, {})[measured["variant"]] = math.log(value)
    found: Dict[Tuple[str, str, str], List[float]] = {}
    for (scenario, step, _repetition), variants in sorted(values.items()):
        bare = variants.get("bare")
        if bare is None:
            continue
        for variant, value in variants.items():
            ratio = value if variant == "bare" else value - bare
            found.setdefault((scenario, step, variant), []).append(ratio)
    return found


def caveats(base: Document, new: Document) -> List[str]:
    """Why a comparison may mislead."""
    found = []
    for what in ("profile", "cpu_limit", "memory_limit_bytes", "machine", "versions"):
        if base.get(what) != new.get(what):
            found.append(f"the runs differ in {what}: {_short(base.get(what))}, {_short(new.get(what))}")
    for name, document in (("base", base), ("new", new)):
        if not document.get("complete"):
            found.append(f"the {name} run is not complete")
    return found


def report(base: Document, new: Document, found: List[Finding]) -> str:
    lines = [
        f"base  {base['started']}  {base['build']['revision']}",
        f"new   {new['started']}  {new['build']['revision']}",
        *(f"note: {caveat}" for caveat in caveats(base, new)),
        "",
        "| scenario | variant | metric | change | p | steps | |",
        "|---|---|---|---|---|---|---|",
    ]
    for finding in sorted(
        found, key=lambda finding: (not finding.is_significant, finding.scenario, finding.variant)
    ):
        lines.append(
            f"| {finding.scenario} | {finding.variant} | {finding.metric.name} | {finding.change:+.1%} "
            f"| {finding.p:.4f} | {finding.steps} | {finding.verdict} |"
        )
    worse = sum(finding.is_worse for finding in judged(found))
    better = sum(finding.is_significant and not finding.is_worse for finding in judged(found))
    undecidable = sum(not finding.is_decidable for finding in judged(found))
    lines += [
        "",
        "Changes are of ratios to bare Envoy in the same repetition; those of `bare` are of the machine.",
        f"{worse} worse, {better} better, {len(judged(found)) - worse - better - undecidable} without a difference "
        f"beyond noise (at least {LEAST_EFFECT:.0%}, p below {SIGNIFICANCE} after correction), {undecidable} measured "
        "too seldom to tell.",
    ]
    return "\n".join(lines)


def judged(found: List[Finding]) -> List[Finding]:
    """Bare Envoy has no say: it is not what was changed."""
    return [finding for finding in found if finding.variant != "bare"]


def main(words: List[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="bench-compare",
        description="Whether a run differs from another by more than noise.",
        epilog="Exit status: 0 if nothing is worse, 1 if something is, 2 if the runs cannot be compared.",
    )
    parser.add_argument("base", type=Path, help="a run.json, or a run's folder")
    parser.add_argument("new", type=Path)
    options = parser.parse_args(words)
    try:
        base, new = load(options.base), load(options.new)
    except NoRun as problem:
        print(f"bench-compare: {problem}", file=sys.stderr)
        return UNUSABLE
    found = findings(base, new)
    if not judged(found):
        print("bench-compare: the runs have no measurements in common", file=sys.stderr)
        return UNUSABLE
    print(report(base, new, found))
    return WORSE if any(finding.is_worse for finding in judged(found)) else SAME


def _short(facts: Any) -> str:
    if isinstance(facts, dict):
        return " ".join(f"{name}={value}" for name, value in sorted(facts.items()))
    return str(facts)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
