"""Migrations make the schema that the code declares, from nothing and from any known revision."""

import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import get_args

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine, inspect

from app.errors import DatabaseUnusable
from app.store.migrate import MIGRATION_LOCK, migrate
from app.store.records import CallKind, CheckOutcome
from app.store.tables import metadata
from tests.integration.conftest import TODAY, execute, on_database

TABLES = {"consultations", "llm_calls", "consultation_contents", "llm_call_contents", "erasures"}
OF_A_PARTITION = re.compile(r".*(_default|_y\d{4}m\d\d|_\d+)")
"""Postgres names a partition's own copy of a constraint after the declared one, with a number."""


def test_an_empty_database_gets_every_table(empty_database_url: str) -> None:
    migrate(empty_database_url, TODAY)

    assert _tables(empty_database_url) >= TABLES


def test_a_migrated_database_is_left_as_it_is(database_url: str) -> None:
    before = execute(database_url, "SELECT version_num FROM alembic_version")

    migrate(database_url, TODAY)

    assert execute(database_url, "SELECT version_num FROM alembic_version") == before


def test_the_migrated_schema_is_the_declared_one(database_url: str) -> None:
    engine = create_engine(database_url)

    with engine.connect() as connection:
        opts = {"compare_type": True, "include_name": lambda name, *_: not OF_A_PARTITION.fullmatch(name or "")}
        differences = compare_metadata(MigrationContext.configure(connection, opts=opts), metadata)

    engine.dispose()
    assert differences == []


@pytest.mark.parametrize(
    ("constraint", "closed_set"),
    [("ck_consultations_outcome", get_args(CheckOutcome)), ("ck_llm_calls_kind", get_args(CallKind))],
)
def test_the_database_knows_the_same_closed_sets_as_the_code(
    database_url: str, constraint: str, closed_set: tuple[str, ...]
) -> None:
    query = f"SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conname = '{constraint}' AND coninhcount = 0"

    ((definition,),) = execute(database_url, query)

    assert set(str(definition).split("'")[1::2]) == set(closed_set)


def test_every_constraint_and_index_has_the_declared_name(database_url: str) -> None:
    engine = create_engine(database_url)
    inspector = inspect(engine)

    found = {
        item["name"]
        for table in TABLES
        for item in [
            *inspector.get_indexes(table),
            *inspector.get_foreign_keys(table),
            *inspector.get_check_constraints(table),
            inspector.get_pk_constraint(table),
        ]
    }

    engine.dispose()
    assert {name for name in found if not OF_A_PARTITION.fullmatch(name or "")} == {
        "pk_consultations",
        "ck_consultations_outcome",
        "ix_consultations_started_at",
        "ix_consultations_conversation_id",
        "pk_llm_calls",
        "ck_llm_calls_kind",
        "fk_llm_calls_consultation_id_consultations",
        "ix_consultations_caller_idempotency_key",
        "ix_consultations_spool_boot_spool_sequence",
        "pk_consultation_contents",
        "fk_consultation_contents_consultation_id_consultations",
        "pk_llm_call_contents",
        "fk_llm_call_contents_call",
        "pk_erasures",
        "ix_erasures_consultation_id",
        "ix_erasures_conversation_id",
    }


def test_several_services_may_migrate_at_once(empty_database_url: str) -> None:
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(migrate, [empty_database_url] * 4, [TODAY] * 4))

    assert _tables(empty_database_url) >= TABLES


def test_a_revision_of_a_newer_version_is_refused(database_url: str) -> None:
    execute(database_url, "UPDATE alembic_version SET version_num = '9999'")

    with pytest.raises(DatabaseUnusable, match=r"revision '9999', which this version does not know"):
        migrate(database_url, TODAY)


def test_a_failed_migration_leaves_nothing_behind(empty_database_url: str) -> None:
    execute(empty_database_url, "CREATE TABLE llm_calls (id int)")

    with pytest.raises(DatabaseUnusable, match="llm_calls"):
        migrate(empty_database_url, TODAY)

    assert _tables(empty_database_url) == {"llm_calls"}


def test_a_database_in_another_encoding_is_refused(server_url: str) -> None:
    execute(server_url, "CREATE DATABASE latin TEMPLATE template0 ENCODING 'LATIN1' LOCALE 'C'")

    with pytest.raises(DatabaseUnusable, match="'LATIN1'"):
        migrate(on_database(server_url, "latin"), TODAY)


def test_a_database_that_is_not_there_is_refused(server_url: str) -> None:
    with pytest.raises(DatabaseUnusable, match="nowhere"):
        migrate(on_database(server_url, "nowhere"), TODAY)


def test_the_lock_ends_with_the_migration(database_url: str) -> None:
    migrate(database_url, TODAY)

    assert execute(database_url, f"SELECT pg_try_advisory_lock({MIGRATION_LOCK})") == [(True,)]


def test_the_command_line_finds_the_same_migrations() -> None:
    config = Config(Path(__file__).parents[2] / "alembic.ini")

    assert ScriptDirectory.from_config(config).get_heads() == ["0001"]


def _tables(url: str) -> set[str]:
    rows = execute(url, "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'")
    return {str(name) for (name,) in rows}
