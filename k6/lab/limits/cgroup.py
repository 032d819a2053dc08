"""CPU quota and memory limit by control groups, as the kubelet sets them.

https://docs.kernel.org/admin-guide/cgroup-v1/index.html and https://docs.kernel.org/admin-guide/cgroup-v2.html;
quotas: https://docs.kernel.org/scheduler/sched-bwc.html
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Callable, Dict, Iterator, List, Optional

from . import Refused, Throttling

PERIOD_MICROSECONDS = 100_000
"""The kubelet's period, the kernel's default."""

_NAME = "portcullis-bench"


@dataclass(frozen=True)
class Hierarchy:
    """A mounted hierarchy of control groups."""

    mounted: Path
    # Where in the hierarchy the mount point is: not at its root in many containers.
    root: str
    version: int
    controllers: frozenset

    def own_group(self, path: str) -> Path:
        """The folder of the group with this path, or the mount point where that is out of sight."""
        inside = os.path.relpath(path, self.root) if path.startswith(self.root) else "."
        folder = self.mounted / inside
        return folder if folder.is_dir() else self.mounted


def hierarchies(mountinfo: str) -> List[Hierarchy]:
    """From /proc/self/mountinfo: see proc_pid_mountinfo(5)."""
    found = []
    for line in mountinfo.splitlines():
        before, _, after = line.partition(" - ")
        fields, (kind, _source, options) = before.split(), after.split()[:3]
        if kind in ("cgroup", "cgroup2"):
            found.append(
                Hierarchy(
                    mounted=Path(fields[4]),
                    root=fields[3],
                    version=2 if kind == "cgroup2" else 1,
                    controllers=frozenset(options.split(",")) if kind == "cgroup" else frozenset(),
                )
            )
    return found


def own_paths(cgroup: str) -> Dict[str, str]:
    """From /proc/self/cgroup: this process's path by controller; that of version 2 is under the empty name."""
    paths = {}
    for line in cgroup.splitlines():
        _id, controllers, path = line.split(":", 2)
        for controller in controllers.split(","):
            paths[controller] = path
    return paths


class CgroupV1:
    """Version 1: a hierarchy for each controller."""

    name = "cgroup-v1"

    def __init__(self, mounts: List[Hierarchy], paths: Dict[str, str]):
        def folder(controller: str) -> Path:
            for mount in mounts:
                if mount.version == 1 and controller in mount.controllers:
                    return mount.own_group(paths.get(controller, "/"))
            raise Refused(f"no cgroup hierarchy (version 1) has the controller {controller}")

        self._cpu, self._memory = folder("cpu"), folder("memory")

    def supports(self, millicores: int) -> bool:
        return _quota(millicores) >= 1000  # The kernel's least quota is 1 ms.

    def group(self, name: str, memory_bytes: int) -> "_Group":
        group = _Group(
            folders=[_make(self._cpu, name), _make(self._memory, name)],
            quota=_limit_v1,
            throttled=lambda stat: stat["throttled_time"] / 1e9,
        )
        _write(group.folders[-1] / "memory.limit_in_bytes", memory_bytes)
        return group


def _limit_v1(folder: Path, quota: int) -> None:
    _write(folder / "cpu.cfs_period_us", PERIOD_MICROSECONDS)
    _write(folder / "cpu.cfs_quota_us", quota)


class CgroupV2:
    """Version 2: one hierarchy. A group can have limits if the one above it hands its controllers down."""

    name = "cgroup-v2"

    def __init__(self, mounts: List[Hierarchy], paths: Dict[str, str]):
        mount = next((mount for mount in mounts if mount.version == 2), None)
        if mount is None:
            raise Refused("no cgroup hierarchy of version 2 is mounted")
        own = mount.own_group(paths.get("", "/"))
        above = [own, *own.parents]
        self._candidates = above[: above.index(mount.mounted) + 1]

    def supports(self, millicores: int) -> bool:
        return _quota(millicores) >= 1000

    def group(self, name: str, memory_bytes: int) -> "_Group":
        folder = self._folder(name)
        _write(folder / "memory.max", memory_bytes)
        return _Group(
            folders=[folder],
            quota=lambda folder, quota: _write(folder / "cpu.max", f"{quota} {PERIOD_MICROSECONDS}"),
            throttled=lambda stat: stat["throttled_usec"] / 1e6,
        )

    def _folder(self, name: str) -> Path:
        """A group below the nearest one that hands down both controllers and lets us in."""
        reasons = []
        for parent in self._candidates:
            handed_down = (parent / "cgroup.subtree_control").read_text().split()
            if not {"cpu", "memory"} <= set(handed_down):
                reasons.append(f"{parent} does not hand down cpu and memory")
                continue
            try:
                return _make(parent, name)
            except Refused as refusal:
                reasons.append(str(refusal))
        raise Refused("; ".join(reasons))


class _Group:
    """What both versions have in common. `quota` sets one, in microseconds, in a folder; `throttled` reads seconds from
    cpu.stat."""

    def __init__(
        self,
        folders: List[Path],
        quota: Callable[[Path, int], None],
        throttled: Callable[[Dict[str, int]], float],
    ):
        self.folders = folders
        self._quota = quota
        self._throttled = throttled

    def enter(self) -> None:
        for folder in self.folders:
            # 0 stands for the process that writes it.
            _write(folder / "cgroup.procs", 0)

    def limit_cpu(self, millicores: int) -> None:
        self._quota(self.folders[0], _quota(millicores))

    def throttling(self) -> Throttling:
        stat = _numbers((self.folders[0] / "cpu.stat").read_text())
        return Throttling(stat["nr_periods"], stat["nr_throttled"], self._throttled(stat))

    def remove(self) -> None:
        for folder in self.folders:
            try:
                folder.rmdir()
            except OSError:
                pass  # A process that is still ending; an empty group costs nothing.


def find(mountinfo: Optional[str] = None, cgroup: Optional[str] = None) -> Iterator["CgroupV1 | CgroupV2"]:
    """What this machine has, to be tried in order. Raises Refused where it has nothing."""
    try:
        mounts = hierarchies(Path("/proc/self/mountinfo").read_text() if mountinfo is None else mountinfo)
        paths = own_paths(Path("/proc/self/cgroup").read_text() if cgroup is None else cgroup)
    except OSError as error:
        raise Refused(f"this system has no control groups: {error}") from error
    reasons = []
    found = False
    # A machine with both has its CPU controller in one of them.
    for version in (CgroupV1, CgroupV2):
        try:
            yield version(mounts, paths)
            found = True
        except Refused as refusal:
            reasons.append(str(refusal))
    if not found:
        raise Refused("; ".join(reasons))


def _quota(millicores: int) -> int:
    return millicores * PERIOD_MICROSECONDS // 1000


def _make(parent: Path, name: str) -> Path:
    folder = parent / f"{_NAME}-{os.getpid()}-{name}"
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise Refused(f"{folder}: {error.strerror}") from error
    return folder


def _write(path: Path, value: object) -> None:
    try:
        # Not truncated and not created: these are the kernel's files.
        descriptor = os.open(path, os.O_WRONLY)
        try:
            os.write(descriptor, str(value).encode())
        finally:
            os.close(descriptor)
    except OSError as error:
        raise Refused(f"{path}: {error.strerror}") from error


def _numbers(text: str) -> Dict[str, int]:
    return {name: int(value) for name, value in (line.split() for line in text.splitlines())}
