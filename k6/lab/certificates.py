"""Certificates for a run, by openssl."""

from __future__ import annotations

import subprocess
from pathlib import Path

from .paths import ROOT, Missing


def make(folder: Path, kind: str) -> Path:
    """A certificate with a key of this kind: its path without .crt or .key."""
    made = subprocess.run([ROOT / "envoy-config/tls/certificates", folder], capture_output=True, text=True, check=False)
    if made.returncode:
        raise Missing(made.stderr.strip())
    return folder / kind
