"""What makes the load.

k6 verifies every reply, which costs it more CPU time than a gateway spends on most requests; a machine with few
cores has none to spare for that when the gateway is at its limit. There fortio makes the load, the generator of the
Flex Gateway guide: it counts statuses and bytes, and the lab verifies a reply before and after.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Dict, Optional


@dataclass(frozen=True)
class Outcome:
    """What a generator has seen in a window of time."""

    start: float
    """Seconds since the epoch."""
    seconds: float
    requests: int
    errors: int
    """Replies with a wrong status, a wrong body or none at all."""
    latency_ms: Optional[Dict[str, float]]
    """mean, stddev, min, p50, p90, p95, p99, p99_9, max; None where there was no reply."""
    extra: Dict[str, Any] = field(default_factory=dict)
    """What else it measures."""
