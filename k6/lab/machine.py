"""The machine and the versions of everything, which every figure belongs to."""

from __future__ import annotations

import hashlib
import os
import platform
import re
import subprocess
from pathlib import Path
from typing import Any, Dict, List

from . import paths


def describe() -> Dict[str, Any]:
    cpuinfo = _read("/proc/cpuinfo")
    model = re.search(r"^model name\s*: (.*)$", cpuinfo, re.MULTILINE)
    memory = re.search(r"^MemTotal:\s*(\d+) kB$", _read("/proc/meminfo"), re.MULTILINE)
    system = re.search(r'^PRETTY_NAME="(.*)"$', _read("/etc/os-release"), re.MULTILINE)
    return {
        "cpu": model[1] if model else platform.processor() or "unknown",
        "architecture": platform.machine(),
        "cores": len(os.sched_getaffinity(0)),
        "virtual": "hypervisor" in cpuinfo,
        "memory_bytes": int(memory[1]) * 1024 if memory else None,
        "system": system[1] if system else platform.system(),
        "kernel": platform.release(),
    }


def versions() -> Dict[str, str]:
    """Of what takes part; what is missing is left out."""
    found = {"python": platform.python_version()}
    for name, program, arguments, pattern in (
        ("envoy", paths.envoy, ["--version"], r"/(\d+\.\d+\.\d+)/"),
        ("k6", paths.k6, ["version"], r"v(\d+\.\d+\.\d+)"),
        ("fortio", paths.fortio, ["version"], r"(\d+\.\d+\.\d+)"),
        ("nginx", paths.nginx, ["-v"], r"nginx/(\S+)"),
    ):
        try:
            command = program()
        except paths.Missing:
            continue
        version = re.search(pattern, _output([command, *arguments])) if command else None
        if version:
            found[name] = version[1]
    return found


def build() -> Dict[str, Any]:
    """The revision, and the modules as they are."""
    return {
        "revision": _output(
            ["git", "describe", "--always", "--abbrev=12", "--dirty", "--exclude", "*"]
        ).strip()
        or "unknown",
        "modules": {
            module.stem: {
                "bytes": module.stat().st_size,
                "sha256": hashlib.sha256(module.read_bytes()).hexdigest(),
            }
            for module in sorted((paths.ROOT / "dist").glob("*.wasm"))
        },
    }


def load_average() -> List[float]:
    return [round(average, 2) for average in os.getloadavg()]


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except OSError:
        return ""


def _output(command: List[str]) -> str:
    try:
        finished = subprocess.run(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=paths.ROOT, check=False, timeout=30
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return finished.stdout.decode(errors="replace") if finished.returncode == 0 else ""
