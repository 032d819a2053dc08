"""Axes: from values to places, with ticks at round numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import List, Protocol, Sequence


class Scale(Protocol):
    def place(self, value: float) -> float:
        """From 0 (the axis's start) to 1."""

    def ticks(self) -> List[float]:
        """Values to be written at the axis."""


@dataclass(frozen=True)
class Linear:
    """From zero to a round number that all values are below."""

    top: float
    step: float

    @classmethod
    def of(cls, values: Sequence[float], ticks: int = 5) -> "Linear":
        most = max([value for value in values if math.isfinite(value)] or [1.0])
        most = most if most > 0 else 1.0
        step = _round_step(most / ticks)
        return cls(step * math.ceil(most / step - 1e-9), step)

    def place(self, value: float) -> float:
        return value / self.top

    def ticks(self) -> List[float]:
        return [self.step * n for n in range(round(self.top / self.step) + 1)]


@dataclass(frozen=True)
class Logarithmic:
    """From a power of ten to another, or to where the values end. For values above zero."""

    low: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> "Logarithmic":
        positive = [value for value in values if value > 0 and math.isfinite(value)] or [1.0, 10.0]
        low = 10 ** math.floor(math.log10(min(positive)) + 1e-9)
        high = 10 ** math.ceil(math.log10(max(positive)) - 1e-9)
        return cls(low, high if high > low else low * 10)

    def place(self, value: float) -> float:
        return math.log(max(value, self.low) / self.low) / math.log(self.high / self.low)

    def ticks(self) -> List[float]:
        decades = round(math.log10(self.high / self.low))
        return [self.low * 10**n for n in range(decades + 1)]


@dataclass(frozen=True)
class Categories:
    """Evenly spaced places, each value being the number of its category."""

    count: int

    def place(self, value: float) -> float:
        return (value + 0.5) / self.count

    def ticks(self) -> List[float]:
        return [float(n) for n in range(self.count)]


def readable(value: float) -> str:
    """A number as people write it at an axis."""
    if value == 0:
        return "0"
    if abs(value) >= 1e6:
        return f"{value / 1e6:g}M"
    if abs(value) >= 10000:
        return f"{value / 1000:g}k"
    return f"{value:.10g}" if abs(value) >= 1000 else f"{value:.4g}"


def _round_step(least: float) -> float:
    """The least of 1, 2, 2.5 and 5 times a power of ten that is not below."""
    power = 10 ** math.floor(math.log10(least))
    for factor in (1, 2, 2.5, 5, 10):
        if factor * power >= least * (1 - 1e-9):
            return factor * power
    return 10 * power
