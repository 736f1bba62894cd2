"""Retries in any order, over restarts, failures and other bodies: one reply a key, and no check run twice."""

import asyncio
import json
import tempfile
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule, run_state_machine_as_test

from app.api.access import Access
from app.api.keys import KeyRing
from app.api.readiness import Readiness
from app.build import build_app
from app.errors import CallFailed
from app.llm.engine import OutputSchema, Prompt, Sampling
from app.llm.scripted_engine import ScriptedEngine
from app.pipeline.checks import Checks
from app.policy import POLICY
from app.store.call_log import SpooledCallLog
from app.store.postgres import Postgres
from tests.integration.clinic import LIMITS
from tests.support.replies import FACTS, MESSAGE, RECEIVED_AT

KEYS = st.integers(0, 2)
BODIES = st.sampled_from([MESSAGE, "I am 34 and have a question."])


class IdempotencyMachine(RuleBasedStateMachine):
    def __init__(self, url: str) -> None:
        super().__init__()
        self.url = url
        self.folder = Path(tempfile.mkdtemp())
        self.names = [uuid4().hex for _ in range(3)]
        self.answered: dict[int, tuple[str, bytes]] = {}
        self.engine_calls = 0
        self.fails = False
        self.loop = asyncio.new_event_loop()
        self.loop.run_until_complete(self._open())

    @rule(key=KEYS, message=BODIES)
    def ask(self, key: int, message: str) -> None:
        before = self.engine_calls
        answer = self._ask(key, message)
        known = self.answered.get(key)
        if known is None:
            assert answer.status_code == 200 and "idempotent-replayed" not in answer.headers
            self.answered[key] = (message, answer.content)
        elif known[0] == message:
            assert answer.headers["idempotent-replayed"] == "true"
            assert json.loads(answer.content) == json.loads(known[1])
            assert self.engine_calls == before
        else:
            assert (answer.status_code, answer.json()["type"].rpartition(":")[2]) == (422, "idempotency-mismatch")
            assert self.engine_calls == before

    @precondition(lambda self: len(self.answered) < 3)
    @rule(message=BODIES)
    def fail(self, message: str) -> None:
        """A check that gets no answer stands for nothing: its key is as good as new."""
        key = next(key for key in range(3) if key not in self.answered)
        self.fails = True
        answer = self._ask(key, message)
        self.fails = False
        assert answer.status_code == 502

    @precondition(lambda self: len(self.answered) < 3)
    @rule(message=BODIES)
    def ask_twice_at_once(self, message: str) -> None:
        key = next(key for key in range(3) if key not in self.answered)

        async def both() -> list[httpx.Response]:
            return list(await asyncio.gather(self._asked(key, message), self._asked(key, message)))

        answers = self.loop.run_until_complete(both())
        assert sorted(answer.status_code for answer in answers) == [200, 409]
        self.answered[key] = (message, next(answer.content for answer in answers if answer.status_code == 200))

    @rule()
    def ship(self) -> None:
        self.loop.run_until_complete(self.log.flush())

    @rule()
    def restart(self) -> None:
        async def restart() -> None:
            await self.log.aclose()
            await self._open()

        self.loop.run_until_complete(restart())

    def teardown(self) -> None:
        self.loop.run_until_complete(self.log.aclose())
        self.loop.close()

    def _ask(self, key: int, message: str) -> httpx.Response:
        return self.loop.run_until_complete(self._asked(key, message))

    async def _asked(self, key: int, message: str) -> httpx.Response:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(self.app), base_url="http://clinic") as client:
            return await client.post(
                "/consultations/check",
                json={"message": message, "received_at": RECEIVED_AT},
                headers={"Idempotency-Key": self.names[key]},
            )

    async def _open(self) -> None:
        engine = ScriptedEngine(self._reply)
        await engine.start()
        self.log = SpooledCallLog(Postgres(self.url), self.folder / "spool")
        await self.log.start()
        checks = Checks(engine, self.log, POLICY, LIMITS, "template")
        readiness = Readiness({"engine": engine.check})
        readiness.open()
        self.app = build_app(checks, readiness, Access(KeyRing(self.folder / "keys.json")))

    def _reply(self, prompt: Prompt, schema: OutputSchema | None, sampling: Sampling) -> str:
        self.engine_calls += 1
        if self.fails:
            raise CallFailed("no answer")
        return json.dumps(FACTS)


def test_no_order_of_requests_runs_a_check_twice_or_mixes_up_replies(database_url: str) -> None:
    def machine() -> Any:
        return IdempotencyMachine(database_url)

    run_state_machine_as_test(machine, settings=settings(max_examples=12, stateful_step_count=14, deadline=None))
