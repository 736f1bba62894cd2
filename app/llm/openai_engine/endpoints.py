"""Which server of a fleet is asked: the least busy one of those that answer."""

import asyncio
import contextlib
import itertools
import json
import logging
from collections.abc import Iterator
from dataclasses import dataclass

import aiohttp

from app.errors import CallFailed, EngineNotReady, StartFailed
from app.llm.openai_engine.wire import bounded

log = logging.getLogger(__name__)

WATCH_SECONDS = 2.0
LOOK_SECONDS = 5.0


@dataclass
class Endpoint:
    url: str
    """Base, without a slash at its end, e.g. http://127.0.0.1:8001/v1"""
    in_flight: int = 0
    down: str = "not looked at yet"
    """Why it is not asked; empty while it is."""


class Endpoints:
    def __init__(self, urls: tuple[str, ...], model: str) -> None:
        self._all = [Endpoint(url) for url in urls]
        self._model = model
        self._turn = itertools.count()

    @contextlib.contextmanager
    def least_busy(self, but: Endpoint | None = None) -> Iterator[Endpoint]:
        """`but` only where there is no other. Raises EngineNotReady."""
        up = [endpoint for endpoint in self._all if not endpoint.down]
        if not up:
            raise EngineNotReady(self._none_answers)
        others = [endpoint for endpoint in up if endpoint is not but] or up
        turn = next(self._turn)
        at = min(range(len(others)), key=lambda n: (others[n].in_flight, (n - turn) % len(others)))
        chosen = others[at]
        chosen.in_flight += 1
        try:
            yield chosen
        finally:
            chosen.in_flight -= 1

    def require_one(self) -> None:
        """Raises EngineNotReady."""
        if all(endpoint.down for endpoint in self._all):
            raise EngineNotReady(self._none_answers)

    @property
    def _none_answers(self) -> str:
        """For callers, who need not know our addresses."""
        return f"none of the engine's {len(self._all)} servers answers; endpoint.lost in the log says why"

    def why_none(self) -> str:
        """For whoever runs the service."""
        return "; ".join(f"{endpoint.url}: {endpoint.down}" for endpoint in self._all)

    def lost(self, endpoint: Endpoint, why: str) -> None:
        """Not asked again before the watch has seen it answer."""
        if not endpoint.down:
            log.warning("endpoint.lost", extra={"url": endpoint.url, "reason": why})
        endpoint.down = why

    async def look(self, session: aiohttp.ClientSession) -> None:
        """At all of them at once. Raises StartFailed for what will not mend by itself."""
        await asyncio.gather(*(self._look_at(session, endpoint) for endpoint in self._all))

    async def watch(self, session: aiohttp.ClientSession) -> None:
        while True:
            await asyncio.sleep(WATCH_SECONDS)
            try:
                await self.look(session)
            except StartFailed as error:
                log.error("endpoint.unusable", extra={"reason": str(error)})

    async def _look_at(self, session: aiohttp.ClientSession, endpoint: Endpoint) -> None:
        try:
            async with asyncio.timeout(LOOK_SECONDS), session.get(f"{endpoint.url}/models") as answer:
                body = await bounded(answer)
                status = answer.status
        except aiohttp.ClientSSLError as error:
            # Also of a certificate that is not trusted.
            self.lost(endpoint, f"no trusted TLS connection: {error}; name its CA in SSL_CERT_FILE")
            raise StartFailed(f"{endpoint.url}: {endpoint.down}") from error
        except (aiohttp.ClientError, CallFailed, TimeoutError, OSError) as error:
            self.lost(endpoint, f"does not answer: {str(error) or type(error).__name__}")
            return
        self._judge(endpoint, status, body)

    def _judge(self, endpoint: Endpoint, status: int, body: bytes) -> None:
        if status in (401, 403):
            self.lost(endpoint, f"does not take the key ({status}); set OPENAI_API_KEY")
            raise StartFailed(f"{endpoint.url}: {endpoint.down}")
        if status != 200:
            self.lost(endpoint, f"answers {status} to GET /models; OPENAI_BASE_URL should end in /v1")
            if status == 404:
                raise StartFailed(f"{endpoint.url}: {endpoint.down}")
            return
        served = _served(body)
        if self._model not in served:
            self.lost(endpoint, f"does not serve {self._model!r} but {', '.join(served) or 'nothing'}; set MODEL")
            raise StartFailed(f"{endpoint.url}: {endpoint.down}")
        if endpoint.down:
            log.info("endpoint.up", extra={"url": endpoint.url})
        endpoint.down = ""


def _served(body: bytes) -> list[str]:
    try:
        return [str(model["id"]) for model in json.loads(body)["data"]]
    except (ValueError, KeyError, TypeError):
        return []
