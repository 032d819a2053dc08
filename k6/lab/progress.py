"""What the lab says while it works, on standard error."""

from __future__ import annotations

import sys
import time


class Progress:
    """Counts measurements, and estimates what is left from what the ones before took against what they were
    expected to."""

    def __init__(self) -> None:
        self._expected = 1.0
        self._done = 0.0
        self._began = time.monotonic()

    def expect(self, seconds: float) -> None:
        """How long everything will take, about."""
        self._expected = max(seconds, 1.0)

    def say(self, text: str) -> None:
        print(text, file=sys.stderr, flush=True)

    def step(self, text: str) -> None:
        """A line with the time that has gone and the time that is left."""
        gone = time.monotonic() - self._began
        # The first measurements say little about pace.
        pace = gone / self._done if self._done > 0.1 * self._expected else 1.0
        left = max(0.0, self._expected - self._done) * pace
        self.say(f"{_clock(gone)} gone, {_clock(left)} left  {text}")

    def done(self, expected_seconds: float) -> None:
        self._done += expected_seconds


def _clock(seconds: float) -> str:
    return f"{int(seconds) // 60:d}:{int(seconds) % 60:02d}"
