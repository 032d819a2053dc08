"""k6, with the scripts in k6/scenarios."""

from __future__ import annotations

import json
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Dict, List, Set

from .. import paths
from ..processes import Failure, Process
from . import Outcome

# k6's exit status when thresholds were crossed: the figures are there, and say so.
_CROSSED = 99


class K6:
    """One run of a script, which has one or more phases."""

    def __init__(self, script: str, variables: Dict[str, str], folder: Path, cores: Set[int], summary: Path):
        self._summary = summary
        summary.unlink(missing_ok=True)
        settings = {**variables, "SUMMARY": str(summary)}
        self.process = Process(
            [
                paths.k6(), "run", "--quiet", "--no-usage-report", "--address", "127.0.0.1:0",
                *(argument for name, value in settings.items() for argument in ("-e", f"{name}={value}")),
                str(paths.SCRIPTS / f"{script}.js"),
            ],
            folder / "k6.log",
            cores,
        )  # fmt: skip

    def wait(self, seconds: float) -> None:
        """Waits for its end. Raises Failure if it fails, or takes much longer than that."""
        with self.process:
            try:
                status = self.process.popen.wait(seconds + 180)
            except Exception as error:
                raise Failure(f"k6 does not end: {error}") from error
        if status not in (0, _CROSSED) or not self._summary.exists():
            raise Failure(f"k6 has ended with status {status}:\n{self.process.tail()}")

    def summary(self) -> Dict[str, Any]:
        return json.loads(self._summary.read_text(encoding="utf-8"))


def outcomes(summary: Dict[str, Any]) -> List[Outcome]:
    """One for each phase."""
    began = _time(summary["started"])
    end = 0.0
    found = []
    for phase in summary["phases"]:
        start = end + phase["warmup"]
        end = start + phase["duration"]
        wrong = phase["error_rate"] + phase["corrupt_rate"]
        extra = {
            name: phase[name]
            for name in ("first_byte_ms", "handshake_ms", "direct_ms", "added_ms")
            if name in phase
        }
        found.append(
            Outcome(
                start=began + start,
                seconds=phase["duration"],
                requests=phase["requests"],
                errors=round(wrong * phase["requests"]),
                latency_ms=phase["latency_ms"]
                and {name: value for name, value in phase["latency_ms"].items() if name != "count"},
                extra=extra,
            )
        )
    return found


def _time(text: str) -> float:
    return datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=timezone.utc).timestamp()
