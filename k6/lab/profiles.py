"""How much is measured: `sampled` in less than half an hour on two cores, `full` the published matrix, `tiny` in
seconds, to try the lab itself."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import List, TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class Profile:
    name: str
    warmup: float
    """Seconds of load before each measurement, which count for nothing."""
    seconds: float
    """Of a measurement."""
    repetitions: int
    """Of experiments that goals depend on. Each has gateways of its own."""
    fewer_repetitions: int
    """Of the others, which show shapes."""

    def pick(self, tiny: T, sampled: T, full: T) -> T:
        return {"tiny": tiny, "sampled": sampled, "full": full}[self.name]

    def with_repetitions(self, repetitions: int) -> "Profile":
        return replace(self, repetitions=repetitions, fewer_repetitions=repetitions)


PROFILES = {
    "tiny": Profile("tiny", warmup=0.3, seconds=1.0, repetitions=2, fewer_repetitions=1),
    "sampled": Profile("sampled", warmup=0.4, seconds=2.5, repetitions=3, fewer_repetitions=2),
    "full": Profile("full", warmup=5.0, seconds=30.0, repetitions=5, fewer_repetitions=5),
}


def often(profile: Profile) -> int:
    """How often an experiment is repeated that a goal depends on."""
    return profile.repetitions


def seldom(profile: Profile) -> int:
    """How often one is that shows a shape."""
    return profile.fewer_repetitions


def once(_profile: Profile) -> int:
    """For one that takes hours."""
    return 1


def names() -> List[str]:
    return list(PROFILES)
