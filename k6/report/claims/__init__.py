"""What a run says about the project's goals, each with the measurements that it rests on."""

from __future__ import annotations

from typing import Callable, List

from ..data import Run
from . import conditions, cost, knee, start, throughput
from .common import FACT, MET, MISSED, UNDECIDED, Claim

__all__ = ["FACT", "MET", "MISSED", "UNDECIDED", "Claim", "claims"]

_MAKERS: List[Callable[[Run], List[Claim]]] = [
    conditions.errors,
    conditions.quota,
    cost.chain,
    cost.headers,
    throughput.per_millicore,
    throughput.linear,
    throughput.wso2,
    start.startup,
    start.memory,
    cost.beside,
    throughput.sweeps,
    knee.knees,
    start.added_latency,
]


def claims(run: Run) -> List[Claim]:
    """Those for which the run has measurements."""
    return [claim for make in _MAKERS for claim in make(run)]
