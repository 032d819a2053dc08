"""Reads what a run has measured."""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Optional, Tuple

from lab.estimates import Estimate, estimate
from lab.results import Document, Measurement

Reader = Callable[[Measurement], Optional[float]]


def qps(measured: Measurement) -> Optional[float]:
    return measured.get("requests_per_second")


def latency(name: str) -> Reader:
    def read(measured: Measurement) -> Optional[float]:
        figures = measured.get("latency_ms")
        return figures[name] if figures else None

    return read


def cpu(measured: Measurement) -> Optional[float]:
    gateway = measured.get("gateway")
    return gateway["cpu_us_per_request"] if gateway else measured.get("cpu_us_per_request")


def millicores(measured: Measurement) -> Optional[float]:
    return measured["gateway"]["millicores"] if "gateway" in measured else None


def resident_mib(measured: Measurement) -> Optional[float]:
    return measured["gateway"]["resident_peak_bytes"] / (1 << 20) if "gateway" in measured else None


class Run:
    """A run's measurements, by scenario, step and variant."""

    def __init__(self, document: Document):
        self.document = document
        self._by_step: Dict[str, Dict[str, Dict[str, List[Measurement]]]] = {}
        for measured in document["measurements"]:
            scenario = self._by_step.setdefault(measured["scenario"], {})
            scenario.setdefault(measured["step"], {}).setdefault(measured["variant"], []).append(measured)

    def has(self, scenario: str) -> bool:
        return scenario in self._by_step

    def steps(self, scenario: str) -> List[str]:
        """In the order in which they were measured."""
        return list(self._by_step.get(scenario, {}))

    def variants(self, scenario: str) -> Dict[str, str]:
        """Names and titles of those that were measured, in the scenario's order."""
        titles = self.document["scenarios"].get(scenario, {}).get("variants", {})
        measured = {variant for step in self._by_step.get(scenario, {}).values() for variant in step}
        return {name: title for name, title in titles.items() if name in measured}

    def repetitions(self, scenario: str, step: str, variant: str) -> List[Measurement]:
        return self._by_step.get(scenario, {}).get(step, {}).get(variant, [])

    def fact(self, scenario: str, step: str, name: str) -> Any:
        """What is the same for all measurements of a step."""
        for measured in self._by_step[scenario][step].values():
            return measured[0].get(name)
        return None

    def figure(self, scenario: str, step: str, variant: str, read: Reader) -> Optional[Estimate]:
        """Over repetitions; None where there is nothing."""
        values = [
            value for value in map(read, self.repetitions(scenario, step, variant)) if value is not None
        ]
        return estimate(values) if values else None

    def bound_by(self, scenario: str, step: str, variant: str) -> str:
        """What limited the throughput, if it was the same in all repetitions; else `mixed`."""
        found = {measured.get("bound_by") for measured in self.repetitions(scenario, step, variant)}
        return str(found.pop()) if len(found) == 1 else "mixed"

    def paired_ratio(
        self, scenario: str, step: str, variant: str, other: str, read: Reader
    ) -> List[Tuple[float, Measurement, Measurement]]:
        """A variant's figure divided by another's, repetition by repetition."""
        others = {measured["repetition"]: measured for measured in self.repetitions(scenario, step, other)}
        found = []
        for measured in self.repetitions(scenario, step, variant):
            beside = others.get(measured["repetition"])
            value = read(measured)
            divisor = read(beside) if beside else None
            if beside is not None and value is not None and divisor:
                found.append((value / divisor, measured, beside))
        return found
