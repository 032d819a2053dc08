"""The charts as PNG files, by resvg."""

from __future__ import annotations

from pathlib import Path
from typing import List, Optional

from .figures import Figure
from .svg import WIDTH, standalone

_SCALE = 2
_FONTS = [
    Path("/usr/share/fonts"),
    Path("/usr/local/share/fonts"),
    Path.home() / ".fonts",
    Path("/Library/Fonts"),
]


def problem() -> Optional[str]:
    """Why there can be no pictures, or None."""
    try:
        import resvg_py  # noqa: F401
    except ImportError:
        return "resvg is not installed for this Python: `make setup` installs it for Python 3.10 and newer"
    if not any(next(folder.rglob("*.[to]tf"), None) for folder in _FONTS if folder.is_dir()):
        return "there are no fonts (Debian, Ubuntu: apt install fonts-dejavu-core)"
    return None


def write(folder: Path, figures: List[Figure]) -> None:
    """Writes NAME.png for each. There must be no problem()."""
    import resvg_py

    folder.mkdir(parents=True, exist_ok=True)
    style = (Path(__file__).resolve().parent / "chart.css").read_text(encoding="utf-8")
    for figure in figures:
        png = resvg_py.svg_to_bytes(svg_string=standalone(figure.svg, style), width=WIDTH * _SCALE)
        (folder / f"{figure.name}.png").write_bytes(bytes(png))
