"""Charts as SVG. Colours come from classes: the page's style has one set for light and one for dark, and pictures that
stand alone bring the light one with them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from html import escape
from typing import List, Optional, Sequence, Tuple

from .scale import Categories, Linear, Logarithmic, Scale, readable

WIDTH, HEIGHT = 460, 330
_LEFT, _RIGHT, _TOP = 56, 20, 30
_AXIS = 34
_LEGEND_LINE = 16
_BAR = 0.8
"""The part of a category's width that its bars take."""


@dataclass(frozen=True)
class Point:
    x: float
    y: float
    low: Optional[float] = None
    high: Optional[float] = None
    tip: str = ""


@dataclass(frozen=True)
class Series:
    """What belongs together. `style` is a class of style.css: the variant's name, or `published`."""

    title: str
    style: str
    points: List[Point]


@dataclass(frozen=True)
class Chart:
    """A chart with its axes."""

    title: str
    x_label: str
    y_label: str
    series: List[Series] = field(default_factory=list)
    categories: Optional[Sequence[str]] = None
    """Names of the places on the x axis; None for numbers."""
    kind: str = "lines"
    """`lines` or `bars`."""
    x_log: bool = False
    y_log: bool = False

    def svg(self) -> str:
        return _Drawing(self).draw()


def rows(title: str, x_label: str, entries: Sequence[Tuple[str, str, Point]]) -> str:
    """Horizontal bars: label, style, and a point whose x is the value (`low` and `high` are its whiskers)."""
    line = 26
    height = _TOP + line * len(entries) + _AXIS + 8
    left = 178
    scale = Linear.of(
        [value for *_, point in entries for value in (point.x, point.high) if value is not None], ticks=4
    )
    right = WIDTH - _RIGHT - 24

    def across(value: float) -> float:
        return left + (right - left) * scale.place(min(value, scale.top))

    parts = [_head(title, height)]
    bottom = _TOP + line * len(entries)
    for tick in scale.ticks():
        parts.append(_line("grid", across(tick), _TOP, across(tick), bottom))
        parts.append(_text("tick", across(tick), bottom + 15, readable(tick), "middle"))
    for number, (label, style, point) in enumerate(entries):
        top = _TOP + line * number + 4
        parts.append(_text("row", left - 6, top + 13, label, "end"))
        width = max(0.5, across(max(point.x, 0)) - left)
        parts.append(
            f'<rect class="mark fill {style}" x="{left}" y="{top}" width="{width:.1f}" height="18" rx="1.5"'
            f"{_tip(point.tip)}/>"
        )
        end = across(max(point.x, 0))
        if point.low is not None and point.high is not None and math.isfinite(point.high):
            end = across(max(point.high, 0))
            parts.append(_line("whisker", across(max(point.low, 0)), top + 9, end, top + 9))
        parts.append(_text("value", end + 4, top + 13, readable(float(f"{point.x:.3g}")), "start"))
    parts.append(_text("label", (left + right) / 2, bottom + 30, x_label, "middle"))
    parts.append("</svg>")
    return "".join(parts)


class _Drawing:
    def __init__(self, chart: Chart):
        self.chart = chart
        self.legend = len(chart.series) * _LEGEND_LINE
        self.height = HEIGHT + self.legend + 6
        self.bottom = HEIGHT - _AXIS - 8
        points = [point for series in chart.series for point in series.points]
        ys = [value for point in points for value in (point.y, point.high) if value is not None]
        self.y: Scale = Logarithmic.of(ys) if chart.y_log else Linear.of(ys)
        if chart.categories is not None:
            self.x: Scale = Categories(len(chart.categories))
        elif chart.x_log:
            self.x = Logarithmic.of([point.x for point in points])
        else:
            self.x = Linear.of([point.x for point in points])

    def across(self, value: float) -> float:
        return _LEFT + (WIDTH - _LEFT - _RIGHT) * self.x.place(value)

    def up(self, value: float) -> float:
        return self.bottom - (self.bottom - _TOP) * min(1.0, max(0.0, self.y.place(value)))

    def draw(self) -> str:
        parts = [_head(self.chart.title, self.height)]
        parts += self._axes()
        bars = [series for series in self.chart.series if series.style != "published"]
        for series in self.chart.series:
            if self.chart.kind == "bars" and series.style != "published":
                parts += self._bars(series, bars.index(series), len(bars))
            else:
                parts += self._marks(series)
        parts += self._legend()
        parts.append("</svg>")
        return "".join(parts)

    def _axes(self) -> List[str]:
        parts = []
        for tick in self.y.ticks():
            at = self.up(tick)
            parts.append(_line("grid", _LEFT, at, WIDTH - _RIGHT, at))
            parts.append(_text("tick", _LEFT - 5, at + 4, readable(tick), "end"))
        names = self.chart.categories
        for tick in self.x.ticks():
            name = names[int(tick)] if names is not None else readable(tick)
            parts.append(_text("tick", self.across(tick), self.bottom + 16, name, "middle"))
        parts.append(_line("axis", _LEFT, self.bottom, WIDTH - _RIGHT, self.bottom))
        parts.append(
            _text("label", (_LEFT + WIDTH - _RIGHT) / 2, self.bottom + 33, self.chart.x_label, "middle")
        )
        middle = (self.bottom + _TOP) / 2
        parts.append(
            f'<text class="label" transform="translate(13 {middle:.0f}) rotate(-90)" text-anchor="middle">'
            f"{escape(self.chart.y_label)}</text>"
        )
        return parts

    def _bars(self, series: Series, place: int, count: int) -> List[str]:
        parts = []
        assert self.chart.categories is not None
        room = (WIDTH - _LEFT - _RIGHT) / len(self.chart.categories)
        width = room * _BAR / count
        for point in series.points:
            left = self.across(point.x) - room * _BAR / 2 + width * place
            top = self.up(point.y)
            parts.append(
                f'<rect class="mark fill {series.style}" x="{left:.1f}" y="{top:.1f}" width="{width * 0.92:.1f}" '
                f'height="{max(0.5, self.bottom - top):.1f}"{_tip(point.tip)}/>'
            )
            parts += self._whisker(point, left + width * 0.46)
        return parts

    def _marks(self, series: Series) -> List[str]:
        parts = []
        ordered = sorted(series.points, key=lambda point: point.x)
        if len(ordered) > 1 and self.chart.kind == "lines":
            path = " ".join(f"{self.across(point.x):.1f},{self.up(point.y):.1f}" for point in ordered)
            parts.append(f'<polyline class="line {series.style}" points="{path}"/>')
        for point in ordered:
            x, y = self.across(point.x), self.up(point.y)
            parts += self._whisker(point, x)
            if series.style == "published":
                parts.append(
                    f'<path class="mark published" d="M{x:.1f} {y - 6:.1f}l6 6l-6 6l-6-6z"{_tip(point.tip)}/>'
                )
            else:
                parts.append(
                    f'<circle class="mark fill {series.style}" cx="{x:.1f}" cy="{y:.1f}" r="4"{_tip(point.tip)}/>'
                )
        return parts

    def _whisker(self, point: Point, x: float) -> List[str]:
        if point.low is None or point.high is None or not math.isfinite(point.high):
            return []
        return [_line("whisker", x, self.up(point.low), x, self.up(point.high))]

    def _legend(self) -> List[str]:
        parts = []
        top = self.bottom + 52
        for number, series in enumerate(self.chart.series):
            y = top + _LEGEND_LINE * number
            if series.style == "published":
                parts.append(f'<path class="mark published" d="M{_LEFT + 5} {y - 9}l5 5l-5 5l-5-5z"/>')
            else:
                parts.append(
                    f'<rect class="fill {series.style}" x="{_LEFT}" y="{y - 9}" width="10" height="10" rx="2"/>'
                )
            fitted = _fitted(series.title, WIDTH - _LEFT - 20, 11.5)
            parts.append(f'<text class="key" x="{_LEFT + 16}" y="{y}"{fitted}>{escape(series.title)}</text>')
        return parts


def _head(title: str, height: float) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0f}" class="chart" role="img" '
        f'aria-label="{escape(title, quote=True)}"><rect class="paper" width="{WIDTH}" height="{height:.0f}"/>'
        f'<text class="title" x="10" y="18"{_fitted(title, WIDTH - 20, 13 * _BOLD)}>{escape(title)}</text>'
    )


def _fitted(text: str, room: float, size: float) -> str:
    """Squeezes a text that would be too long in this size."""
    return f' textLength="{room:.0f}" lengthAdjust="spacingAndGlyphs"' if _width(text) * size > room else ""


def _width(text: str) -> float:
    """How wide a text is at the most, in units of its font's size: as in DejaVu Sans, which is wider than most."""
    return sum(_WIDTHS.get(letter, 0.69 if letter.isupper() else 0.62) for letter in text)


# Of the letters that are much narrower or wider than most.
_WIDTHS = {
    **dict.fromkeys("ijl'", 0.28),
    **dict.fromkeys(" .,:;/-()|frt", 0.39),
    **dict.fromkeys("mwMW%", 0.95),
}
_BOLD = 1.13


def _line(style: str, x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line class="{style}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def _text(style: str, x: float, y: float, text: str, anchor: str) -> str:
    return f'<text class="{style}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _tip(tip: str) -> str:
    return f' data-tip="{escape(tip, quote=True)}" tabindex="0"' if tip else ""


def standalone(svg: str, style: str) -> str:
    """An SVG file that brings its style along."""
    end = svg.index(">") + 1
    return f"{svg[:end]}<style>{style}</style>{svg[end:]}"
