"""Certificates for a run, by openssl."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from .paths import Missing

KINDS = {
    "rsa-2048": ["rsa:2048"],
    "rsa-4096": ["rsa:4096"],
    "p-256": ["ec", "-pkeyopt", "ec_paramgen_curve:P-256"],
}


def make(folder: Path, kind: str) -> Path:
    """A certificate that signs itself and is valid for two days: its path without .crt or .key."""
    openssl = shutil.which("openssl")
    if openssl is None:
        raise Missing("openssl is not installed")
    subprocess.run(
        [openssl, "req", "-x509", "-newkey", *KINDS[kind], "-nodes", "-days", "2", "-subj", "/CN=localhost",
         "-keyout", f"{kind}.key", "-out", f"{kind}.crt"],
        cwd=folder, check=True, capture_output=True,
    )  # fmt: skip
    return folder / kind
