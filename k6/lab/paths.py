"""Where the programs are that the lab runs."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Optional

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = ROOT / "k6/scenarios"
CLIENTS = ROOT / "k6/backends/clients.example.json"
RESULTS = ROOT / "bench-results"


class Missing(Exception):
    """A program or a file that a measurement needs is not there; the text says how to get it."""


def envoy() -> str:
    named = os.environ.get("PORTCULLIS_ENVOY")
    installed = sorted(ROOT.glob(".tools/venv/lib/python3*/site-packages/envoy/_bin/envoy"))
    if not named and not installed:
        raise Missing("Envoy is not installed: use `make setup`, or set PORTCULLIS_ENVOY")
    return named or str(installed[0])


def k6() -> str:
    return _program("k6", ROOT / ".tools/venv/bin/k6", "use `make setup`")


def fortio() -> str:
    return _program("fortio", ROOT / ".tools/bin/fortio", "`make setup` builds it where there is Go")


def nginx() -> Optional[str]:
    """nginx, a peer that is measured where it is installed. It is in /usr/sbin, which users' paths lack."""
    return shutil.which("nginx", path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin")


def backends() -> str:
    return str(_built(_target() / "native/portcullis-backends", "make backends"))


def overhead() -> str:
    return str(_built(_target() / "native/portcullis-overhead", "make bench"))


def module(name: str) -> Path:
    """A module of `make build`."""
    return _built(ROOT / "dist" / f"{name}.wasm", "make build")


def text(path: Path) -> str:
    """A file of the repository."""
    return _built(path, "git status").read_text(encoding="utf-8")


def has_module(name: str) -> bool:
    return (ROOT / "dist" / f"{name}.wasm").is_file()


def _target() -> Path:
    return ROOT / os.environ.get("CARGO_TARGET_DIR", "target")


def _built(path: Path, target: str) -> Path:
    if not path.is_file():
        raise Missing(f"{path} is missing: use `{target}`")
    return path


def _program(name: str, installed: Path, advice: str) -> str:
    named = os.environ.get(name.upper())
    found = named or (str(installed) if installed.exists() else shutil.which(name))
    if not found:
        raise Missing(f"{name} is not installed: {advice}, or name it in {name.upper()}")
    return found
