"""The claims as a Markdown table, for a document of the repository."""

from __future__ import annotations

from pathlib import Path
from typing import List

from lab.results import Document

from .claims import FACT, Claim

BEGIN, END = "<!-- figures: begin -->", "<!-- figures: end -->"


class NoPlace(Exception):
    """A document has no place for the table."""


def table(document: Document, claims: List[Claim], folder: str) -> str:
    """`folder` is where the report is, seen from the document."""
    machine = document["machine"]
    lines = [
        f"Run of {document['started'][:10]}, profile `{document['profile']}`: {machine['cores']} cores "
        f"({machine['cpu']}{', virtual' if machine['virtual'] else ''}), Envoy {document['versions']['envoy']}, "
        f"CPU limits by {document['cpu_limit']}.",
        "",
        "| | goal | measured | |",
        "|---|---|---|---|",
    ]
    for claim in claims:
        cells = [claim.text, claim.goal or "–", claim.figure, "–" if claim.verdict == FACT else claim.verdict]
        cells[2] = f"[{cells[2]}]({folder}/claims/{claim.name}.json)"
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def update(file: Path, document: Document, claims: List[Claim], report: Path) -> None:
    """Puts the table between the document's marks. Raises NoPlace where it has none."""
    text = file.read_text(encoding="utf-8")
    file.write_text(replaced(text, table(document, claims, relative(report, file))), encoding="utf-8")


def relative(report: Path, file: Path) -> str:
    """The report's folder, as a link in a document beside it or above it says."""
    return report.resolve().relative_to(file.resolve().parent).as_posix()


def replaced(text: str, figures: str) -> str:
    """The text with these figures between its marks."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise NoPlace(f"there is no {BEGIN} … {END}")
    return f"{before}{begin}\n\n{figures}\n{end}{after}"
