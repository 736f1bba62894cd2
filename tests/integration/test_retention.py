"""Words for weeks, decisions for years, partitions by month."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID

import pytest

from app.store.call_log import SpooledCallLog
from app.store.partitions import Month, month_of_partition, uuid7_floor
from app.store.postgres import Postgres
from app.store.retention import Retention, RetentionPeriods
from tests.integration.conftest import execute
from tests.integration.records import a_call, a_record

NOW = datetime(2026, 12, 1, 12, tzinfo=UTC)
PERIODS = RetentionPeriods(contents=timedelta(days=30), decisions=timedelta(days=365))


def an_id(age: timedelta, number: int) -> UUID:
    return UUID(int=uuid7_floor(NOW - age).int + number)


async def keep(log: SpooledCallLog, *ages: timedelta) -> None:
    for number, age in enumerate(ages, start=1):
        await log.write(a_record(id=an_id(age, number), calls=(a_call(),)))
    await log.flush()


def counts(url: str) -> list[object]:
    """Checks, calls, contents, outputs."""
    tables = ("consultations", "llm_calls", "consultation_contents", "llm_call_contents")
    return [execute(url, f"SELECT count(*) FROM {table}")[0][0] for table in tables]


def retention(url: str, folder: Path, periods: RetentionPeriods = PERIODS, now: datetime = NOW) -> Retention:
    return Retention(Postgres(url), folder, periods, lambda: now)


async def test_words_go_after_their_time_and_decisions_after_theirs(
    call_log: SpooledCallLog, database_url: str, tmp_path: Path
) -> None:
    await keep(call_log, timedelta(days=1), timedelta(days=31), timedelta(days=366))

    done = await retention(database_url, tmp_path).run()

    assert counts(database_url) == [2, 2, 1, 1]
    assert (done.contents, done.decisions) == (4, 2)


async def test_decisions_may_be_kept_for_ever(call_log: SpooledCallLog, database_url: str, tmp_path: Path) -> None:
    await keep(call_log, timedelta(days=9000))

    await retention(database_url, tmp_path, RetentionPeriods(timedelta(days=30), None)).run()

    assert counts(database_url) == [1, 1, 0, 0]


async def test_a_second_run_finds_nothing_to_do(call_log: SpooledCallLog, database_url: str, tmp_path: Path) -> None:
    await keep(call_log, timedelta(days=31))
    await retention(database_url, tmp_path).run()

    done = await retention(database_url, tmp_path).run()

    assert (done.contents, done.decisions, done.partitions) == (0, 0, 0)


async def test_more_rows_than_one_step_removes_are_all_removed(
    call_log: SpooledCallLog, database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.store.retention.BATCH_ROWS", 2)
    await keep(call_log, *[timedelta(days=40, seconds=n) for n in range(7)])

    await retention(database_url, tmp_path).run()

    assert counts(database_url) == [7, 7, 0, 0]


async def test_records_stand_in_the_partition_of_their_month(call_log: SpooledCallLog, database_url: str) -> None:
    await keep(call_log, timedelta(hours=1), timedelta(days=20))

    found = execute(database_url, "SELECT tableoid::regclass::text FROM consultations ORDER BY 1")

    assert found == [("consultations_y2026m11",), ("consultations_y2026m12",)]
    assert execute(database_url, "SELECT count(*) FROM consultations_default") == [(0,)]


async def test_months_are_made_ahead_and_dropped_whole_when_they_are_over(
    call_log: SpooledCallLog, database_url: str, tmp_path: Path
) -> None:
    await keep(call_log, timedelta(hours=1))

    done = await retention(database_url, tmp_path, now=NOW + timedelta(days=800)).run()

    assert counts(database_url) == [0, 0, 0, 0]
    assert done.partitions > 0 and (done.contents, done.decisions) == (0, 0), "nothing was looked at row by row"
    names = execute(database_url, "SELECT relname FROM pg_class WHERE relname LIKE 'consultations_y%'")
    assert ("consultations_y2026m12",) not in names
    assert ("consultations_y2029m02",) in names


async def test_what_was_set_aside_for_a_person_goes_with_the_words(database_url: str, tmp_path: Path) -> None:
    old = tmp_path / "quarantine" / "x-1.json"
    old.parent.mkdir()
    old.write_text("{}")

    await retention(database_url, tmp_path, now=datetime(2100, 1, 1, tzinfo=UTC)).run()

    assert not old.exists()


def test_an_id_tells_its_month() -> None:
    assert month_of_partition("llm_calls_y2026m12") == Month(2026, 12)
    assert month_of_partition("llm_calls_default") is None
    assert Month(2026, 12).plus(1) == Month(2027, 1)
    assert Month(2027, 1).plus(-1) == Month(2026, 12)
