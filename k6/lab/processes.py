"""Child processes: started on their cores and in their group, stopped whatever happens."""

from __future__ import annotations

import ctypes
import itertools
import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import List, Optional, Sequence, Set, TypeVar

from . import paths
from .limits import Group

START_SECONDS = 60
_STOP_SECONDS = 5


Self = TypeVar("Self", bound="Process")


class Failure(Exception):
    """Something that a measurement needs does not work; the text says what."""


class Process:
    """A child process. Use it in a `with` block."""

    def __init__(
        self,
        command: Sequence[str],
        log: Path,
        cores: Set[int],
        group: Optional[Group] = None,
        cwd: Path = paths.ROOT,
    ):
        self.command = list(command)
        self.log = log

        def prepare() -> None:
            if sys.platform == "linux":
                # PR_SET_PDEATHSIG: it shall not outlive the lab, not even one that was killed.
                ctypes.CDLL(None).prctl(1, signal.SIGKILL)
            os.sched_setaffinity(0, cores)
            if group is not None:
                group.enter()

        self.started = time.time()
        with open(log, "wb") as output:
            try:
                # A session of its own: Ctrl-C reaches the lab alone, which stops its children in order.
                self.popen = subprocess.Popen(
                    self.command,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                    preexec_fn=prepare,
                    cwd=cwd,
                )
            except (OSError, subprocess.SubprocessError) as error:
                raise Failure(f"{command[0]} cannot be started: {error}") from error

    @property
    def pid(self) -> int:
        return self.popen.pid

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(self, *_) -> None:
        self.stop()

    def stop(self) -> None:
        if self.popen.poll() is None:
            self.popen.terminate()
            try:
                self.popen.wait(_STOP_SECONDS)
            except subprocess.TimeoutExpired:
                self.popen.kill()
                self.popen.wait()

    def pin(self, cores: Set[int]) -> None:
        """Moves all of its threads to these cores."""
        for task in Path(f"/proc/{self.pid}/task").iterdir():
            try:
                os.sched_setaffinity(int(task.name), cores)
            except ProcessLookupError:
                pass  # A thread that has just ended.

    def check_alive(self) -> None:
        """Raises Failure, with the last lines that it wrote, if it has ended."""
        if self.popen.poll() is not None:
            raise Failure(f"{self.command[0]} has ended with status {self.popen.returncode}:\n{self.tail()}")

    def tail(self, lines: int = 15) -> str:
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])


class Backend(Process):
    """One of the backends, on a port of its own."""

    def __init__(self, name: str, arguments: List[str], folder: Path, cores: Set[int], threads: int = 1):
        more = ["--threads", str(threads)] if name == "echo" else []
        super().__init__(
            [paths.backends(), name, "--listen", "127.0.0.1:0", *more, *arguments],
            folder / f"{name}.log",
            cores,
        )
        self.port = self._read_port()

    def _read_port(self) -> int:
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            match = re.search(r"listening on 127\.0\.0\.1:(\d+)", self.log.read_text(errors="replace"))
            if match:
                return int(match[1])
            self.check_alive()
            time.sleep(0.02)
        raise Failure(f"{self.command[1]} does not say where it listens")


def free_ports(count: int) -> List[int]:
    """Ports that nobody listens on at the moment, from below those that the kernel gives to outgoing connections: of
    these there are many, and one could take a port before its gateway does."""
    found: List[int] = []
    for port in itertools.islice(_CANDIDATES, len(_RANGE)):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        found.append(port)
        if len(found) == count:
            return found
    raise Failure("there are no free ports")


_RANGE = range(15000, 30000)
# Each port comes up again only after all others, so that no gateway gets one that was just given to another. Where a
# lab begins is its own, for others may run.
_CANDIDATES = itertools.cycle(_RANGE)
next(itertools.islice(_CANDIDATES, os.getpid() % len(_RANGE), None))
