"""Experiments that fortio makes the load for: step by step, each variant in turn."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional

from ..account import Sampler
from ..bench import Bench, Conditions, split_cores, workers
from ..exchange import Request
from ..gateways import Backends, Gateway, check_reply, running
from ..generators.fortio import Fortio
from ..measurement import Subject, measurement
from ..profiles import Profile, seldom
from ..variants import Variant

# What a measurement takes beside load and warm-up: processes that start, replies that are checked.
_OVERHEAD_SECONDS = 0.7
# A gateway's start, warm-up and stop.
_START_SECONDS = 2.0


@dataclass(frozen=True)
class Step:
    """What is varied in an experiment."""

    name: str
    millicores: int
    connections: int
    request: Request
    facts: Dict[str, Any] = field(default_factory=dict)
    """What the report shows it by: sizes, delays."""
    reuse: bool = True
    """Whether connections are kept alive."""


@dataclass(frozen=True)
class Steps:
    """An experiment: every step, for every variant, as often as the profile says."""

    name: str
    title: str
    variants: List[Variant]
    matrix: Callable[[Profile], List[Step]]
    tls: Optional[Callable[[Path], Path]] = None
    """Makes the certificate in a folder."""
    repetitions: Callable[[Profile], int] = seldom

    def facts(self, profile: Profile) -> Dict[str, Any]:
        return {
            "title": self.title,
            "generator": "fortio",
            "variants": {variant.name: variant.title for variant in self.variants},
            "repetitions": self.repetitions(profile),
            "warmup_seconds": profile.warmup,
            "seconds": profile.seconds,
        }

    def expected_seconds(self, conditions: Conditions) -> float:
        profile = conditions.profile
        steps = [step for step in self.matrix(profile) if not conditions.problem(step.millicores)]
        starts = len({workers(step.millicores) for step in steps}) * len(self.variants) * _START_SECONDS
        load = len(steps) * len(self.variants) * _step_seconds(profile)
        return self.repetitions(profile) * (starts + load)

    def run(self, bench: Bench) -> None:
        steps = []
        for step in self.matrix(bench.profile):
            why = bench.conditions.problem(step.millicores)
            if why:
                bench.record.leave_out(self.name, step.name, why)
                bench.progress.say(f"left out: {self.name} {step.name}: {why}")
            else:
                steps.append(step)
        tls = self.tls(bench.folder) if self.tls else None
        for repetition in range(self.repetitions(bench.profile)):
            for count, group in groupby(steps, key=lambda step: workers(step.millicores)):
                self._repeat(bench, repetition, count, list(group), tls)

    def _repeat(
        self, bench: Bench, repetition: int, count: int, steps: List[Step], tls: Optional[Path]
    ) -> None:
        variants = [variant for variant in self.variants if variant.is_available(count)]
        for variant in set(self.variants) - set(variants):
            bench.record.leave_out(self.name, variant.title, f"not available with {count} workers")
        cores = split_cores(bench.cores, steps[0].millicores)
        with running(bench, variants, cores, count, steps[0].request, tls) as site:
            for step in steps:
                # In another order each time, the same in each run.
                order = list(site.gateways)
                random.Random(f"{self.name} {step.name} {repetition}").shuffle(order)
                for gateway in order:
                    bench.progress.step(f"{self.name} {step.name} {gateway.variant.name} #{repetition + 1}")
                    bench.record.add(self._measure(bench, repetition, step, gateway, site.backends))
                    bench.progress.done(_step_seconds(bench.profile))

    def _measure(
        self, bench: Bench, repetition: int, step: Step, gateway: Gateway, services: Backends
    ) -> Dict[str, Any]:
        cores = split_cores(bench.cores, step.millicores)
        gateway.limit(step.millicores, bench.handicap)
        request = step.request.settled(gateway.port)
        check_reply(gateway, request)
        profile = bench.profile

        def load(seconds: float, report: Optional[Path] = None) -> Fortio:
            return Fortio(
                request, gateway.port, step.connections, ["-t", f"{seconds}s"],
                bench.folder, cores.load, report, gateway.tls, step.reuse,
            )  # fmt: skip

        load(profile.warmup).wait(profile.warmup)
        raw = bench.record.raw_file(self.name, step.name, gateway.variant.name, repetition)
        pids = {"gateway": gateway.process.pid, **services.pids}
        with Sampler(pids, gateway.group.throttling) as sampler:
            run = load(profile.seconds, raw)
            sampler.join("generator", run.process.pid)
            run.wait(profile.seconds)
        check_reply(gateway, request)
        outcome = run.outcome()
        subject = Subject(
            scenario=self.name,
            step=step.name,
            variant=gateway.variant.name,
            repetition=repetition,
            generator="fortio",
            millicores=step.millicores,
            allowed=gateway.allowed,
            facts={"connections": step.connections, **step.facts},
            raw=str(raw.relative_to(bench.record.folder)),
        )
        window = sampler.window(outcome.start, outcome.start + outcome.seconds)
        return measurement(subject, outcome, window, cores)


def _step_seconds(profile: Profile) -> float:
    return profile.warmup + profile.seconds + _OVERHEAD_SECONDS
