"""The manifests of the guide, and what becomes of them in the lab."""

import os
import re
from pathlib import Path

import yaml

LAB = Path(__file__).resolve().parent
GUIDE = LAB.parent
ROOT = GUIDE.parent.parent

POLICIES = ("gateway-policies", "gateway-bodies", "sidecar-policies", "sidecar-bodies")
"""The manifests that have policies: one object each."""

BREAKABLE = ("1", "match", "client-id", "rate-limit", "content-router", "xslt-transform")
"""What PORTCULLIS_LAB_BREAK can be."""

# What the manifests have in place of a registry and of a digest of one's own.
REPOSITORY = "registry.example/portcullis/gateway"
DIGEST = "0123456789abcdef" * 4


def load(path):
    return [document for document in yaml.safe_load_all(path.read_text(encoding="utf-8")) if document]


def guide(name):
    return load(GUIDE / f"{name}.yaml")


def policies(manifest):
    """The list of policies in a WasmPlugin or an EnvoyFilter, which may be changed in place."""
    if manifest["kind"] == "WasmPlugin":
        return manifest["spec"]["pluginConfig"]["policies"]
    (extension,) = [
        patch["patch"]["value"]
        for patch in manifest["spec"]["configPatches"]
        if patch["applyTo"] == "EXTENSION_CONFIG"
    ]
    return extension["typed_config"]["config"]["configuration"]["value"]["policies"]


def policy(manifest, name):
    """The document of one of its policies."""
    (found,) = [entry[name] for entry in policies(manifest) if name in entry]
    return found


def with_policies(name):
    """A manifest with policies. PORTCULLIS_LAB_BREAK leaves out the policy that it names, or all but the access log for
    `1`, or has plugins in gateways look at the wrong traffic for `match`: a way to see that the tests notice."""
    (manifest,) = guide(name)
    broken = os.environ.get("PORTCULLIS_LAB_BREAK", "")
    if broken == "match":
        for match in manifest["spec"].get("match", []):
            match["mode"] = "SERVER"
    elif broken:
        entries = policies(manifest)
        entries[:] = [entry for entry in entries if broken not in ("1", *entry)] or [{"access-log": {}}]
    return manifest


def placed(document, artifact, certificates):
    """The document with the lab's artifact in place of the example's, and with files in place of Secrets, which only
    Kubernetes has."""
    if isinstance(document, dict):
        found = {key: placed(value, artifact, certificates) for key, value in document.items()}
        name = found.pop("credentialName", None)
        if name:
            found["serverCertificate"] = str(certificates / f"{name}.pem")
            found["privateKey"] = str(certificates / f"{name}.key")
        return found
    if isinstance(document, list):
        return [placed(value, artifact, certificates) for value in document]
    if isinstance(document, str):
        repository, _, digest = artifact.partition("@sha256:")
        return re.sub(DIGEST, digest, document.replace(REPOSITORY, repository))
    return document
