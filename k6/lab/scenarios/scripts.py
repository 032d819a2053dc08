"""Experiments that k6 makes the load for: a script with its phases, for each variant in turn. k6 verifies every
reply."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any, Callable, Dict, List

from ..account import Sampler
from ..bench import Bench, Conditions, split_cores, workers
from ..exchange import Request
from ..gateways import Backends, Gateway, running
from ..generators.k6 import K6, outcomes
from ..measurement import Subject, measurement
from ..profiles import Profile, seldom
from ..variants import Variant

# k6 compiles the script and makes its users; the policies are probed; the last requests end.
_OVERHEAD_SECONDS = 2.5
_START_SECONDS = 2.0

# What a phase of a summary has beside its figures.
_FIGURES = {
    "name", "vus", "warmup", "duration", "requests", "requests_per_second", "error_rate", "corrupt_rate",
    "latency_ms", "first_byte_ms", "handshake_ms", "direct_ms", "added_ms", "size", "delay",
}  # fmt: skip


@dataclass(frozen=True)
class Setting:
    """How a profile runs a script."""

    phases: int
    """How many phases the variables below make."""
    seconds: float
    warmup: float
    variables: Dict[str, str]


@dataclass(frozen=True)
class Script:
    """An experiment: a script of k6/scenarios within one limit."""

    name: str
    title: str
    script: str
    millicores: int
    variants: List[Variant]
    setting: Callable[[Profile], Setting]
    sample: Request
    """Such as the script sends."""
    by_variant: Callable[[str], Dict[str, str]] = lambda _: {}
    """Variables of the script that depend on the variant."""
    repetitions: Callable[[Profile], int] = seldom

    def facts(self, profile: Profile) -> Dict[str, Any]:
        setting = self.setting(profile)
        return {
            "title": self.title,
            "generator": "k6",
            "script": self.script,
            "variables": setting.variables,
            "variants": {variant.name: variant.title for variant in self.variants},
            "repetitions": self.repetitions(profile),
            "warmup_seconds": setting.warmup,
            "seconds": setting.seconds,
        }

    def expected_seconds(self, conditions: Conditions) -> float:
        profile = conditions.profile
        if conditions.problem(self.millicores):
            return 0.0
        run = self._seconds(profile) + _OVERHEAD_SECONDS
        return self.repetitions(profile) * len(self.variants) * (_START_SECONDS + run)

    def _seconds(self, profile: Profile) -> float:
        setting = self.setting(profile)
        return setting.phases * (setting.seconds + setting.warmup)

    def run(self, bench: Bench) -> None:
        why = bench.conditions.problem(self.millicores)
        if why:
            bench.record.leave_out(self.name, self.title, why)
            bench.progress.say(f"left out: {self.name}: {why}")
            return
        cores = split_cores(bench.cores, self.millicores)
        count = workers(self.millicores)
        variants = [variant for variant in self.variants if variant.is_available(count)]
        for variant in set(self.variants) - set(variants):
            bench.record.leave_out(self.name, variant.title, f"not available with {count} workers")
        for repetition in range(self.repetitions(bench.profile)):
            with running(bench, variants, cores, count, self.sample) as site:
                order = list(site.gateways)
                random.Random(f"{self.name} {repetition}").shuffle(order)
                for gateway in order:
                    bench.progress.step(f"{self.name} {gateway.variant.name} #{repetition + 1}")
                    self._measure(bench, repetition, gateway, site.backends)
                    bench.progress.done(self._seconds(bench.profile) + _OVERHEAD_SECONDS + _START_SECONDS)

    def _measure(self, bench: Bench, repetition: int, gateway: Gateway, services: Backends) -> None:
        setting = self.setting(bench.profile)
        cores = split_cores(bench.cores, self.millicores)
        gateway.limit(self.millicores, bench.handicap)
        variables = {
            "TARGET": f"http://127.0.0.1:{gateway.port}",
            "DIRECT": f"http://127.0.0.1:{services.echo.port}",
            "CREDENTIALS": "basic",
            "DURATION": f"{round(setting.seconds * 1000)}ms",
            "WARMUP": f"{round(setting.warmup * 1000)}ms",
            # What is too slow or refused is on record as that.
            "P95": "60000",
            "ERRORS": "1",
            "POLICIES": "client-id"
            if gateway.variant.refuses and gateway.variant.name != "native"
            else "none",
            **setting.variables,
            **self.by_variant(gateway.variant.name),
        }
        raw = bench.record.raw_file(self.name, gateway.variant.name, repetition)
        pids = {"gateway": gateway.process.pid, **services.pids}
        with Sampler(pids, gateway.group.throttling) as sampler:
            run = K6(self.script, variables, bench.folder, cores.load, raw)
            sampler.join("generator", run.process.pid)
            run.wait(self._seconds(bench.profile))
        summary = run.summary()
        for phase, outcome in zip(summary["phases"], outcomes(summary)):
            subject = Subject(
                scenario=self.name,
                step=phase["name"],
                variant=gateway.variant.name,
                repetition=repetition,
                generator="k6",
                millicores=self.millicores,
                allowed=gateway.allowed,
                facts={
                    "connections": phase["vus"],
                    "reply_bytes": phase.get("size"),
                    "delay_ms": phase.get("delay", 0),
                    **{name: value for name, value in phase.items() if name not in _FIGURES},
                },
                raw=str(raw.relative_to(bench.record.folder)),
            )
            window = sampler.window(outcome.start, outcome.start + outcome.seconds)
            bench.record.add(measurement(subject, outcome, window, cores))
