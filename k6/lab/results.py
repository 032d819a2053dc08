"""A run on disk: a folder with run.json, which has every measurement, and raw/, what the generators wrote.

run.json is written anew after each measurement, so that a run that is cut short leaves what it has.
"""

from __future__ import annotations

import json
import os
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Dict, List, Optional, Tuple

FORMAT = "portcullis-bench/1"

Document = Dict[str, Any]
Measurement = Dict[str, Any]
Key = Tuple[str, str, str]
"""Scenario, step, variant: what repetitions have in common."""


class NoRun(Exception):
    """A file is not the record of a run; the text says why."""


def now() -> str:
    return datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


class Record:
    """A run that is being written."""

    def __init__(self, folder: Path, facts: Document):
        self.folder = folder
        (folder / "raw").mkdir(parents=True, exist_ok=True)
        self.document: Document = {
            "format": FORMAT,
            "started": now(),
            "ended": None,
            "complete": False,
            **facts,
            "scenarios": {},
            "left_out": [],
            "measurements": [],
        }
        self.write()

    @property
    def path(self) -> Path:
        return self.folder / "run.json"

    def scenario(self, name: str, facts: Document) -> None:
        self.document["scenarios"][name] = facts
        self.write()

    def add(self, measurement: Measurement) -> None:
        self.document["measurements"].append(measurement)
        self.write()

    def leave_out(self, scenario: str, what: str, why: str) -> None:
        entry = {"scenario": scenario, "what": what, "why": why}
        if entry not in self.document["left_out"]:
            self.document["left_out"].append(entry)

    def end(self, complete: bool) -> None:
        self.document["ended"] = now()
        self.document["complete"] = complete
        self.write()

    def raw_file(self, *parts: object) -> Path:
        """Where a generator may write."""
        return self.folder / "raw" / ("-".join(str(part) for part in parts) + ".json")

    def write(self) -> None:
        new = self.path.with_suffix(".new")
        new.write_text(text_of(self.document), encoding="utf-8")
        os.replace(new, self.path)


def text_of(document: Document) -> str:
    """As JSON, with each measurement on a line of its own."""
    rest = {name: value for name, value in document.items() if name != "measurements"}
    lines = ",\n".join(json.dumps(measured, ensure_ascii=False) for measured in document["measurements"])
    head = json.dumps(rest, indent=1, ensure_ascii=False)
    return f'{head[:-2]},\n "measurements": [\n{lines}\n]}}\n'


def load(path: Path) -> Document:
    """The record in a file, or in a run's folder. Raises NoRun."""
    if path.is_dir():
        path = path / "run.json"
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise NoRun(f"{path}: {error}") from error
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise NoRun(f"{path} is not a record of the format {FORMAT}")
    return document


def latest(results: Path) -> Optional[Path]:
    """The newest run's folder: their names begin with the time."""
    runs = sorted(folder.parent for folder in results.glob("*/run.json"))
    return runs[-1] if runs else None


def by_key(document: Document) -> Dict[Key, List[Measurement]]:
    """The repetitions of each variant in each step, in order."""
    found: Dict[Key, List[Measurement]] = {}
    for measurement in document["measurements"]:
        key = (measurement["scenario"], measurement["step"], measurement["variant"])
        found.setdefault(key, []).append(measurement)
    return found
