"""The statistics of few repetitions."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from itertools import combinations
from statistics import mean, median, stdev
from typing import Callable, List, Sequence, Tuple

# Two-sided 95 % points of Student's t distribution by degrees of freedom; the last is that of the normal one.
_T_95 = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
    2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
]  # fmt: skip
_NORMAL_95 = 1.96

_MOST_RELABELLINGS = 5000
_RESAMPLES = 2000

SEED = 20261121
"""Of every resampling, so that the same records give the same verdict."""


@dataclass(frozen=True)
class Estimate:
    """A mean and the half width of its 95 % confidence interval; infinite for a single repetition."""

    value: float
    margin: float
    count: int

    @property
    def low(self) -> float:
        return self.value - self.margin

    @property
    def high(self) -> float:
        return self.value + self.margin


def estimate(sample: Sequence[float]) -> Estimate:
    """Of the mean of a sample that is not empty, by Student's t."""
    count = len(sample)
    if count == 1:
        return Estimate(sample[0], math.inf, 1)
    degrees = count - 1
    t = _T_95[degrees - 1] if degrees <= len(_T_95) else _NORMAL_95
    return Estimate(mean(sample), t * stdev(sample) / math.sqrt(count), count)


def quartiles(sample: Sequence[float]) -> Tuple[float, float, float]:
    """Lower quartile, median and upper quartile, by linear interpolation."""
    ordered = sorted(sample)

    def at(part: float) -> float:
        place = part * (len(ordered) - 1)
        below = ordered[math.floor(place)]
        return below + (ordered[math.ceil(place)] - below) * (place - math.floor(place))

    return at(0.25), at(0.5), at(0.75)


def _bootstrap(value: float, count: int, resample: Callable[[random.Random], float]) -> Estimate:
    """A value with the wider half of its 95 % interval by the percentile bootstrap; `resample` works it out of
    repetitions that are drawn anew."""
    if count == 1:
        return Estimate(value, math.inf, 1)
    chance = random.Random(SEED)
    found = sorted(resample(chance) for _ in range(_RESAMPLES))
    low, high = found[int(0.025 * _RESAMPLES)], found[int(0.975 * _RESAMPLES) - 1]
    return Estimate(value, max(high - value, value - low), count)


def bootstrap_median(sample: Sequence[float]) -> Estimate:
    """The median, with its 95 % interval."""
    size = len(sample)
    return _bootstrap(median(sample), size, lambda chance: median(chance.choices(sample, k=size)))


@dataclass(frozen=True)
class Line:
    """A line that was fitted by least squares, and how much of the variance it explains."""

    slope: float
    intercept: float
    r_squared: float


def fit(points: Sequence[Tuple[float, float]]) -> Line:
    """Raises ValueError for fewer than two different x."""
    xs, ys = [x for x, _ in points], [y for _, y in points]
    if len(set(xs)) < 2:
        raise ValueError("a line needs two different x")
    middle_x, middle_y = mean(xs), mean(ys)
    spread = sum((x - middle_x) ** 2 for x in xs)
    slope = sum((x - middle_x) * (y - middle_y) for x, y in points) / spread
    intercept = middle_y - slope * middle_x
    total = sum((y - middle_y) ** 2 for y in ys)
    rest = sum((y - intercept - slope * x) ** 2 for x, y in points)
    return Line(slope, intercept, 1.0 if total == 0 else 1 - rest / total)


Samples = Sequence[Tuple[float, Sequence[float]]]
"""For each x, the repetitions of what was measured there."""


def fit_means(samples: Samples) -> Line:
    """Through the means of the repetitions."""
    return fit([(x, mean(ys)) for x, ys in samples])


def bootstrap_r_squared(samples: Samples) -> Estimate:
    """How much of the variance the line through the means explains, with its 95 % interval: repetitions are drawn anew
    for each x."""
    return _bootstrap(
        fit_means(samples).r_squared,
        min(len(ys) for _, ys in samples),
        lambda chance: fit_means([(x, chance.choices(ys, k=len(ys))) for x, ys in samples]).r_squared,
    )


Stratum = Tuple[List[float], List[float]]
"""What two runs have measured of the same thing."""


def stratified_difference(strata: Sequence[Stratum]) -> float:
    """The mean over strata of how much the mean of the second run is above that of the first."""
    return mean(mean(new) - mean(base) for base, new in strata)


def permutation_test(strata: Sequence[Stratum], draws: int = 20000) -> float:
    """How likely a difference as great as this one, or greater, is where the runs are the same: which run a value is
    from is drawn by lot within each stratum. E. S. Edgington, P. Onghena, Randomization Tests, ch. 3 and 6."""
    # A hair below, for sums in another order round differently.
    observed = abs(stratified_difference(strata)) * (1 - 1e-9) * len(strata)
    chance = random.Random(SEED)
    possible = [_relabelled(base, new, chance) for base, new in strata]
    as_great = sum(
        abs(sum(chance.choice(differences) for differences in possible)) >= observed for _ in range(draws)
    )
    return (as_great + 1) / (draws + 1)


def least_p(strata: Sequence[Stratum]) -> float:
    """The least p that so few values can have in a permutation test, however far apart they are."""
    return min(1.0, 2 / math.prod(math.comb(len(base) + len(new), len(new)) for base, new in strata))


def _relabelled(base: List[float], new: List[float], chance: random.Random) -> List[float]:
    """The differences that a stratum has for each way to say which values are the second run's; where there are
    many ways, for some of them."""
    values = base + new
    total = sum(values)

    def difference(chosen: Sequence[float]) -> float:
        part = sum(chosen)
        return part / len(new) - (total - part) / len(base)

    if math.comb(len(values), len(new)) <= _MOST_RELABELLINGS:
        return [difference(chosen) for chosen in combinations(values, len(new))]
    return [difference(chance.sample(values, len(new))) for _ in range(_MOST_RELABELLINGS)]


def holm(p_values: Sequence[float]) -> List[float]:
    """p-values that stay true however many there are: S. Holm, A Simple Sequentially Rejective Multiple Test
    Procedure, 1979."""
    order = sorted(range(len(p_values)), key=lambda at: p_values[at])
    adjusted = [0.0] * len(p_values)
    greatest = 0.0
    for rank, at in enumerate(order):
        greatest = max(greatest, min(1.0, (len(p_values) - rank) * p_values[at]))
        adjusted[at] = greatest
    return adjusted
