"""What was measured in a cluster, as the record that `make report` takes: k6/lab/README.md describes it."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any, Dict, List, Optional

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "k6"))

from lab.account import Sample, Usage, usage  # noqa: E402
from lab.bench import Cores  # noqa: E402
from lab.generators import Outcome  # noqa: E402
from lab.generators.k6 import outcomes  # noqa: E402
from lab.measurement import QUOTA_TOLERANCE, Subject, measurement  # noqa: E402
from lab.scenarios import catalogue  # noqa: E402

Json = Dict[str, Any]

# What a phase of a summary has beside what was varied.
_FIGURES = {
    "name", "vus", "warmup", "duration", "requests", "requests_per_second", "error_rate", "corrupt_rate",
    "latency_ms", "first_byte_ms", "handshake_ms", "direct_ms", "added_ms", "size", "delay",
}  # fmt: skip


def bytes_of(size: str) -> int:
    """As scripts have sizes: `500`, `10K`, `1M`."""
    units = {"K": 1 << 10, "M": 1 << 20}
    return int(size[:-1]) * units[size[-1]] if size[-1] in units else int(size)


def scenario_of(summary: Json) -> str:
    """The experiment that a script's run belongs to: `tls` has one for each kind of certificate."""
    return f"tls-{summary['parameters']['KEY']}" if summary["script"] == "tls" else summary["script"]


def title_of(scenario: str) -> str:
    titles = {known.name: known.title for known in catalogue.scenarios()}
    return titles.get(scenario, scenario)


def step_of(scenario: str, phase: Json, millicores: int, several: bool) -> str:
    """What the report calls a phase. `several` where the run has several limits of CPU time."""
    if scenario == "flex-max-qps":
        return f"{millicores}m-{phase['vus']}c"
    if scenario.startswith("tls-"):
        name = "reused" if phase["reuse"] == "yes" else "fresh"
    else:
        name = phase["name"]
    sweeps = scenario in ("flex-request-size", "flex-reply-size")
    return f"{name}-{millicores}m" if several or sweeps else name


def facts_of(scenario: str, phase: Json, parameters: Dict[str, str]) -> Json:
    """What the report shows a phase by: connections, sizes, delay, and what else the script varies."""
    facts = {name: value for name, value in phase.items() if name not in _FIGURES}
    size, request, reply = phase.get("size"), 0, phase.get("size")
    if scenario.startswith("wso2-"):
        facts["size"], request, reply = size, phase["message_bytes"], phase["message_bytes"]
    elif scenario == "flex-request-size":
        request, reply = size, bytes_of(parameters["REPLY_SIZE"])
    elif "REQUEST_SIZE" in parameters:
        request = bytes_of(parameters["REQUEST_SIZE"])
    return {
        "connections": phase["vus"], "request_bytes": request, "reply_bytes": reply,
        "delay_ms": phase.get("delay", 0), **facts,
    }  # fmt: skip


def used(outcome: Outcome, series: Dict[str, List[Sample]]) -> Usage:
    """What containers used while a phase was measured; `gateway` is one of the roles. k6 may be gone a moment before its
    last phase would have been over: what it used until then stands for the whole."""
    start, end = outcome.start, outcome.start + outcome.seconds
    found = usage(series["gateway"], start, end)
    for role, samples in series.items():
        if role == "gateway":
            continue
        window = usage(samples, max(start, samples[0].at), min(end, samples[-1].at))
        found.cpu[role] = window.millicores(role) / 1000 * found.seconds
    return replace(found, others=0.0, stolen=0.0)


def measurements(
    summary: Json,
    series: Dict[str, List[Sample]],
    *,
    variant: str,
    repetition: int,
    millicores: int,
    several: bool,
    cores: Cores,
    raw: str,
) -> List[Json]:
    """One for each phase of a run."""
    scenario = scenario_of(summary)
    found = []
    for phase, outcome in zip(summary["phases"], outcomes(summary)):
        subject = Subject(
            scenario=scenario,
            step=step_of(scenario, phase, millicores, several),
            variant=variant,
            repetition=repetition,
            generator="k6",
            millicores=millicores,
            allowed=millicores,
            facts=facts_of(scenario, phase, summary["parameters"]),
            raw=raw,
        )
        entry = measurement(subject, outcome, used(outcome, series), cores)
        # What else runs on the nodes is not known.
        del entry["strangers"]
        found.append(entry)
    return found


def facts(
    *,
    node: Json,
    machine: Json,
    cores: Cores,
    memory_bytes: Optional[int],
    topology: str,
    repetitions: int,
    versions: Dict[str, str],
    build: str,
) -> Json:
    """The head of a record. `node` is the gateway's: its `nodeInfo`, and `memory_bytes`; `machine` is what is seen of it
    in the pod."""
    return {
        "profile": "cluster",
        "topology": topology,
        "repetitions": repetitions,
        "fewer_repetitions": repetitions,
        "cpu_limit": "the kubelet, in place",
        "quota_tolerance": QUOTA_TOLERANCE,
        "memory_limit_bytes": memory_bytes,
        "handicap": 0.0,
        "cores": {"gateway_up_to_1000m": sorted(cores.gateway), "load": sorted(cores.load)},
        "machine": {
            "cpu": machine["cpu"],
            "architecture": node["architecture"],
            "cores": len(cores.gateway),
            "virtual": machine["virtual"],
            "memory_bytes": node["memory_bytes"],
            "system": node["osImage"],
            "kernel": node["kernelVersion"],
        },
        "load_average_before": machine["load_average"],
        "versions": versions,
        "build": {"revision": build, "modules": {}},
    }


def scenario_facts(summary: Json, titles: Dict[str, str], repetitions: int) -> Json:
    """What a record says of an experiment; `titles` are those of its variants."""
    first = summary["phases"][0]
    return {
        "title": title_of(scenario_of(summary)),
        "generator": "k6",
        "script": summary["script"],
        "variables": summary["parameters"],
        "variants": titles,
        "repetitions": repetitions,
        "warmup_seconds": first["warmup"],
        "seconds": first["duration"],
    }
