"""One moment at which a check must be answered, whatever it consists of."""

import asyncio
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

ANSWER_RESERVE_SECONDS = 0.5
"""Kept back from the calls, for grounding, the template and the record."""


@dataclass(frozen=True)
class Deadline:
    """The same for both calls; counted from the arrival of the request."""

    seconds: float
    began: float
    clock: Callable[[], float] = time.monotonic

    @staticmethod
    def after(seconds: float, clock: Callable[[], float] = time.monotonic) -> "Deadline":
        return Deadline(seconds, clock(), clock)

    @property
    def left_seconds(self) -> float:
        """Negative when it has passed."""
        return self.began + self.seconds - self.clock()

    @property
    def narration_seconds(self) -> float:
        """What the second call may take; 0 if there is no time for it."""
        return max(0.0, self.left_seconds - ANSWER_RESERVE_SECONDS)

    def within(self) -> asyncio.Timeout:
        """A context that raises TimeoutError when the deadline passes."""
        return asyncio.timeout(max(0.0, self.left_seconds))


class RecentTimes:
    """The 95th percentile of the last narrations: with less time than that, none is begun."""

    def __init__(self, window: int = 100, least: int = 5) -> None:
        self._seconds: deque[float] = deque(maxlen=window)
        self._least = least

    def add(self, seconds: float) -> None:
        self._seconds.append(seconds)

    @property
    def p95_seconds(self) -> float:
        """0 as long as too few are known."""
        if len(self._seconds) < self._least:
            return 0.0
        ordered = sorted(self._seconds)
        return ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))]
