"""Bills of materials in CycloneDX form (https://cyclonedx.org/docs/1.5/json): which crates, at which versions and with
which checksums, are compiled into a module or a program.

What is in it is cargo's own answer, for one package, one target and the features that it is built with there; checksums
are those of Cargo.lock. Build scripts, macros and tests are no part of what is shipped, and are left out.
"""

import os
import re
import subprocess

# `2hex v0.4.3|MIT OR Apache-2.0`: depth, name, version, where it comes from if not from the registry, licence.
LINE = re.compile(
    r"(?P<depth>\d+)(?P<name>\S+) v(?P<version>\S+)(?: \((?P<source>[^)]*)\))?\|(?P<license>.*?)(?: \(\*\))?"
)
ENTRY = re.compile(r'\[\[package\]\]\nname = "(.*)"\nversion = "(.*)"\nsource = ".*"\nchecksum = "(.*)"\n')


def document(root, package, target):
    """The bill of materials of a package of the workspace at `root`, as it is built for `target`."""
    tree = subprocess.run(
        [
            "cargo",
            "tree",
            "--package",
            package,
            "--target",
            target,
            "--edges",
            "normal,no-proc-macro",
            "--prefix",
            "depth",
            "--format",
            "{p}|{l}",
            *os.environ.get("CARGO_FLAGS", "").split(),
        ],
        check=True,
        capture_output=True,
        encoding="utf-8",
        cwd=root,
    ).stdout
    checksums = {
        (name, version): checksum
        for name, version, checksum in ENTRY.findall((root / "Cargo.lock").read_text(encoding="utf-8"))
    }
    components, needs, path = {}, {}, []
    for line in tree.splitlines():
        found = LINE.fullmatch(line)
        if found is None:
            raise ValueError(f"cargo tree says: {line}")
        reference = f"{found['name']}@{found['version']}"
        components.setdefault(reference, component(found, reference, checksums))
        needs.setdefault(reference, set())
        del path[int(found["depth"]) :]
        if path:
            needs[path[-1]].add(reference)
        path.append(reference)
    main = next(iter(components))
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "component": components[main] | {"type": "application"},
            "properties": [{"name": "portcullis:target", "value": target}],
        },
        "components": [components[name] for name in sorted(components) if name != main],
        "dependencies": [{"ref": name, "dependsOn": sorted(needs[name])} for name in sorted(needs)],
    }


def component(found, reference, checksums):
    made = {"type": "library", "bom-ref": reference, "name": found["name"], "version": found["version"]}
    if found["license"]:
        # An old way to write OR.
        made["licenses"] = [{"expression": found["license"].replace("/", " OR ")}]
    checksum = checksums.get((found["name"], found["version"]))
    if checksum:
        made["purl"] = f"pkg:cargo/{reference}"
        made["hashes"] = [{"alg": "SHA-256", "content": checksum}]
    return made
