"""Start, memory and latency."""

from __future__ import annotations

from typing import List

from .. import published
from ..data import Reader, Run
from .common import FACT, Claim, verdict


def startup(run: Run) -> List[Claim]:
    found = []
    for limit, goal in ((1000, 1.0), (100, 10.0)):
        step = f"{limit}m-1w"
        figure = run.figure(
            "startup", step, "policies", lambda measured: measured.get("seconds_to_first_200")
        )
        if figure is None:
            continue
        found.append(
            Claim(
                f"startup-{limit}m", f"From process start to the first reply, all policies, {limit} millicores",
                f"less than {goal:g} s", f"{figure.value:.2f} s", verdict(figure.value < goal),
                "Mean over repetitions, from the fork to the reply to the first request, with a call to the auth service.",
                run.repetitions("startup", step, "policies") + run.repetitions("startup", step, "bare"),
            )
        )  # fmt: skip
    return found


def memory(run: Run) -> List[Claim]:
    measured = run.repetitions("startup", "1000m-2w", "policies")
    if not measured:
        return []
    most = max(entry["resident_loaded_bytes"] for entry in measured) / (1 << 20)
    return [
        Claim(
            "memory", "Resident memory, all policies, two workers, after 2000 requests", "less than 120 MiB",
            f"{most:.0f} MiB", verdict(most < 120), "The most of all repetitions; VmRSS of the Envoy process.",
            measured + run.repetitions("startup", "1000m-2w", "bare"),
        )
    ]  # fmt: skip


def added_latency(run: Run) -> List[Claim]:
    read: Reader = lambda measured: measured["added_ms"]["p50"] if measured.get("added_ms") else None  # noqa: E731
    found = []
    for step in run.steps("added-latency"):
        figure = run.figure("added-latency", step, "policies", read)
        bare = run.figure("added-latency", step, "bare", read)
        if figure is None or bare is None:
            continue
        found.append(
            Claim(
                f"added-latency-{step}", f"Median of what the gateway with all policies adds to the latency, {step.replace('-', ' of ')}",
                "", f"{figure.value:.2f} ms; bare Envoy {bare.value:.2f} ms (published, Mule ESB on 32 cores: "
                f"{published.MULE_ESB_ADDED_MS:g} ms)", FACT,
                "Median of differences between pairs of requests, through the gateway and directly; one user.",
                run.repetitions("added-latency", step, "policies") + run.repetitions("added-latency", step, "bare"),
            )
        )  # fmt: skip
    return found
