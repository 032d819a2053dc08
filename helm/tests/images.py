"""Builds the images twice, pushes them to a registry of the test's own, and pulls them again."""

import contextlib
import hashlib
import io
import os
import subprocess
import sys
import tarfile
import tempfile
import time
import urllib.request
from pathlib import Path

import gateway
from cases import ROOT, TOOLS


def build(folder, *arguments):
    """Builds the images into a folder; gives their digests by their names."""
    run = subprocess.run(
        [sys.executable, ROOT / "helm" / "images" / "build", "--output", folder, *arguments],
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    if run.returncode:
        raise RuntimeError(f"the images could not be built:\n{run.stdout}{run.stderr}")
    lines = (folder / "DIGESTS").read_text(encoding="utf-8").splitlines()
    return dict(reversed(line.split("  ")) for line in lines)


@contextlib.contextmanager
def registry():
    """A registry in memory; gives its address."""
    (port,) = gateway.free_ports(1)
    with gateway.process(TOOLS / "crane", "registry", "serve", "--address", f"127.0.0.1:{port}") as running:
        for _ in range(100):
            with contextlib.suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{port}/v2/", timeout=5):
                break
            time.sleep(0.1)
        else:
            raise RuntimeError(f"no registry: {running.poll()}")
        yield f"127.0.0.1:{port}"


def checks():
    """Pairs of what was looked at and the problems found."""
    with tempfile.TemporaryDirectory() as folder, registry() as address:
        first = build(Path(folder) / "first")
        second = build(Path(folder) / "second", "--repository", f"{address}/portcullis", "--push", "--skip-programs")
        by_name = {reference.rpartition("/")[2]: digest for reference, digest in first.items()}
        yield (
            "two builds have the same digests",
            [reference for reference, digest in second.items() if by_name[reference.rpartition("/")[2]] != digest],
        )
        yield (
            "the registry has what was built",
            [
                reference
                for reference, digest in second.items()
                if crane("digest", reference).strip() != digest.encode()
            ],
        )
        reference = next(name for name in second if "/gateway:" in name)
        yield "a module's artifact holds the module", differs_from_module(crane("export", reference, "-"))


def crane(*arguments):
    return subprocess.run(
        [TOOLS / "crane", *arguments],
        check=True,
        stdout=subprocess.PIPE,
        env=os.environ | {"DOCKER_CONFIG": "/nonexistent"},
    ).stdout


def differs_from_module(archive):
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        if tar.getnames() != ["plugin.wasm"]:
            return [f"it holds {tar.getnames()}"]
        module = tar.extractfile("plugin.wasm").read()
    wanted = (ROOT / "dist" / "gateway.wasm").read_bytes()
    if module != wanted:
        return [f"{hashlib.sha256(module).hexdigest()}, not {hashlib.sha256(wanted).hexdigest()}"]
    return []
