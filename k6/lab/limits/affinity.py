"""Whole cores, by pinning: for machines where the lab may not make control groups."""

from __future__ import annotations

import os

from . import Refused, Throttling


class Affinity:
    """Allows whole cores alone. Memory is not limited; what a gateway has used is on record."""

    name = "affinity"

    def supports(self, millicores: int) -> bool:
        return millicores % 1000 == 0 and 0 < millicores // 1000 <= len(os.sched_getaffinity(0))

    def group(self, _name: str, _memory_bytes: int) -> "_Pinned":
        return _Pinned(self)


class _Pinned:
    def __init__(self, limiter: Affinity):
        self._limiter = limiter

    def enter(self) -> None:
        """Nothing to do: every gateway is pinned to as many cores as it may use."""

    def limit_cpu(self, millicores: int) -> None:
        if not self._limiter.supports(millicores):
            raise Refused(f"{millicores} millicores cannot be had by pinning to whole cores")

    def throttling(self) -> Throttling:
        return Throttling(0, 0, 0.0)

    def remove(self) -> None:
        """There is nothing."""
