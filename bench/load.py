"""Load that does not wait for answers: requests at fixed moments, each timed from the moment it was due.

HTTP/1.1 over plain asyncio streams, so that the generator costs a fraction of what it measures.
"""

import asyncio
import json
import random
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

MESSAGE = "I am 34 and would like the £2,400 course and the £150 check-up on 14 December 2027 at 10am."
BODY: Mapping[str, object] = {"message": MESSAGE, "received_at": "2026-11-29T18:00:00Z"}
TIMEOUT_SECONDS = 60.0


@dataclass(frozen=True)
class Outcome:
    status: int
    """0 if the connection failed or nothing came in time."""
    seconds: float
    """From the moment the request was due to the last byte of its answer."""
    due: float
    retry_after: str
    body: bytes

    @property
    def is_answered(self) -> bool:
        return self.status == 200

    @property
    def is_refused(self) -> bool:
        """Told to come back."""
        return self.status in (429, 503) and self.retry_after != ""


class Connection:
    """One keep-alive connection, opened when it is needed."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None
        self.was_used = False

    async def post(self, body: bytes, headers: str = "", path: str = "/consultations/check") -> tuple[int, str, bytes]:
        """Status, Retry-After, body."""
        if self._writer is None or self._writer.is_closing():
            self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self._port)
            self.was_used = False
        assert self._reader is not None
        self._writer.write(
            f"POST {path} HTTP/1.1\r\nHost: bench\r\nContent-Type: application/json\r\n{headers}"
            f"Content-Length: {len(body)}\r\n\r\n".encode()
            + body
        )
        head = (await self._reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
        lines = dict(line.split(": ", 1) for line in head.split("\r\n")[1:] if ": " in line)
        content = await self._reader.readexactly(int(lines["content-length"]))
        self.was_used = True
        if lines.get("connection") == "close":
            self.close()
        return int(head.split(" ", 2)[1]), lines.get("retry-after", ""), content

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()
        self._writer = None


class Pool:
    """Connections that are free, and new ones when there is none: an open loop needs as many as are due."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._free: list[Connection] = []

    async def post(self, body: bytes, due: float, headers: str = "") -> Outcome:
        connection = self._free.pop() if self._free else Connection(self._port)
        try:
            async with asyncio.timeout(TIMEOUT_SECONDS):
                try:
                    status, retry_after, content = await connection.post(body, headers)
                except (ConnectionError, asyncio.IncompleteReadError) as error:
                    if not connection.was_used or getattr(error, "partial", b""):
                        raise
                    connection.close()  # kept alive until the server closed it: nothing of this request was read
                    status, retry_after, content = await connection.post(body, headers)
        except (OSError, TimeoutError, asyncio.IncompleteReadError, KeyError, ValueError):
            connection.close()
            return Outcome(0, time.monotonic() - due, due, "", b"")
        self._free.append(connection)
        return Outcome(status, time.monotonic() - due, due, retry_after, content)

    def close(self) -> None:
        for connection in self._free:
            connection.close()


async def open_loop(port: int, a_second: float, seconds: float) -> list[Outcome]:
    """Arrivals at random moments of that rate, whatever becomes of those before."""
    pool = Pool(port)
    body = json.dumps(BODY).encode()
    tasks: list[asyncio.Task[Outcome]] = []
    draw = random.Random(7)
    due = time.monotonic()
    end = due + seconds
    while (due := due + draw.expovariate(a_second)) < end:
        await asyncio.sleep(max(0.0, due - time.monotonic()))
        tasks.append(asyncio.create_task(pool.post(body, due)))
    outcomes = list(await asyncio.gather(*tasks))
    pool.close()
    return outcomes


async def closed_loop(
    port: int, concurrency: int, is_over: Callable[[], bool], seen: Callable[[Outcome], None]
) -> None:
    """So many clients, each with one request at a time."""

    async def client() -> None:
        pool = Pool(port)
        body = json.dumps(BODY).encode()
        while not is_over():
            seen(outcome := await pool.post(body, time.monotonic()))
            if outcome.status == 0:
                await asyncio.sleep(0.01)
        pool.close()

    with suppress(asyncio.CancelledError):
        await asyncio.gather(*(client() for _ in range(concurrency)))


def percentile(values: Sequence[float], share: float) -> float:
    """In the unit of the values; nan for none."""
    return sorted(values)[min(len(values) - 1, int(share * len(values)))] if values else float("nan")


def milliseconds(values: Sequence[float]) -> str:
    """Median and 99th percentile."""
    if not values:
        return "      -       -"
    return f"{1000 * statistics.median(values):7.1f} {1000 * percentile(values, 0.99):7.1f}"
