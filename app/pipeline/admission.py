"""Who may begin a check now: one permit for both calls, and a short queue with a short wait."""

import asyncio
import math
import random
import time
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Literal

from app.errors import ServiceBusy
from app.telemetry import metrics

RefusalReason = Literal["full", "late"]

SLOW_WAIT_SECONDS = 0.1
SLOW_FOR_SECONDS = 1.0
"""When everybody admitted for this long has waited more than SLOW_WAIT_SECONDS, the newest waiter is served first.

The oldest has waited longest and its client is the likeliest to be gone: served in order, everybody would be late.
"""

RETRY_AFTER_SECONDS = (1, 60)
UNKNOWN_SECONDS = 2.0
"""Expected as long as no check has ended."""

JITTER = 0.2
DURATION_WINDOW = 50
"""Checks over which the present speed is measured. By what each took: the time between them may be a quiet night."""


@dataclass(frozen=True)
class AdmissionLimits:
    permits: int
    queue: int
    wait_seconds: float


class Admission:
    """For one event loop. Whatever happens to a waiter, no permit is lost and none is made up."""

    def __init__(self, limits: AdmissionLimits, clock: Callable[[], float] = time.monotonic) -> None:
        self._limits = limits
        self._clock = clock
        self._free = limits.permits
        self._waiting: deque[tuple[asyncio.Future[None], float]] = deque()
        self._slow_since: float | None = None
        self._durations: deque[float] = deque(maxlen=DURATION_WINDOW)
        self._idle = asyncio.Event()
        self._idle.set()

    @property
    def in_flight(self) -> int:
        return self._limits.permits - self._free

    @property
    def queued(self) -> int:
        return len(self._waiting)

    async def idle(self) -> None:
        """Returns when nobody holds a permit."""
        await self._idle.wait()

    @asynccontextmanager
    async def permit(self, at_most_seconds: float = math.inf) -> AsyncIterator[None]:
        """Raises ServiceBusy: at once if the queue is full, else when the wait, or the caller's own time, is over."""
        await self._acquire(at_most_seconds)
        self._idle.clear()
        began = self._clock()
        try:
            yield
        finally:
            self._durations.append(self._clock() - began)
            self._release()

    def require_room(self) -> None:
        """For who can say no before anything else is done. Raises ServiceBusy if a permit would be refused at once."""
        if (self._waiting or not self._free) and len(self._waiting) >= self._limits.queue:
            raise self._refusal("full", "too many checks are being worked on and waiting; try again later")

    async def _acquire(self, at_most_seconds: float) -> None:
        self.require_room()
        if self._free and not self._waiting:
            self._free -= 1
            self._admitted(0.0)
            return
        await self._wait(min(self._limits.wait_seconds, at_most_seconds))

    async def _wait(self, seconds: float) -> None:
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        entry = (waiter, self._clock())
        self._waiting.append(entry)
        metrics.ADMISSION_QUEUE.set(len(self._waiting))
        try:
            async with asyncio.timeout(seconds):
                await waiter
        except BaseException as error:
            if waiter.done() and not waiter.cancelled() and waiter.exception() is None:
                self._release()  # it was given a permit in the very moment it gave up
            elif entry in self._waiting:
                self._waiting.remove(entry)
            if isinstance(error, TimeoutError):
                raise self._refusal("late", "every check that waited was too late; try again later") from None
            raise
        finally:
            metrics.ADMISSION_QUEUE.set(len(self._waiting))
        self._admitted(self._clock() - entry[1])

    def _release(self) -> None:
        """Hand the permit to a waiter, or back."""
        while self._waiting:
            waiter, _ = self._waiting.pop() if self._is_slow() else self._waiting.popleft()
            if not waiter.done():
                waiter.set_result(None)
                return
        self._free += 1
        if self._free == self._limits.permits:
            self._idle.set()

    def _admitted(self, waited: float) -> None:
        metrics.ADMISSION_WAIT_SECONDS.observe(waited)
        if waited <= SLOW_WAIT_SECONDS:
            self._slow_since = None
        elif self._slow_since is None:
            self._slow_since = self._clock()

    def _is_slow(self) -> bool:
        return self._slow_since is not None and self._clock() - self._slow_since >= SLOW_FOR_SECONDS

    def _refusal(self, reason: RefusalReason, message: str) -> ServiceBusy:
        metrics.ADMISSION_REFUSED.labels(reason).inc()
        return ServiceBusy(message, self._retry_after_seconds())

    def _retry_after_seconds(self) -> int:
        """When the queue of now will be gone, spread so that the refused do not all come back together."""
        if self._durations:
            mean = sum(self._durations) / len(self._durations)
            expected = (len(self._waiting) + self.in_flight) * mean / self._limits.permits
        else:
            expected = UNKNOWN_SECONDS
        shortest, longest = RETRY_AFTER_SECONDS
        spread = expected * random.uniform(1 - JITTER, 1 + JITTER)  # noqa: S311 - nothing secret
        return round(min(max(spread, shortest), longest))
