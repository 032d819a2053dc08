"""What vendors have published, as points of reference. Their machines were others: a point in a chart says where they
were, and no ratio to it is worked out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Dict


@dataclass(frozen=True)
class Source:
    name: str
    machine: str
    method: str


FLEX = Source(
    "Flex Gateway benchmarking guide",
    "Kubernetes, gateway and upstream on separate nodes; the model of the nodes is not said",
    "client-ID enforcement and access log, GET, reply of 1 KB, 200 connections, Fortio 1.38",
)
MULE = Source(
    "Mule 4.3 performance report",
    "Runtime Fabric, replicas of 0.07 to 4 cores; the model of the nodes is not said",
    "upstream of 70 ms, reply of 1 KB, users added step by step",
)
WSO2 = Source(
    "WSO2 Micro Integrator 1.2.0 performance report",
    "2 vCPU, heap of 512 MB",
    "100 users, no delay, JMeter, Netty echo as upstream; messages indented, by their names' sizes",
)

FLEX_MAX_QPS: Dict[int, float] = {250: 948, 500: 1784, 1000: 3441, 1500: 5206, 2000: 7000}
"""Requests per second by millicores."""

FLEX_REQUEST_SWEEP = 0.6
"""The part by which throughput falls when the request grows from 1 to 200 KB."""
FLEX_REPLY_SWEEP = 0.7

MULE_HEADERS_COST = (0.12, 0.19)
"""The part of the throughput that rate limit headers cost."""

MULE_TLS: Dict[str, Dict[str, float]] = {
    "tls-rsa-2048": {"fresh": 380, "reused": 4000},
    "tls-p-256": {"fresh": 860, "reused": 4100},
}
"""Messages of 10 KB per second and core, of Runtime Fabric's load balancer."""

MULE_STARTUP_SECONDS: Dict[int, float] = {1000: 60, 100: 480, 70: 840}
"""The longest that a Mule app took to start, by millicores (under 1 min; 6 to 8 min; 10 to 14 min)."""

MULE_ESB_ADDED_MS = 2.0
"""What a Mule ESB tuned as an API proxy added to replies of 10 to 300 KB; 32 cores."""

WSO2_TPS: Dict[str, Dict[int, float]] = {
    "wso2-soap": {500: 2203, 1024: 1895, 10240: 949, 102400: 79},
    "wso2-transport": {500: 2203, 1024: 1933, 10240: 2042, 102400: 945},
    "wso2-xslt": {500: 1885, 1024: 1917, 10240: 504, 102400: 64},
}
"""Requests per second by the message's name."""
