"""What every scenario works with."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Dict, Protocol, Set

from .limits import Limiter
from .profiles import Profile
from .progress import Progress
from .results import Record

MEMORY_BYTES = 512 << 20
"""What each gateway may use: a usual limit for a gateway's container."""


@dataclass(frozen=True)
class Cores:
    """Which cores a gateway runs on, and which ones the load and the backends."""

    gateway: Set[int]
    load: Set[int]

    @property
    def shared(self) -> bool:
        """Whether they have cores in common, so that the one takes time from the other."""
        return bool(self.gateway & self.load)


def split_cores(available: Set[int], millicores: int) -> Cores:
    """The gateway gets as many whole cores as it may use, and load and backends the others. Where there are no others
    both have all, which is on record as `shared`."""
    ordered = sorted(available)
    needed = workers(millicores)
    if needed >= len(ordered):
        return Cores(set(ordered), set(ordered))
    return Cores(set(ordered[-needed:]), set(ordered[:-needed]))


def workers(millicores: int) -> int:
    """Worker threads of a gateway: as many as it may use cores, as Istio has it."""
    return max(1, math.ceil(millicores / 1000))


@dataclass(frozen=True)
class Conditions:
    """What a run may do on this machine."""

    profile: Profile
    limiter: Limiter
    cores: Set[int] = field(default_factory=lambda: os.sched_getaffinity(0))

    def problem(self, millicores: int) -> str:
        """Why a step with this limit is left out, or nothing."""
        if not self.limiter.supports(millicores):
            return f"{self.limiter.name} cannot allow {millicores} millicores"
        if split_cores(self.cores, millicores).shared and self.profile.name != "full":
            return (
                f"a gateway with {millicores} millicores would leave load and backends no core of their own "
                f"on a machine with {len(self.cores)}"
            )
        return ""


@dataclass
class Bench:
    """A run."""

    conditions: Conditions
    record: Record
    progress: Progress
    folder: Path
    """For files that are needed for a moment."""
    handicap: float = 0.0
    """The part of its quota that everything but `bare` is denied: to see whether a comparison finds it."""

    @property
    def profile(self) -> Profile:
        return self.conditions.profile

    @property
    def limiter(self) -> Limiter:
        return self.conditions.limiter

    @property
    def cores(self) -> Set[int]:
        return self.conditions.cores


class Scenario(Protocol):
    """An experiment."""

    @property
    def name(self) -> str:
        """What it is called on the command line."""

    @property
    def title(self) -> str:
        """What it is, for people."""

    def facts(self, profile: Profile) -> Dict[str, Any]:
        """What the record says about it."""

    def expected_seconds(self, conditions: Conditions) -> float:
        """How long it takes, about."""

    def run(self, bench: Bench) -> None:
        """Measures. Raises Failure, paths.Missing, limits.Refused."""
