"""The page: everything in one file, nothing from elsewhere."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import Any, Dict, List, Tuple

from lab.results import Document

from . import published
from .claims import FACT, MET, MISSED, Claim
from .figures import Figure

_FOLDER = Path(__file__).resolve().parent
DISTURBANCE_MILLICORES = 100
_CLASSES = {MET: "met", MISSED: "missed"}


def style() -> str:
    return _read("chart.css") + _read("page.css")


def page(document: Document, figures: List[Figure], claims: List[Claim]) -> str:
    """The page. `claims/NAME.json` and `run.json` lie beside it."""
    sections: Dict[str, List[Figure]] = {}
    for figure in figures:
        sections.setdefault(figure.section, []).append(figure)
    links = [
        ("claims", "Claims"),
        *((_anchor(name), name) for name in sections),
        ("reference", "Reference points"),
    ]
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en">',
            "<head>",
            '<meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            # No icon, so that browsers do not look for one.
            '<link rel="icon" href="data:,">',
            "<title>Portcullis: benchmark report</title>",
            f"<style>{style()}</style>",
            "</head>",
            "<body>",
            "<header>",
            "<h1>Portcullis: benchmark report</h1>",
            f"<p>{escape(_summary(document))}</p>",
            *_warnings(document),
            _facts(document),
            "<nav>" + "".join(f'<a href="#{anchor}">{escape(name)}</a>' for anchor, name in links) + "</nav>",
            "</header>",
            "<main>",
            _claims(claims),
            *(_section(name, content) for name, content in sections.items()),
            _reference(),
            _left_out(document),
            "</main>",
            '<footer>All of this run\'s measurements: <a href="run.json">run.json</a>.</footer>',
            '<div id="tip" role="tooltip"></div>',
            f"<script>{_read('page.js')}</script>",
            "</body>",
            "</html>",
            "",
        ]
    )


def _summary(document: Document) -> str:
    return (
        "Gateways under load, each with the CPU time and memory that its limit allows, beside bare Envoy in the same run. "
        f"Run of {document['started']}, profile {document['profile']}."
    )


def _warnings(document: Document) -> List[str]:
    found = []
    if not document.get("complete"):
        found.append("This run was cut short, or a scenario failed: not everything was measured.")
    if document.get("handicap"):
        found.append(
            f"Everything but bare Envoy was denied {document['handicap']:.0%} of its quota, to try the comparison."
        )
    if document["profile"] == "tiny":
        found.append("The profile “tiny” is for trying the lab: its figures mean nothing.")
    load = document.get("load_average_before") or [0]
    if load[0] > 1:
        found.append(f"The machine was busy when the run began: its load average was {load[0]}.")
    disturbed, all_of_them = disturbances(document)
    if disturbed:
        found.append(
            f"In {disturbed} of {all_of_them} measurements processes that had no part in them used more than "
            f"{DISTURBANCE_MILLICORES} millicores, or the hypervisor took as much away."
        )
    return [f'<p class="warning">{escape(text)}</p>' for text in found]


def disturbances(document: Document) -> Tuple[int, int]:
    """How many measurements strangers disturbed, of how many where that is known."""
    known = [entry["strangers"] for entry in document["measurements"] if "strangers" in entry]
    disturbed = [
        strangers for strangers in known
        if strangers["millicores"] + strangers["stolen_millicores"] > DISTURBANCE_MILLICORES
    ]  # fmt: skip
    return len(disturbed), len(known)


def _facts(document: Document) -> str:
    machine = document["machine"]
    memory = machine.get("memory_bytes")
    cores = document["cores"]
    facts: List[Tuple[str, str]] = [
        (
            "Machine",
            f"{machine['cores']} cores{' of a virtual machine' if machine['virtual'] else ''}, {machine['cpu']}, "
            + (f"{memory / (1 << 30):.0f} GiB, " if memory else "")
            + f"{machine['system']}, kernel {machine['kernel']}",
        ),
        (
            "Limits",
            f"CPU by {document['cpu_limit']}"
            + (
                f", memory {document['memory_limit_bytes'] >> 20} MiB"
                if document["memory_limit_bytes"]
                else ", memory not limited"
            ),
        ),
        (
            "Cores",
            f"gateways of up to 1000 millicores on {_list(cores['gateway_up_to_1000m'])}, load and backends on {_list(cores['load'])}",
        ),
        (
            "Versions",
            ", ".join(f"{name} {version}" for name, version in sorted(document["versions"].items())),
        ),
        ("Build", document["build"]["revision"]),
    ]
    return "<dl>" + "".join(f"<dt>{name}</dt><dd>{escape(text)}</dd>" for name, text in facts) + "</dl>"


def _claims(claims: List[Claim]) -> str:
    rows = []
    for claim in claims:
        rows.append(
            "<tr>"
            f'<td data-label="claim">{escape(claim.text)}'
            f'<details class="method"><summary>method</summary>{escape(claim.method)}</details></td>'
            f'<td data-label="goal">{escape(claim.goal or "–")}</td>'
            f'<td data-label="measured">{escape(claim.figure)}</td>'
            f'<td data-label="verdict" class="{_CLASSES.get(claim.verdict, "unmeasured")}">'
            f"{escape('–' if claim.verdict == FACT else claim.verdict)}</td>"
            f'<td data-label="raw data"><a href="claims/{claim.name}.json">{len(claim.measurements)} measurements</a></td>'
            "</tr>"
        )
    return (
        '<h2 id="claims">Claims</h2><p>Each with the measurements that it rests on. Ratios are between measurements of '
        "this run. A goal that was derived from a published figure is a number to reach: that figure is of another machine.</p>"
        '<div class="scroll"><table class="claims"><thead><tr><th>Claim</th><th>Goal</th><th>Measured</th><th>Verdict</th>'
        f"<th>Raw data</th></tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
    )


def _section(name: str, figures: List[Figure]) -> str:
    drawn = "".join(
        f'<figure id="{figure.name}">{figure.svg}<figcaption>{escape(figure.caption)}</figcaption></figure>'
        for figure in figures
    )
    return f'<h2 id="{_anchor(name)}">{escape(name)}</h2><div class="charts">{drawn}</div>'


def _reference() -> str:
    rows = "".join(
        f"<tr><td>{escape(source.name)}</td><td>{escape(source.machine)}</td><td>{escape(source.method)}</td></tr>"
        for source in (published.FLEX, published.MULE, published.WSO2)
    )
    return (
        '<h2 id="reference">Reference points</h2><p>Diamonds in the charts are figures that vendors have published, each of '
        "its own machine.</p>"
        '<div class="scroll"><table><thead><tr><th>Source</th><th>Machine</th><th>Method</th></tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
    )


def _left_out(document: Document) -> str:
    if not document["left_out"]:
        return ""
    rows = "".join(
        f"<tr><td>{escape(entry['scenario'])}</td><td>{escape(entry['what'])}</td><td>{escape(entry['why'])}</td></tr>"
        for entry in document["left_out"]
    )
    return (
        '<h2 id="left-out">Left out</h2><div class="scroll"><table><thead><tr><th>Scenario</th><th>What</th><th>Why</th>'
        f"</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _anchor(name: str) -> str:
    return name.lower().replace(" ", "-")


def _list(numbers: List[Any]) -> str:
    return f"core{'s' if len(numbers) > 1 else ''} {', '.join(map(str, numbers))}"


def _read(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")
