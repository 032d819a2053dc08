"""The charts of a run, shaped like the published ones."""

from __future__ import annotations

from typing import Callable, List

from ..data import Run
from . import flex, latency, mule, resources, wso2
from .common import Figure

__all__ = ["Figure", "figures"]

_MAKERS: List[Callable[[Run], List[Figure]]] = [
    flex.by_millicores,
    flex.by_payload,
    flex.sweeps,
    wso2.wso2,
    mule.knees,
    latency.distributions,
    mule.tls,
    mule.added_latency,
    resources.cpu_and_memory,
    resources.overhead,
    resources.startup,
    resources.endurance,
]


def figures(run: Run) -> List[Figure]:
    """Those for which the run has measurements."""
    return [figure for make in _MAKERS for figure in make(run)]
