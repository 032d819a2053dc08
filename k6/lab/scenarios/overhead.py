"""How much CPU time each filter adds to a request: k6/overhead, whose figures are taken into the record."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import Any, Dict, List, Optional

from .. import paths
from ..bench import Bench, Conditions
from ..processes import Failure, Process
from ..profiles import Profile

# Of bursts, for each round and variant.
_REQUESTS = 1500
_SECONDS_FOR_EACH_BURST = 0.17
_START_SECONDS = 0.6


@dataclass(frozen=True)
class Overhead:
    """The experiment."""

    name: str
    title: str
    sampled: List[str]
    """Variants that the sampled profile measures; the full one measures all."""

    def facts(self, profile: Profile) -> Dict[str, Any]:
        return {
            "title": self.title,
            "generator": "overhead",
            "rounds": self._rounds(profile),
            "requests": _REQUESTS,
        }

    def _rounds(self, profile: Profile) -> int:
        return profile.pick(4, 24, 120)

    def _only(self, profile: Profile) -> Optional[List[str]]:
        return profile.pick(["no-op", "chain"], self.sampled, None)

    def expected_seconds(self, conditions: Conditions) -> float:
        profile = conditions.profile
        variants = len(self._only(profile) or range(25)) + 1
        return variants * (_START_SECONDS + self._rounds(profile) * _SECONDS_FOR_EACH_BURST)

    def run(self, bench: Bench) -> None:
        bench.progress.step(f"{self.name}: {self._rounds(bench.profile)} rounds")
        raw = bench.record.raw_file(self.name)
        arguments = [
            "--rounds",
            str(self._rounds(bench.profile)),
            "--requests",
            str(_REQUESTS),
            "--json",
            str(raw),
        ]
        only = self._only(bench.profile)
        if only is not None:
            arguments += ["--only", ",".join(only)]
        # Every Envoy has its turn alone: load and gateways may use all cores.
        with Process(
            [paths.overhead(), *arguments], bench.folder / "overhead.log", set(os.sched_getaffinity(0))
        ) as process:
            status = process.popen.wait()
        if status != 0:
            raise Failure(f"overhead has ended with status {status}:\n{process.tail()}")
        for measured in measurements(self.name, json.loads(raw.read_text(encoding="utf-8")), raw.name):
            bench.record.add(measured)
        bench.progress.done(self.expected_seconds(bench.conditions))


def measurements(scenario: str, report: Dict[str, Any], raw: str) -> List[Dict[str, Any]]:
    """One for each round, so that rounds can be compared in pairs: within one all variants had the same conditions."""
    found = []
    for load in report["loads"]:
        by_name = {variant["name"]: variant["microseconds"] for variant in load["variants"]}
        for variant in load["variants"]:
            # The same proxy alone.
            alone = by_name[variant.get("over") or "bare"]
            for round_, microseconds in enumerate(variant["microseconds"]):
                found.append(
                    {
                        "scenario": scenario,
                        "step": load["title"],
                        "variant": variant["name"],
                        "title": variant["title"],
                        "repetition": round_,
                        "generator": "overhead",
                        "cpu_us_per_request": round(microseconds, 3),
                        "added_cpu_us": round(microseconds - alone[round_], 3),
                        "raw": f"raw/{raw}",
                    }
                )
    return found
