"""Makes OCI images from files, without a daemon. (https://github.com/opencontainers/image-spec, version 1.1)

The same files give the same digest: entries are sorted, have no owner and no time, and nothing says when or where the
image was made. Compressed layers depend on zlib too, so their digest is the same for the same version of Python's.
"""

import gzip
import hashlib
import io
import json
import shutil
import tarfile
from dataclasses import dataclass, field
from pathlib import Path

CONFIG = "application/vnd.oci.image.config.v1+json"
INDEX = "application/vnd.oci.image.index.v1+json"
LAYER = "application/vnd.oci.image.layer.v1.tar"
MANIFEST = "application/vnd.oci.image.manifest.v1+json"


@dataclass
class File:
    """A file of an image."""

    source: Path
    mode: int = 0o644


@dataclass
class Image:
    """What an image is made of."""

    files: dict
    """`File`s by their path in the image, in one layer."""
    architecture: str
    os: str = "linux"
    compressed: bool = False
    settings: dict = field(default_factory=dict)
    """How containers are run: `Entrypoint`, `User` and so on."""
    labels: dict = field(default_factory=dict)
    """Annotations of the manifest."""


def layer(files):
    """A tar archive of the files, with the folders that they lie in."""
    folders = sorted({str(parent) for path in files for parent in Path(path).parents if str(parent) != "."})
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for folder in folders:
            entry = tarfile.TarInfo(folder)
            entry.type, entry.mode = tarfile.DIRTYPE, 0o755
            tar.addfile(entry)
        for path in sorted(files):
            content = files[path].source.read_bytes()
            entry = tarfile.TarInfo(path)
            entry.size, entry.mode = len(content), files[path].mode
            tar.addfile(entry, io.BytesIO(content))
    return archive.getvalue()


def digest(content):
    return "sha256:" + hashlib.sha256(content).hexdigest()


def text(document):
    return json.dumps(document, sort_keys=True, separators=(",", ":")).encode()


def write(image, name, folder):
    """Writes the image as an OCI layout into `folder`, anew, and returns its digest. `name` is its whole reference,
    which container runtimes give it when they import the layout."""
    folder = Path(folder)
    shutil.rmtree(folder, ignore_errors=True)
    blobs = folder / "blobs" / "sha256"
    blobs.mkdir(parents=True)

    def blob(content, media_type):
        (blobs / digest(content).removeprefix("sha256:")).write_bytes(content)
        return {"mediaType": media_type, "digest": digest(content), "size": len(content)}

    archive = layer(image.files)
    if image.compressed:
        content = blob(gzip.compress(archive, 9, mtime=0), LAYER + "+gzip")
    else:
        content = blob(archive, LAYER)
    config = {
        "architecture": image.architecture,
        "os": image.os,
        "config": image.settings,
        "rootfs": {"type": "layers", "diff_ids": [digest(archive)]},
    }
    manifest = {
        "schemaVersion": 2,
        "mediaType": MANIFEST,
        "config": blob(text(config), CONFIG),
        "layers": [content],
        "annotations": image.labels,
    }
    described = blob(text(manifest), MANIFEST)
    index = {
        "schemaVersion": 2,
        "mediaType": INDEX,
        "manifests": [
            described
            | {
                "platform": {"architecture": image.architecture, "os": image.os},
                "annotations": {
                    "io.containerd.image.name": name,
                    "org.opencontainers.image.ref.name": name.rpartition(":")[2],
                },
            }
        ],
    }
    (folder / "oci-layout").write_bytes(text({"imageLayoutVersion": "1.0.0"}))
    (folder / "index.json").write_bytes(text(index))
    return described["digest"]
