"""So many checks a minute for each key, in this process."""

import time

from limits import RateLimitItemPerMinute
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter


class RateLimit:
    """0 a minute means no limit."""

    def __init__(self, per_minute: int) -> None:
        self._item = RateLimitItemPerMinute(per_minute) if per_minute else None
        self._limiter = MovingWindowRateLimiter(MemoryStorage())

    def seconds_to_wait(self, caller: str) -> int:
        """0 if the caller may ask now, which counts; else when there is room again."""
        if self._item is None or self._limiter.hit(self._item, caller):
            return 0
        window = self._limiter.get_window_stats(self._item, caller)
        return max(1, round(window.reset_time - time.time()))
