"""A check's record is kept whole, once, and whatever characters it holds."""

import asyncio
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import pytest

from app.errors import StoreUnavailable
from app.store.call_log import SpooledCallLog
from app.store.embedded_postgres import EmbeddedPostgres
from app.store.migrate import migrate
from app.store.postgres import Postgres
from app.store.spool import SpoolLimits
from app.store.tables import consultations, llm_calls, metadata
from tests.integration.conftest import TODAY, execute
from tests.integration.records import a_call, a_record

SECRET = "my neighbour's secret"


async def test_a_record_reads_back_as_it_was_written(call_log: SpooledCallLog) -> None:
    record = a_record()

    await call_log.write(record)
    waiting = await call_log.read(record.id)
    await call_log.flush()

    assert waiting == record
    assert await call_log.read(record.id) == record


async def test_a_record_without_answer_or_calls_reads_back_as_it_was_written(call_log: SpooledCallLog) -> None:
    record = a_record(
        outcome="timed_out",
        error="deadline-exceeded",
        conversation_id=None,
        facts=None,
        decision=None,
        trace=None,
        valid=None,
        consistent=None,
        flags=(),
        narration_source=None,
        usage={},
        response_text=None,
        calls=(),
    )

    await call_log.write(record)
    await call_log.flush()

    assert await call_log.read(record.id) == record


async def test_characters_that_postgres_refuses_are_kept(call_log: SpooledCallLog) -> None:
    odd = "a\x00b\ud800c\udfff\u241b0000 \\u0000 😀"
    record = a_record(
        request_id=odd,
        facts={odd: [odd, {"n": float("inf")}]},
        flags=(odd,),
        messages=({"role": "customer", "content": odd},),
        response_text=odd,
        calls=(a_call(raw_output=odd),),
    )

    await call_log.write(record)
    waiting = await call_log.read(record.id)
    await call_log.flush()

    assert waiting == record
    assert await call_log.read(record.id) == record


async def test_an_id_that_nobody_wrote_reads_as_none(call_log: SpooledCallLog) -> None:
    assert await call_log.read(uuid4()) is None


async def test_writing_a_record_again_changes_nothing(call_log: SpooledCallLog) -> None:
    record = a_record()
    await call_log.write(record)
    await call_log.flush()

    await call_log.write(replace(record, response_text="something else", calls=(a_call(),)))
    await call_log.flush()

    assert await call_log.read(record.id) == record


async def test_erased_contents_do_not_come_back_when_a_record_is_written_again(
    call_log: SpooledCallLog, database_url: str
) -> None:
    record = a_record()
    await call_log.write(record)
    await call_log.flush()
    execute(database_url, "DELETE FROM consultation_contents")
    execute(database_url, "DELETE FROM llm_call_contents")

    await call_log.write(record)
    await call_log.flush()

    without_contents = tuple(replace(call, raw_output=None) for call in record.calls)
    expected = replace(record, messages=(), response_text=None, calls=without_contents)
    assert await call_log.read(record.id) == expected


async def test_many_records_can_be_written_at_once(call_log: SpooledCallLog, database_url: str) -> None:
    records = [a_record() for _ in range(40)]

    await asyncio.gather(*(call_log.write(record) for record in records))
    await call_log.flush()

    assert execute(database_url, "SELECT count(*) FROM consultations") == [(40,)]


async def test_a_record_that_the_database_never_takes_is_set_aside_and_holds_up_no_other(
    call_log: SpooledCallLog, database_url: str, tmp_path: Path
) -> None:
    execute(database_url, "ALTER TABLE llm_call_contents ADD CONSTRAINT never CHECK (raw_output <> 'poison')")
    before, poison, after = a_record(), a_record(calls=(a_call(raw_output="poison"),)), a_record()

    for record in (before, poison, after):
        await call_log.write(record)
    await call_log.flush()

    stored = {str(check_id) for (check_id,) in execute(database_url, "SELECT id FROM consultations")}
    assert stored == {str(before.id), str(after.id)}
    assert [str(poison.id) in path.read_text() for path in (tmp_path / "spool" / "quarantine").iterdir()] == [True]
    assert call_log.stats.lost == 1


async def test_contents_stand_in_the_contents_tables_only(call_log: SpooledCallLog, database_url: str) -> None:
    record = a_record(
        messages=({"role": "customer", "content": SECRET},),
        response_text=SECRET,
        calls=(a_call(raw_output=SECRET),),
    )

    await call_log.write(record)
    await call_log.flush()

    holding = {
        name
        for name in metadata.tables
        if any(SECRET in str(row) for row in execute(database_url, f"SELECT * FROM {name}"))
    }
    assert holding == {"consultation_contents", "llm_call_contents"}


def test_the_tables_of_decisions_have_no_column_for_contents() -> None:
    assert not {"messages", "response_text", "raw_output"} & {*consultations.c.keys(), *llm_calls.c.keys()}


async def test_auditors_find_action_and_reason_as_columns(call_log: SpooledCallLog, database_url: str) -> None:
    await call_log.write(a_record())
    await call_log.write(a_record(decision=None))
    await call_log.flush()

    found = execute(database_url, "SELECT action, reason_code FROM consultations ORDER BY action NULLS LAST")

    assert found == [("book_appointment", "eligible"), (None, None)]


async def test_what_is_unknown_is_null_to_sql(call_log: SpooledCallLog, database_url: str) -> None:
    await call_log.write(a_record(facts=None, decision=None, trace=None))
    await call_log.flush()

    found = execute(database_url, "SELECT facts IS NULL, decision IS NULL, trace IS NULL FROM consultations")

    assert found == [(True, True, True)]


async def test_an_error_tells_nothing_that_a_customer_wrote(
    call_log: SpooledCallLog, database_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    execute(database_url, f"ALTER TABLE llm_call_contents ADD CONSTRAINT never CHECK (raw_output <> '{SECRET[:11]}')")

    await call_log.write(a_record(calls=(a_call(raw_output=SECRET[:11]),)))
    await call_log.flush()

    assert "spool.record_quarantined" in caplog.text
    assert SECRET[:11] not in caplog.text


async def test_a_write_goes_on_when_its_caller_is_cancelled(call_log: SpooledCallLog) -> None:
    record = a_record()
    caller = asyncio.create_task(call_log.write(record))
    await asyncio.sleep(0)

    caller.cancel()
    await asyncio.gather(caller, return_exceptions=True)
    await call_log.flush()

    assert caller.cancelled()
    assert await call_log.read(record.id) == record


async def test_while_the_database_is_away_records_are_kept_and_found_and_go_there_when_it_is_back(
    open_folder: Path, tmp_path: Path
) -> None:
    postgres = EmbeddedPostgres(open_folder / "restarted", system_dir=open_folder / "system")
    url = postgres.start()
    try:
        migrate(url, TODAY)
        log = SpooledCallLog(Postgres(url), tmp_path / "spool")
        await log.start()
        postgres.stop()
        records = [a_record() for _ in range(3)]

        for record in records:
            await log.write(record)
        await log.check()
        with pytest.raises(StoreUnavailable):
            await log.flush()
        found = [await log.read(record.id) for record in records]
        postgres.start()
        await log.flush()

        assert found == records
        assert [await log.read(record.id) for record in records] == records
        assert log.stats.lost == 0 and log.stats.shipped == 3
        await log.aclose()
    finally:
        postgres.stop()


async def test_a_full_spool_lets_no_check_begin(database_url: str, tmp_path: Path) -> None:
    log = SpooledCallLog(Postgres(database_url), tmp_path / "spool", SpoolLimits(max_bytes=0))
    await log.start()

    with pytest.raises(StoreUnavailable, match="the spool is full"):
        log.require_room()

    await log.aclose()


async def test_what_a_disk_refuses_is_kept_in_memory_and_written_when_it_takes_it(
    database_url: str, tmp_path: Path
) -> None:
    log = SpooledCallLog(Postgres(database_url), tmp_path / "spool", SpoolLimits(segment_bytes=4096))
    await log.start()
    await log.write(a_record())
    await log.flush()
    (folder,) = (path for path in (tmp_path / "spool").iterdir() if path.is_dir())
    folder.rename(tmp_path / "gone")
    record = a_record()

    with pytest.raises(StoreUnavailable, match="cannot be kept"):
        for _ in range(3):
            await log.write(replace(record, id=uuid4()))
    with pytest.raises(StoreUnavailable):
        log.require_room()
    (tmp_path / "gone").rename(folder)
    async with asyncio.timeout(60):
        while log.stats.shipped < log.stats.written or not await _has_room(log):
            await asyncio.sleep(0.05)

    assert log.stats.lost == 0
    await log.aclose()


async def test_a_dead_process_leaves_its_records_and_the_checks_it_did_not_end(
    database_url: str, tmp_path: Path
) -> None:
    """The first log is dropped as a killed process drops it: its lock is released, nothing else is done."""
    first = SpooledCallLog(Postgres("postgresql://nobody@127.0.0.1:1/none"), tmp_path / "spool")
    await first.start()
    ended, open_one = a_record(), a_record(outcome="interrupted", decision=None, response_text=None)
    first.begin(replace(ended, outcome="interrupted"))
    first.begin(open_one)
    await first.write(ended)
    _drop(first)

    second = SpooledCallLog(Postgres(database_url), tmp_path / "spool")
    await second.start()
    waiting = await second.read(ended.id)
    await second.flush()

    assert waiting == ended
    assert await second.read(ended.id) == ended
    assert (await second.read(open_one.id)) == open_one
    assert execute(database_url, "SELECT outcome, count(*) FROM consultations GROUP BY 1 ORDER BY 1") == [
        ("completed", 1),
        ("interrupted", 1),
    ]
    await second.aclose()
    assert [path.name for path in (tmp_path / "spool").iterdir()] == []


async def test_what_a_process_left_open_is_kept_once_however_many_die_over_it(
    database_url: str, tmp_path: Path
) -> None:
    open_one = a_record(outcome="interrupted", decision=None, response_text=None)
    nowhere = "postgresql://nobody@127.0.0.1:1/none"
    first = SpooledCallLog(Postgres(nowhere), tmp_path / "spool")
    await first.start()
    first.begin(open_one)
    await first.write(a_record())
    _drop(first)
    for _ in range(3):
        dying = SpooledCallLog(Postgres(nowhere), tmp_path / "spool")
        await dying.start()
        await dying.write(a_record())
        _drop(dying)

    last = SpooledCallLog(Postgres(database_url), tmp_path / "spool")
    await last.start()
    await last.flush()

    gaps = "SELECT spool_boot FROM consultations GROUP BY 1 HAVING max(spool_sequence) <> count(*)"
    assert execute(database_url, gaps) == []
    assert execute(database_url, "SELECT count(*) FROM consultations") == [(5,)]
    await last.aclose()


async def test_a_log_that_is_closed_has_shipped_everything(database_url: str, tmp_path: Path) -> None:
    log = SpooledCallLog(Postgres(database_url), tmp_path / "spool")
    await log.start()
    await log.write(a_record())

    await log.aclose()

    assert execute(database_url, "SELECT count(*) FROM consultations") == [(1,)]
    assert list((tmp_path / "spool").iterdir()) == []


async def test_records_of_one_process_are_numbered_without_a_gap(call_log: SpooledCallLog, database_url: str) -> None:
    for _ in range(5):
        await call_log.write(a_record())
    await call_log.flush()

    found = execute(database_url, "SELECT spool_sequence FROM consultations ORDER BY 1")

    assert found == [(1,), (2,), (3,), (4,), (5,)]


async def _has_room(log: SpooledCallLog) -> bool:
    try:
        log.require_room()
    except StoreUnavailable:
        return False
    return True


def _drop(log: SpooledCallLog) -> None:
    for task in log._tasks:
        task.cancel()
    for folder in (log._spool.folder, *(source.folder for source in log._left)):
        folder.release()
