"""fortio: https://github.com/fortio/fortio"""

from __future__ import annotations

import json
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Dict, List, Optional, Set

from .. import paths
from ..exchange import Request
from ..processes import Failure, Process
from . import Outcome

_PERCENTILES = {50: "p50", 90: "p90", 95: "p95", 99: "p99", 99.9: "p99_9"}
# Seconds; the histogram's lowest buckets. Percentiles are interpolated within them.
_RESOLUTION = 0.0001
_TIMEOUT_SECONDS = 60


def command(
    request: Request, url: str, connections: int, amount: List[str], report: Optional[Path], reuse: bool
) -> List[str]:
    """`amount` is how much: `-t 3s` or `-n 1000`."""
    arguments = [
        paths.fortio(), "load", "-quiet", "-qps", "0", "-c", str(connections), *amount,
        "-r", str(_RESOLUTION), "-p", ",".join(str(percentile) for percentile in _PERCENTILES),
        "-timeout", f"{_TIMEOUT_SECONDS}s", "-allow-initial-errors", "-httpbufferkb", "2048", "-k",
        f"-keepalive={'true' if reuse else 'false'}",
    ]  # fmt: skip
    for name, value in request.headers.items():
        if name != "Content-Type":
            arguments += ["-H", f"{name}: {value}"]
    if report is not None:
        arguments += ["-json", str(report)]
    return arguments + [url]


def body_arguments(request: Request, folder: Path) -> List[str]:
    """A body makes it a POST."""
    if request.body is None:
        return []
    payload = folder / "payload"
    payload.write_bytes(request.body)
    return ["-payload-file", str(payload), "-content-type", request.headers["Content-Type"]]


class Fortio:
    """One run."""

    def __init__(
        self,
        request: Request,
        port: int,
        connections: int,
        amount: List[str],
        folder: Path,
        cores: Set[int],
        report: Optional[Path] = None,
        tls: bool = False,
        reuse: bool = True,
    ):
        self._request = request
        self._report = report
        url = f"{'https' if tls else 'http'}://127.0.0.1:{port}{request.path}"
        line = command(request, url, connections, amount + body_arguments(request, folder), report, reuse)
        self.process = Process(line, folder / "fortio.log", cores)

    def wait(self, seconds: float) -> None:
        """Waits for its end. Raises Failure if it fails, or takes much longer than that."""
        with self.process:
            try:
                status = self.process.popen.wait(seconds + 2 * _TIMEOUT_SECONDS)
            except Exception as error:
                raise Failure(f"fortio does not end: {error}") from error
        if status != 0:
            raise Failure(f"fortio has ended with status {status}:\n{self.process.tail()}")

    def outcome(self) -> Outcome:
        if self._report is None:
            raise ValueError("this run makes no report")
        return outcome(json.loads(self._report.read_text(encoding="utf-8")), self._request)


def outcome(report: Dict[str, Any], request: Request) -> Outcome:
    """What a report says. Replies of another size than the right one are errors, though fortio cannot tell how many
    of them there were: if the sum of the sizes is not right, all are."""
    histogram = report["DurationHistogram"]
    requests = histogram["Count"]
    right = report.get("RetCodes", {}).get(str(request.status), 0)
    if request.reply is not None:
        bytes_of_bodies = report["Sizes"]["Sum"] - report["HeaderSizes"]["Sum"]
        if right == requests and bytes_of_bodies != requests * len(request.reply):
            right = 0
    return Outcome(
        start=_time(report["StartTime"]),
        seconds=report["ActualDuration"] / 1e9,
        requests=requests,
        errors=requests - right,
        latency_ms=_latency(histogram) if requests else None,
    )


def _latency(histogram: Dict[str, Any]) -> Dict[str, float]:
    figures = {
        "mean": histogram["Avg"],
        "stddev": histogram["StdDev"],
        "min": histogram["Min"],
        "max": histogram["Max"],
    }
    for entry in histogram["Percentiles"]:
        figures[_PERCENTILES[entry["Percentile"]]] = entry["Value"]
    return {name: 1000 * seconds for name, seconds in figures.items()}


def _time(text: str) -> float:
    """RFC 3339 with nanoseconds, which Python does not read."""
    whole, _, rest = text.partition(".")
    fraction = rest.rstrip("Z") or "0"
    moment = datetime.strptime(whole.rstrip("Z"), "%Y-%m-%dT%H:%M:%S").replace(tzinfo=timezone.utc)
    return moment.timestamp() + float(f"0.{fraction}")
