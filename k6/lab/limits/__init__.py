"""How much CPU time and memory a gateway gets.

In a cluster a container has a CPU quota: so many milliseconds of CPU time in each period of 100 ms, enforced by the
kernel (cgroups). The lab sets the same quota in the same way. Where it may not, it says so: it then pins gateways to
whole cores, and leaves out what cannot be had so; it never measures an unlimited gateway as a limited one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


class Refused(Exception):
    """A limit cannot be set here; the text says why."""


@dataclass(frozen=True)
class Throttling:
    """What the kernel has done to keep a group within its quota, since the group was made."""

    periods: int
    throttled: int
    seconds: float

    def since(self, before: "Throttling") -> "Throttling":
        return Throttling(
            self.periods - before.periods,
            self.throttled - before.throttled,
            self.seconds - before.seconds,
        )


class Group(Protocol):
    """The processes of one gateway, limited together."""

    def enter(self) -> None:
        """Moves the calling process into the group. For a child that is about to become the gateway."""

    def limit_cpu(self, millicores: int) -> None:
        """Allows so many thousandths of a core. Raises Refused."""

    def throttling(self) -> Throttling:
        """What the quota has cost so far; zeros where there is none."""

    def remove(self) -> None:
        """Removes the group. Its processes must have ended."""


class Limiter(Protocol):
    """Makes groups."""

    @property
    def name(self) -> str:
        """What enforces the limits, for the record: `cgroup-v1`, `cgroup-v2`, `affinity`."""

    def supports(self, millicores: int) -> bool:
        """Whether that much CPU can be allowed, neither more nor less."""

    def group(self, name: str, memory_bytes: int) -> Group:
        """A group with that much memory. Raises Refused."""
