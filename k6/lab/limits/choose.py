"""Which way of limiting works on this machine. It is tried, not guessed: a process of ours enters a group."""

from __future__ import annotations

import subprocess
import sys

from . import Limiter, Refused
from .affinity import Affinity
from .cgroup import find

CHOICES = ("auto", "cgroup", "affinity")

_TRIAL_MILLICORES = 500
_TRIAL_MEMORY = 256 << 20


def choose(choice: str, say) -> Limiter:
    """The limiter that is asked for; `auto` takes control groups where they work. Raises Refused."""
    if choice == "affinity":
        return Affinity()
    reasons = []
    try:
        for limiter in find():
            try:
                _try(limiter)
                return limiter
            except Refused as refusal:
                reasons.append(f"{limiter.name}: {refusal}")
    except Refused as refusal:
        reasons.append(str(refusal))
    problem = "; ".join(reasons)
    if choice == "cgroup":
        raise Refused(f"CPU quotas cannot be set here: {problem}")
    say(f"CPU quotas cannot be set here: {problem}.")
    say(
        "Gateways are pinned to whole cores instead. Steps with parts of a core are LEFT OUT, "
        "and memory is not limited."
    )
    say(
        "With the right to make control groups (root, or systemd-run --user --scope -p Delegate=yes) all steps run."
    )
    return Affinity()


def _try(limiter) -> None:
    group = limiter.group("trial", _TRIAL_MEMORY)
    try:
        group.limit_cpu(_TRIAL_MILLICORES)
        group.throttling()
        trial = subprocess.run(
            [sys.executable, "-c", ""],
            preexec_fn=group.enter,
            stderr=subprocess.PIPE,
            timeout=60,
            check=False,
        )
        if trial.returncode != 0:
            raise Refused(trial.stderr.decode(errors="replace"))
    except (OSError, KeyError, subprocess.SubprocessError) as error:
        raise Refused(f"a process cannot enter a group: {error}") from error
    finally:
        group.remove()
