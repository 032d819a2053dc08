"""What processes have used: CPU time and memory, as a series of samples."""

from __future__ import annotations

import os
import threading
import time
from bisect import bisect_left
from dataclasses import dataclass
from pathlib import Path
from typing import Callable, Dict, List, Tuple

from .limits import Throttling


def cpu_seconds(pid: int) -> float:
    """The CPU time of all threads that a process has now. The scheduler's own account is in nanoseconds, unlike the
    ticks of /proc/PID/stat."""
    nanoseconds = 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        try:
            nanoseconds += int((task / "schedstat").read_text().split()[0])
        except FileNotFoundError:
            pass  # A thread that has just ended.
    return nanoseconds / 1e9


def resident_bytes(pid: int) -> int:
    """The memory of a process that is in RAM."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    return 0


@dataclass(frozen=True)
class Sample:
    at: float
    """Seconds since the epoch."""
    cpu: Dict[str, float]
    """Seconds of CPU time so far, by the process's role."""
    resident: int
    """Bytes of the gateway."""
    throttling: Throttling
    busy: float = 0.0
    """Seconds of CPU time of the whole machine, by whomever."""
    stolen: float = 0.0
    """Seconds that the hypervisor gave to other machines."""


@dataclass(frozen=True)
class Usage:
    """What was used in a window of time."""

    seconds: float
    cpu: Dict[str, float]
    resident_peak: int
    throttling: Throttling
    others: float = 0.0
    """Seconds of CPU time of processes that have no part in the measurement."""
    stolen: float = 0.0

    def millicores(self, role: str) -> float:
        return 1000 * self.cpu.get(role, 0.0) / self.seconds


def machine_seconds(stat: str) -> Tuple[float, float]:
    """CPU time that was used on all cores since the machine started, and that was stolen: /proc/stat, proc_stat(5)."""
    user, nice, system, _idle, _iowait, irq, softirq, steal = map(int, stat.split("\n", 1)[0].split()[1:9])
    ticks = os.sysconf("SC_CLK_TCK")
    return (user + nice + system + irq + softirq) / ticks, steal / ticks


class Sampler:
    """Takes samples while a `with` block lasts. The gateway's role is `gateway`; others may join while it runs, and
    whoever has ended keeps what it had."""

    def __init__(self, pids: Dict[str, int], throttling: Callable[[], Throttling], interval: float = 0.1):
        # What the lab itself uses is no stranger's.
        self._pids = {**pids, "lab": os.getpid()}
        self._throttling = throttling
        self._interval = interval
        self._samples: List[Sample] = []
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._last: Dict[str, float] = {}

    def __enter__(self) -> "Sampler":
        self._sample()
        self._thread.start()
        return self

    def __exit__(self, *_) -> None:
        self._over.set()
        self._thread.join()
        self._sample()

    def join(self, role: str, pid: int) -> None:
        self._pids[role] = pid

    def window(self, start: float, end: float) -> Usage:
        return usage(self._samples, start, end)

    def _run(self) -> None:
        while not self._over.wait(self._interval):
            self._sample()

    def _sample(self) -> None:
        for role, pid in list(self._pids.items()):
            try:
                self._last[role] = max(cpu_seconds(pid), self._last.get(role, 0.0))
            except OSError:
                pass  # It has ended.
        try:
            resident = resident_bytes(self._pids["gateway"])
        except OSError:
            resident = 0
        busy, stolen = machine_seconds(Path("/proc/stat").read_text())
        self._samples.append(
            Sample(time.time(), dict(self._last), resident, self._throttling(), busy, stolen)
        )


def usage(samples: List[Sample], start: float, end: float) -> Usage:
    """What was used between two times: samples are some tenths of a second apart, so CPU time is interpolated."""
    if not samples[0].at <= start < end <= samples[-1].at:
        raise ValueError("the window is not within the samples")
    before, after = _at(samples, start), _at(samples, end)
    within = [sample for sample in samples if start <= sample.at <= end]
    cpu = {role: used - before.cpu.get(role, 0.0) for role, used in after.cpu.items()}
    return Usage(
        seconds=end - start,
        cpu=cpu,
        others=max(0.0, after.busy - before.busy - sum(cpu.values())),
        stolen=after.stolen - before.stolen,
        resident_peak=max(sample.resident for sample in [*within, before, after]),
        throttling=after.throttling.since(before.throttling),
    )


def _at(samples: List[Sample], at: float) -> Sample:
    later = min(bisect_left([sample.at for sample in samples], at), len(samples) - 1)
    after, before = samples[later], samples[max(0, later - 1)]
    span = after.at - before.at
    part = (at - before.at) / span if span > 0 else 1.0

    def between(early: float, late: float) -> float:
        return early + part * (late - early)

    return Sample(
        at=at,
        cpu={role: between(before.cpu.get(role, 0.0), used) for role, used in after.cpu.items()},
        resident=after.resident,
        throttling=Throttling(
            round(between(before.throttling.periods, after.throttling.periods)),
            round(between(before.throttling.throttled, after.throttling.throttled)),
            between(before.throttling.seconds, after.throttling.seconds),
        ),
        busy=between(before.busy, after.busy),
        stolen=between(before.stolen, after.stolen),
    )


def wait_idle(pid: int, quiet_seconds: float, timeout: float) -> bool:
    """Waits until a process has used next to no CPU time for that long, such as a gateway that has finished compiling
    what it was warmed up with. Whether it came to rest before the time was over."""
    deadline = time.monotonic() + timeout
    while time.monotonic() < deadline:
        before = cpu_seconds(pid)
        time.sleep(quiet_seconds)
        if cpu_seconds(pid) - before < 0.05 * quiet_seconds:
            return True
    return False
