"""How far a run is: a bar on a terminal, a line every few seconds elsewhere."""

import sys
import time
from collections import Counter
from typing import TextIO

from tqdm import tqdm

LINE_SECONDS = 5.0


class Progress:
    """Rate and ETA count this sitting; running accuracy is by condition and includes what was done before."""

    def __init__(self, total: int, done: int, out: TextIO = sys.stderr) -> None:
        self._out = out
        self._total, self._done, self._done_before = total, done, done
        self._began = time.monotonic()
        self._said = self._began
        self._right: Counter[str] = Counter()
        self._answered: Counter[str] = Counter()
        self._errors = 0
        self._bar = (
            tqdm(total=total, initial=done, unit="check", file=out, dynamic_ncols=True) if out.isatty() else None
        )

    def seen(self, condition: str, right: bool) -> None:
        """An answer of an earlier sitting."""
        self._answered[condition] += 1
        self._right[condition] += right

    def answered(self, condition: str, right: bool) -> None:
        self.seen(condition, right)
        self._step(condition)

    def failed(self, condition: str) -> None:
        self._errors += 1
        self._step(condition)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
        else:
            self._line("")

    def _step(self, condition: str) -> None:
        self._done += 1
        if self._bar is not None:
            self._bar.set_postfix_str(self._accuracy(condition), refresh=False)
            self._bar.update()
        elif time.monotonic() - self._said >= LINE_SECONDS:
            self._line(condition)

    def _line(self, condition: str) -> None:
        self._said = time.monotonic()
        seconds = self._said - self._began
        fresh = self._done - self._done_before
        rate = fresh / seconds if seconds else 0.0
        left = f"{(self._total - self._done) / rate / 60:.1f} min left" if rate else "no rate yet"
        accuracy = self._accuracy(condition) if condition else f"{self._errors} without an answer"
        print(
            f"{self._done}/{self._total} checks, {rate * 60:.1f} a minute, {left}; {accuracy}",
            file=self._out,
            flush=True,
        )

    def _accuracy(self, condition: str) -> str:
        answered = self._answered[condition]
        share = f"{self._right[condition] / answered:.1%}" if answered else "-"
        errors = f", {self._errors} without an answer" if self._errors else ""
        return f"{condition} {share} right of {answered}{errors}"
