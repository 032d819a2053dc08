"""`python -m report [RUN] [--output FOLDER]`: makes the report of a run.

Exit status: 0; 2 if there is no such run.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path
from typing import List

from lab import paths
from lab.results import Document, NoRun, latest, load, text_of

from . import markdown, pictures
from .claims import MISSED, Claim, claims
from .data import Run
from .figures import figures
from .page import page


def main(words: List[str]) -> int:
    parser = argparse.ArgumentParser(prog="report", description="Makes the report of a run of `make bench`.")
    parser.add_argument(
        "run", nargs="?", type=Path, help="a run.json, or its folder (default: the latest run)"
    )
    parser.add_argument("--output", type=Path, help="where to (default: report/ in the run's folder)")
    parser.add_argument(
        "--figures", type=Path, help="a Markdown document whose table of figures to write anew"
    )
    options = parser.parse_args(words)
    folder = options.run or latest(paths.RESULTS)
    if folder is None:
        print(f"report: there is no run in {paths.RESULTS}: use `make bench`", file=sys.stderr)
        return 2
    try:
        document = load(folder)
    except NoRun as problem:
        print(f"report: {problem}", file=sys.stderr)
        return 2
    source = folder / "run.json" if folder.is_dir() else folder
    output = options.output or source.parent / "report"
    claimed = write(source, document, output)
    if options.figures is not None:
        try:
            markdown.update(options.figures, document, claimed, output)
        except (OSError, ValueError, markdown.NoPlace) as problem:
            print(f"report: {options.figures}: {problem}", file=sys.stderr)
            return 2
    return 0


def write(source: Path, document: Document, output: Path) -> List[Claim]:
    """Writes everything, and says where. The claims."""
    run = Run(document)
    drawn, claimed = figures(run), claims(run)
    for old in ("claims", "charts"):
        shutil.rmtree(output / old, ignore_errors=True)
    (output / "claims").mkdir(parents=True)
    for claim in claimed:
        (output / "claims" / f"{claim.name}.json").write_text(text_of(claim.raw(document)), encoding="utf-8")
    if source.resolve() != (output / "run.json").resolve():
        shutil.copyfile(source, output / "run.json")
    (output / "index.html").write_text(page(document, drawn, claimed), encoding="utf-8")
    problem = pictures.problem()
    if problem is None:
        pictures.write(output / "charts", drawn)
    else:
        print(f"report: NO PICTURES: {problem}", file=sys.stderr)
    missed = sum(claim.verdict == MISSED for claim in claimed)
    print(f"{output / 'index.html'}: {len(drawn)} charts, {len(claimed)} claims, {missed} of them missed")
    return claimed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
