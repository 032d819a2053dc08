"""Has Envoy check the configurations that the chart renders, with the real modules and real certificates."""

import re
import shutil
import subprocess
import sys

import yaml

from cases import ROOT

sys.path.insert(0, str(ROOT / ".ci"))

import wasm_module  # noqa: E402

UNRESTRICTED = {"_initialize", "proxy_abi_version_0_2_1", "proxy_on_memory_allocate"}


def envoy_binary():
    found = sorted((ROOT / ".tools" / "venv" / "lib").glob("python3*/site-packages/envoy/_bin/envoy"))
    if not found:
        raise RuntimeError("Envoy is not installed: run `make setup`")
    return found[0]


def config_maps(objects):
    return [entry for entry in objects if entry["kind"] == "ConfigMap" and "envoy.yaml" in entry["data"]]


def place(config_map, folder):
    """Writes the files of a ConfigMap as they are in a pod, but with paths of this machine, and secrets to go with
    them. Returns the path of Envoy's configuration."""
    shutil.rmtree(folder, ignore_errors=True)
    secrets = folder / "secrets"
    secrets.mkdir(parents=True)
    for name, content in config_map["data"].items():
        for secret in set(re.findall(r"/etc/portcullis/secrets/([^/\s}]+)", content)):
            make_secret(
                secrets / secret, re.findall(rf"/etc/portcullis/secrets/{re.escape(secret)}/([^/\s}}]+)", content)
            )
        if config_map["metadata"]["name"].endswith("-injection"):
            content = as_injected(content)
        content = content.replace("/opt/portcullis/", f"{ROOT}/dist/")
        content = content.replace("/etc/portcullis/envoy/", f"{folder}/").replace(
            "/etc/portcullis/secrets/", f"{secrets}/"
        )
        (folder / name).write_text(content, encoding="utf-8")
    return folder / "envoy.yaml"


def as_injected(content):
    """What becomes of the configuration on its way through a container's environment: the policy puts in the port, and
    the kubelet expands what looks like variables (third_party/forked/golang/expansion in Kubernetes)."""
    return re.sub(
        r"\$(\$|\([^)]*\)?)",
        lambda found: "$" if found.group(1) == "$" else "(expanded)",
        content.replace("@APP_PORT@", "8080"),
    )


def make_secret(folder, keys):
    folder.mkdir(exist_ok=True)
    for key in set(keys):
        if key == "tls.crt":
            subprocess.run(
                [
                    "openssl",
                    "req",
                    "-x509",
                    "-newkey",
                    "ec",
                    "-pkeyopt",
                    "ec_paramgen_curve:prime256v1",
                    "-nodes",
                    "-keyout",
                    folder / "tls.key",
                    "-out",
                    folder / "tls.crt",
                    "-days",
                    "2",
                    "-subj",
                    "/CN=test",
                    "-addext",
                    f"subjectAltName=DNS:{folder.name}.example",
                ],
                check=True,
                capture_output=True,
            )
            shutil.copy(folder / "tls.crt", folder / "ca.crt")
        elif key == "ca.crt":
            make_secret(folder, ["tls.crt"])
        elif key != "tls.key":
            (folder / key).write_text("Bearer test", encoding="utf-8")


def problems(config_map, folder):
    path = place(config_map, folder)
    run = validated(path)
    # A warning, of a deprecated field for one, is a problem too; but not those of modules: while a configuration is
    # checked there is nobody to call.
    warnings = [
        line
        for line in run.stdout.splitlines()
        if re.search(r"\]\[(warning|error|critical)\]", line) and "] wasm log " not in line
    ]
    found = run.stdout.splitlines() if run.returncode else warnings
    return found + capability_problems(path)


def validated(path):
    return subprocess.run(
        [
            envoy_binary(),
            "--mode",
            "validate",
            "--log-level",
            "warn",
            "--service-node",
            "test",
            "--service-cluster",
            "test",
            "--config-path",
            path,
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
        check=False,
    )


SECRET_FILE = re.compile(r"/etc/portcullis/secrets/([^/\s}]+)/([^/\s}]+)")


def secret_problems(config_map, folder):
    """Whether what a pod checks before Envoy starts finds every Secret that cannot be used."""
    path = place(config_map, folder).with_name("secrets.yaml")
    discovered = {
        file
        for name, content in config_map["data"].items()
        if name.startswith(("certificate-", "ca-"))
        for file in SECRET_FILE.findall(content)
    }
    checked = set(SECRET_FILE.findall(config_map["data"].get("secrets.yaml", "")))
    found = [f"not checked: {name}/{key}" for name, key in sorted(discovered ^ checked)]
    if not checked:
        return found
    run = validated(path)
    if run.returncode:
        found += ["good Secrets are refused:", *run.stdout.splitlines()]
    for name, key in sorted(checked):
        file = folder / "secrets" / name / key
        good = file.read_bytes()
        others = {"not PEM": b"no PEM\n", "cut off": good[: len(good) // 2], "empty": b""}
        if key == "tls.key":
            others["another key"] = subprocess.run(
                ["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"],
                check=True,
                capture_output=True,
            ).stdout
        for what, content in others.items():
            file.write_bytes(content)
            run = validated(path)
            if not run.returncode:
                found.append(f"{name}/{key}: {what}: accepted")
            elif "PRIVATE KEY" in run.stdout:
                found.append(f"{name}/{key}: {what}: the key is shown")
        file.write_bytes(good)
    return found


def capability_problems(path):
    """What is missing from a plugin's list of capabilities is never called, without a word."""
    module = wasm_module.read(ROOT / "dist" / "gateway.wasm")
    needed = {name for _host, name in module.imports} | set(module.exports) - UNRESTRICTED
    found = []
    for plugin in plugins(yaml.safe_load(path.read_text(encoding="utf-8"))):
        allowed = set(plugin["vm_config"]["capability_restriction_config"]["allowed_capabilities"])
        if allowed != needed:
            found.append(f"capabilities differ from the module's: {' '.join(sorted(allowed ^ needed))}")
    return found


def plugins(node):
    """The plugin configurations in a document, wherever they are."""
    if isinstance(node, dict):
        if "vm_config" in node:
            yield node
        for value in node.values():
            yield from plugins(value)
    elif isinstance(node, list):
        for value in node:
            yield from plugins(value)
