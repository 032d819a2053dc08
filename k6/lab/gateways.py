"""The gateways of a scenario, all running at once: each with its own group, ready and warmed up."""

from __future__ import annotations

import contextlib
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Dict, Iterator, List, Optional, Sequence

from . import envoy, paths
from .account import wait_idle
from .bench import MEMORY_BYTES, Bench, Cores
from .exchange import Request
from .generators.fortio import Fortio
from .limits import Group
from .processes import START_SECONDS, Backend, Failure, Process, free_ports
from .variants import Variant

# Before the limit is set: enough for the JIT compiler to have seen what is hot.
_WARM_UP_REQUESTS = 3000
_WARM_UP_CONNECTIONS = 8
_IDLE_SECONDS = 0.2


@dataclass(frozen=True)
class Backends:
    """The upstream, and the service that knows the clients."""

    echo: Backend
    auth: Backend

    @property
    def pids(self) -> Dict[str, int]:
        return {"echo": self.echo.pid, "auth": self.auth.pid}


@dataclass
class Gateway:
    """A gateway that runs."""

    variant: Variant
    process: Process
    group: Group
    port: int
    tls: bool
    allowed: int = 0
    """Millicores, the handicap taken off."""

    def limit(self, millicores: int, handicap: float) -> None:
        self.allowed = millicores if self.variant.name == "bare" else round(millicores * (1 - handicap))
        self.group.limit_cpu(self.allowed)


@dataclass(frozen=True)
class Site:
    """Everything that runs."""

    backends: Backends
    gateways: List[Gateway]


@contextlib.contextmanager
def backends(folder: Path, cores: Cores) -> Iterator[Backends]:
    threads = max(1, len(cores.load) // 2)
    with Backend("echo", [], folder, cores.load, threads) as echo:
        with Backend("auth", ["--clients", str(paths.CLIENTS)], folder, cores.load) as auth:
            yield Backends(echo, auth)


@contextlib.contextmanager
def running(
    bench: Bench,
    variants: Sequence[Variant],
    cores: Cores,
    workers: int,
    sample: Request,
    tls: Optional[Path] = None,
) -> Iterator[Site]:
    """Starts the backends, and a gateway for each variant. Each has replied rightly to the sample, refused what it must
    refuse, and been warmed up, all at once on all cores: that is no part of any measurement."""
    sample = sample.at_once()
    with contextlib.ExitStack() as stack:
        services = stack.enter_context(backends(bench.folder, cores))
        started = []
        for variant in variants:
            port, admin = free_ports(2)
            ports = envoy.Ports(port, admin, services.echo.port, services.auth.port)
            command = variant.prepare(bench.folder, ports, workers, tls)
            group = bench.limiter.group(variant.name, MEMORY_BYTES)
            stack.callback(group.remove)
            process = stack.enter_context(
                Process(command, bench.folder / f"{variant.name}.log", cores.gateway, group)
            )
            started.append(Gateway(variant, process, group, port, tls is not None))
        for gateway in started:
            gateway.limit(1000 * len(bench.cores), 0.0)
            gateway.process.pin(bench.cores)
        for gateway in started:
            _wait_for(gateway, sample, bench.folder)
            check_refusal(gateway, sample)
        for gateway in started:
            warm_up = Fortio(
                sample, gateway.port, _WARM_UP_CONNECTIONS, ["-n", str(_WARM_UP_REQUESTS)],
                bench.folder, cores.load, tls=gateway.tls,
            )  # fmt: skip
            warm_up.wait(START_SECONDS)
        _come_to_rest(started)
        for gateway in started:
            gateway.process.pin(cores.gateway)
        yield Site(services, started)


def check_refusal(gateway: Gateway, request: Request) -> None:
    """Whether what is to be measured is there: a gateway without policies would be fast, too."""
    if gateway.variant.refuses is None:
        return
    problem = gateway.variant.refuses(request).problem(gateway.port, gateway.tls)
    if problem is not None:
        raise Failure(f"{gateway.variant.title} lets pass what it must refuse: {problem}")


def check_reply(gateway: Gateway, request: Request) -> None:
    """A reply, byte for byte."""
    problem = request.problem(gateway.port, gateway.tls)
    if problem is not None:
        raise Failure(f"{gateway.variant.title}: {problem}")


def _wait_for(gateway: Gateway, sample: Request, folder: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    problem: Optional[str] = "no reply"
    while time.monotonic() < deadline and problem is not None:
        if gateway.process.popen.poll() is not None:
            raise Failure(f"{gateway.variant.title} does not start:\n{_why(gateway, folder)}")
        try:
            problem = sample.problem(gateway.port, gateway.tls)
        except OSError as error:
            problem = str(error)
        if problem is not None:
            time.sleep(0.05)
    if problem is not None:
        raise Failure(f"{gateway.variant.title}: {problem}\n{_why(gateway, folder)}")


def _why(gateway: Gateway, folder: Path) -> str:
    """What Envoy says about its configuration: its log goes to /dev/null otherwise."""
    config = folder / f"{gateway.variant.name}.json"
    if gateway.variant.chain is None or not config.exists():
        return gateway.process.tail()
    validated = subprocess.run(
        [gateway.process.command[0], "--mode", "validate", "--log-level", "warn", "-c", str(config)],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
    )  # fmt: skip
    return validated.stdout.decode(errors="replace")[-3000:] + gateway.process.tail()


def _come_to_rest(gateways: List[Gateway]) -> None:
    """Waits until the compilers have finished: threads of their own optimise what the warm-up has used."""
    for gateway in gateways:
        if not wait_idle(gateway.process.pid, _IDLE_SECONDS, START_SECONDS):
            raise Failure(f"{gateway.variant.title} does not come to rest")
