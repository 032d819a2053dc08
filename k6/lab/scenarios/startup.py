"""How long a gateway takes from the start of its process to the first request that it answers, and what memory it
needs."""

from __future__ import annotations

import socket
import time
from dataclasses import dataclass
from typing import Any, Dict, List

from .. import envoy
from ..account import cpu_seconds, resident_bytes
from ..bench import MEMORY_BYTES, Bench, Conditions, split_cores
from ..exchange import Request, get
from ..gateways import Backends, Gateway, backends, check_refusal
from ..generators.fortio import Fortio
from ..processes import Failure, Process, free_ports
from ..profiles import Profile
from ..variants import Variant

_DEADLINE_SECONDS = 300
_POLL_SECONDS = 0.01
_LOADED_REQUESTS = 2000
_LOADED_CONNECTIONS = 16


@dataclass(frozen=True)
class Size:
    """A gateway's size."""

    millicores: int
    workers: int

    @property
    def name(self) -> str:
        return f"{self.millicores}m-{self.workers}w"


@dataclass(frozen=True)
class Startup:
    """The experiment."""

    name: str
    title: str
    variants: List[Variant]

    def facts(self, profile: Profile) -> Dict[str, Any]:
        return {
            "title": self.title,
            "generator": "lab",
            "repetitions": profile.repetitions,
            "variants": {variant.name: variant.title for variant in self.variants},
        }

    def sizes(self, profile: Profile, repetition: int) -> List[Size]:
        """The smallest take long: the sampled profile has them once."""
        usual = [Size(1000, 1), Size(500, 1), Size(1000, 2)]
        if profile.pick(True, repetition > 0, False):
            return usual
        return [*usual, Size(100, 1), Size(70, 1)]

    def expected_seconds(self, conditions: Conditions) -> float:
        profile = conditions.profile
        return len(self.variants) * sum(
            _seconds(size)
            for repetition in range(profile.repetitions)
            for size in self.sizes(profile, repetition)
            if not conditions.problem(size.millicores)
        )

    def run(self, bench: Bench) -> None:
        request = get(1024)
        cores = split_cores(bench.cores, 1000)
        for repetition in range(bench.profile.repetitions):
            with backends(bench.folder, cores) as services:
                for size in self.sizes(bench.profile, repetition):
                    why = bench.conditions.problem(size.millicores)
                    if why:
                        bench.record.leave_out(self.name, size.name, why)
                        continue
                    for variant in self.variants:
                        bench.progress.step(f"{self.name} {size.name} {variant.name} #{repetition + 1}")
                        bench.record.add(self._measure(bench, repetition, size, variant, services, request))
                        bench.progress.done(_seconds(size))

    def _measure(
        self,
        bench: Bench,
        repetition: int,
        size: Size,
        variant: Variant,
        services: Backends,
        request: Request,
    ) -> Dict[str, Any]:
        cores = split_cores(bench.cores, size.millicores)
        port, admin = free_ports(2)
        ports = envoy.Ports(port, admin, services.echo.port, services.auth.port)
        command = variant.prepare(bench.folder, ports, size.workers, None)
        group = bench.limiter.group(f"startup-{variant.name}", MEMORY_BYTES)
        try:
            handicap = 0.0 if variant.name == "bare" else bench.handicap
            allowed = round(size.millicores * (1 - handicap))
            group.limit_cpu(allowed)
            with Process(command, bench.folder / f"{variant.name}.log", cores.gateway, group) as process:
                gateway = Gateway(variant, process, group, port, False, allowed)
                first = _first_reply(gateway, request) - process.started
                figures = {
                    "seconds_to_first_200": round(first, 4),
                    "cpu_seconds_to_first_200": round(cpu_seconds(process.pid), 4),
                    "resident_bytes": resident_bytes(process.pid),
                }
                check_refusal(gateway, request)
                Fortio(
                    request,
                    port,
                    _LOADED_CONNECTIONS,
                    ["-n", str(_LOADED_REQUESTS)],
                    bench.folder,
                    cores.load,
                ).wait(_DEADLINE_SECONDS)
                figures["resident_loaded_bytes"] = resident_bytes(process.pid)
        finally:
            group.remove()
        return {
            "scenario": self.name,
            "step": size.name,
            "variant": variant.name,
            "repetition": repetition,
            "generator": "lab",
            "millicores": size.millicores,
            "workers": size.workers,
            **figures,
        }


def _seconds(size: Size) -> float:
    """What a measurement takes, about: half of them are of bare Envoy, which is there at once."""
    return 1.5 + 2000 / size.millicores


def _first_reply(gateway: Gateway, request: Request) -> float:
    """When the gateway replied rightly for the first time."""
    deadline = time.monotonic() + _DEADLINE_SECONDS
    problem = "no reply"
    while time.monotonic() < deadline:
        gateway.process.check_alive()
        # A port that nobody listens on yet costs the gateway nothing; a request does.
        with socket.socket() as probe:
            listening = probe.connect_ex(("127.0.0.1", gateway.port)) == 0
        if listening:
            try:
                problem = request.problem(gateway.port, timeout=_DEADLINE_SECONDS) or ""
                if not problem:
                    return time.time()
            except OSError as error:
                problem = str(error)
        time.sleep(_POLL_SECONDS)
    raise Failure(f"{gateway.variant.title} has not replied rightly for {_DEADLINE_SECONDS} s: {problem}")
