"""A service under test: the HTTP interface over a real Postgres, with a scripted model."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import pytest

from app.api.access import Access
from app.api.keys import KeyRing
from app.api.readiness import Readiness
from app.build import build_app
from app.llm.scripted_engine import ScriptedEngine
from app.pipeline.admission import AdmissionLimits
from app.pipeline.checks import CheckLimits, Checks
from app.policy import POLICY
from app.store.call_log import SpooledCallLog
from app.store.postgres import Postgres
from app.store.records import CheckRecord
from app.store.spool import SpoolLimits
from tests.support.replies import MESSAGE, RECEIVED_AT, pipeline, says

LIMITS = CheckLimits(check_timeout_seconds=10, narration_timeout_seconds=5, admission=AdmissionLimits(8, 8, 5.0))


class Clinic:
    """A service under test: its client, its log."""

    def __init__(self, client: httpx.AsyncClient, call_log: SpooledCallLog, checks: Checks) -> None:
        self.client = client
        self.call_log = call_log
        self.checks = checks

    async def check(self, headers: dict[str, str] | None = None, **body: Any) -> httpx.Response:
        if "message" not in body and "messages" not in body:
            body["message"] = MESSAGE
        return await self.client.post(
            "/consultations/check", json={"received_at": RECEIVED_AT, **body}, headers=headers or {}
        )

    async def record(self, answer: httpx.Response) -> CheckRecord:
        found = await self.call_log.read(UUID(answer.json()["id"]))
        assert found is not None
        return found


Open = Callable[..., Any]


@pytest.fixture
def open_clinic(database_url: str, tmp_path: Path) -> Open:
    @asynccontextmanager
    async def opened(
        replies: dict[str, Any] | None = None,
        *,
        limits: CheckLimits = LIMITS,
        narration: Any = "model",
        latency_seconds: float = 0.0,
        access: Access | None = None,
        spool: SpoolLimits | None = None,
    ) -> AsyncIterator[Clinic]:
        engine = ScriptedEngine(says(replies or pipeline()), latency_seconds)
        await engine.start()
        call_log = SpooledCallLog(Postgres(database_url), tmp_path / "spool", spool)
        await call_log.start()
        checks = Checks(engine, call_log, POLICY, limits, narration)
        await checks.compile_grammars()
        readiness = Readiness(
            {"engine": engine.check, "call_log": call_log.check}, {"database": call_log.check_database}
        )
        readiness.open()
        app = build_app(checks, readiness, access or Access(KeyRing(tmp_path / "keys.json")))
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://clinic") as client:
            yield Clinic(client, call_log, checks)
        await call_log.aclose()

    return opened
