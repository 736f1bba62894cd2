"""A check's record is kept whole, once, and whatever characters it holds."""

import asyncio
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import pytest

from app.errors import StoreUnavailable
from app.store.call_log import PostgresCallLog
from app.store.embedded_postgres import EmbeddedPostgres
from app.store.migrate import migrate
from app.store.tables import consultations, llm_calls, metadata
from tests.integration.conftest import connect, execute
from tests.integration.records import a_call, a_record

SECRET = "my neighbour's secret"


async def test_a_record_reads_back_as_it_was_written(call_log: PostgresCallLog) -> None:
    record = a_record()

    await call_log.write(record)

    assert await call_log.read(record.id) == record


async def test_a_record_without_answer_or_calls_reads_back_as_it_was_written(call_log: PostgresCallLog) -> None:
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

    assert await call_log.read(record.id) == record


async def test_characters_that_postgres_refuses_are_kept(call_log: PostgresCallLog) -> None:
    odd = "a\x00b\ud800c\udfff\u241b0000 \\u0000 😀"
    record = a_record(
        request_id=odd,
        facts={odd: [odd, {"n": float("inf")}]},
        flags=(odd,),
        messages=({"role": "customer", "content": odd},),
        response_text=odd,
        calls=(a_call(raw_output=odd, latency_ms=float("inf")),),
    )

    await call_log.write(record)

    assert await call_log.read(record.id) == record


async def test_an_id_that_nobody_wrote_reads_as_none(call_log: PostgresCallLog) -> None:
    assert await call_log.read(uuid4()) is None


async def test_writing_a_record_again_changes_nothing(call_log: PostgresCallLog) -> None:
    record = a_record()
    await call_log.write(record)

    await call_log.write(replace(record, response_text="something else", calls=(a_call(),)))

    assert await call_log.read(record.id) == record


async def test_erased_contents_do_not_come_back_when_a_record_is_written_again(
    call_log: PostgresCallLog, database_url: str
) -> None:
    record = a_record()
    await call_log.write(record)
    execute(database_url, "DELETE FROM consultation_contents")
    execute(database_url, "DELETE FROM llm_call_contents")

    await call_log.write(record)

    without_contents = tuple(replace(call, raw_output=None) for call in record.calls)
    expected = replace(record, messages=(), response_text=None, calls=without_contents)
    assert await call_log.read(record.id) == expected


async def test_many_records_can_be_written_at_once(call_log: PostgresCallLog, database_url: str) -> None:
    records = [a_record() for _ in range(40)]

    await asyncio.gather(*(call_log.write(record) for record in records))

    assert execute(database_url, "SELECT count(*) FROM consultations") == [(40,)]


async def test_a_failure_in_the_last_statement_leaves_no_row(call_log: PostgresCallLog, database_url: str) -> None:
    execute(database_url, "ALTER TABLE llm_call_contents ADD CONSTRAINT never CHECK (false)")

    with pytest.raises(StoreUnavailable, match="CheckViolation"):
        await call_log.write(a_record())

    filled = {name for name in metadata.tables if execute(database_url, f"SELECT 1 FROM {name}")}
    assert not filled


async def test_contents_stand_in_the_contents_tables_only(call_log: PostgresCallLog, database_url: str) -> None:
    record = a_record(
        messages=({"role": "customer", "content": SECRET},),
        response_text=SECRET,
        calls=(a_call(raw_output=SECRET),),
    )

    await call_log.write(record)

    holding = {
        name
        for name in metadata.tables
        if any(SECRET in str(row) for row in execute(database_url, f"SELECT * FROM {name}"))
    }
    assert holding == {"consultation_contents", "llm_call_contents"}


def test_the_tables_of_decisions_have_no_column_for_contents() -> None:
    assert not {"messages", "response_text", "raw_output"} & {*consultations.c.keys(), *llm_calls.c.keys()}


async def test_auditors_find_action_and_reason_as_columns(call_log: PostgresCallLog, database_url: str) -> None:
    await call_log.write(a_record())
    await call_log.write(a_record(decision=None))

    found = execute(database_url, "SELECT action, reason_code FROM consultations ORDER BY action NULLS LAST")

    assert found == [("book_appointment", "eligible"), (None, None)]


async def test_what_is_unknown_is_null_to_sql(call_log: PostgresCallLog, database_url: str) -> None:
    await call_log.write(a_record(facts=None, decision=None, trace=None))

    found = execute(database_url, "SELECT facts IS NULL, decision IS NULL, trace IS NULL FROM consultations")

    assert found == [(True, True, True)]


async def test_an_error_tells_nothing_that_a_customer_wrote(call_log: PostgresCallLog, database_url: str) -> None:
    execute(database_url, "ALTER TABLE llm_call_contents DROP COLUMN raw_output")

    with pytest.raises(StoreUnavailable) as caught:
        await call_log.write(a_record(calls=(a_call(raw_output=SECRET),)))

    assert SECRET not in str(caught.value)
    assert SECRET not in str(caught.value.__cause__)


async def test_a_write_goes_on_when_its_caller_is_cancelled(call_log: PostgresCallLog) -> None:
    record = a_record()
    caller = asyncio.create_task(call_log.write(record))
    await asyncio.sleep(0)

    caller.cancel()
    await asyncio.gather(caller, return_exceptions=True)
    await call_log.aclose()

    assert caller.cancelled()
    assert await call_log.read(record.id) == record


async def test_a_locked_table_makes_the_store_unavailable(database_url: str) -> None:
    log = PostgresCallLog(database_url, write_seconds=0.3)

    with connect(database_url) as blocker:
        blocker.execute("LOCK TABLE consultations IN ACCESS EXCLUSIVE MODE")
        with pytest.raises(StoreUnavailable, match=r"no answer in 0\.3 s"):
            await log.write(a_record())

    await log.aclose()


async def test_a_database_that_is_down_makes_the_store_unavailable(tmp_path: Path) -> None:
    log = PostgresCallLog(f"postgresql://postgres@/booking?host={tmp_path}", write_seconds=0.3)

    with pytest.raises(StoreUnavailable) as writing:
        await log.write(a_record())
    with pytest.raises(StoreUnavailable):
        await log.check()

    assert writing.value.__cause__ is not None
    await log.aclose()


async def test_a_database_that_can_be_used_passes_the_check(call_log: PostgresCallLog) -> None:
    await call_log.check()


async def test_the_next_write_after_a_database_restart_succeeds_by_itself(open_folder: Path) -> None:
    postgres = EmbeddedPostgres(open_folder / "restarted", system_dir=open_folder / "system")
    url = postgres.start()
    try:
        migrate(url)
        log = PostgresCallLog(url)
        await log.write(a_record())
        postgres.stop()
        with pytest.raises(StoreUnavailable):
            await log.check()
        postgres.start()
        record = a_record()

        await log.write(record)

        assert await log.read(record.id) == record
        await log.aclose()
    finally:
        postgres.stop()
