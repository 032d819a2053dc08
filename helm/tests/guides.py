"""Checks of the guides in docs: what they show of files is what they have, each topology has its session, and each alert
is there. That the sessions are true is seen in helm/lab."""

import re
import sys

import yaml

from cases import CHART, ROOT

sys.path.insert(0, str(ROOT / "helm" / "lab"))

import session  # noqa: E402

OPERATIONS = ROOT / "docs" / "operations.md"
TOPOLOGIES = ["standard", "ingress", "sidecar", "injection"]
COMMANDS = 5

ALERTS = re.compile(r"(?<=<!-- alerts -->\n\n).*?(?=\n<!-- end -->)", re.DOTALL)


def update():
    for path, made in documents():
        path.write_text(made, encoding="utf-8")


def documents():
    """The documents with generated parts, as they must be."""
    yield session.DOCUMENT, session.with_values(session.DOCUMENT.read_text(encoding="utf-8"))
    yield OPERATIONS, ALERTS.sub(lambda _: alerts(), OPERATIONS.read_text(encoding="utf-8"), count=1)


def alerts():
    """The alerts of the chart as a table."""
    lines = ["| alert | severity | when, and what then | by |", "|---|---|---|---|"]
    for rule in yaml.safe_load((CHART / "files" / "alerts.yaml").read_text(encoding="utf-8")):
        summary = re.sub(r"{{ \$(labels\.)?(\w+) }}", r"*\2*", rule["annotations"]["summary"])
        series = dict.fromkeys(re.findall(r"\b(?:portcullis|envoy)_\w+(?={)", rule["expr"]))
        cells = [
            f"`{rule['alert']}`",
            rule["labels"]["severity"],
            f"{summary}. {rule['annotations']['description']}",
            ", ".join(f"`{name}`" for name in series),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def problems():
    for path, made in documents():
        if path.read_text(encoding="utf-8") != made:
            yield f"{path.name} shows something as it was: run `helm/tests/run --update generated`"
    if alerts() not in OPERATIONS.read_text(encoding="utf-8"):
        yield f"{OPERATIONS.name} has no place for the alerts"
    yield from session_problems()


def session_problems():
    found = session.blocks(session.DOCUMENT.read_text(encoding="utf-8"))
    sessions = {block.name: session.parse(block.content) for block in found if block.kind == "session"}
    if list(sessions) != TOPOLOGIES:
        yield f"sessions are {list(sessions)}, not {TOPOLOGIES}"
    for name, exchanges in sessions.items():
        commands = [exchange.command for exchange in exchanges]
        if len(commands) != COMMANDS or not any(command.startswith("helm install ") for command in commands):
            yield f"session {name} is not {COMMANDS} commands with an installation: {commands}"
        if not any("401" in line for exchange in exchanges[-2:] for line in exchange.output):
            yield f"session {name} does not end with a request that is refused"
