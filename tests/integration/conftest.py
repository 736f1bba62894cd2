"""One embedded Postgres for all integration tests, and a freshly migrated database for each."""

import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator
from datetime import date
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest
from sqlalchemy import make_url

from app.store.call_log import SpooledCallLog
from app.store.embedded_postgres import EmbeddedPostgres
from app.store.migrate import migrate
from app.store.postgres import Postgres
from tests.integration.clinic import open_clinic

__all__ = ["open_clinic"]

TEMPLATE = "migrated_template"
TODAY = date(2026, 12, 1)


@pytest.fixture(scope="session")
def open_folder() -> Iterator[Path]:
    """A folder others may enter, unlike pytest's own: as root, Postgres runs as somebody else."""
    folder = Path(tempfile.mkdtemp(prefix="booking-tests-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def server_url(open_folder: Path) -> Iterator[str]:
    """The URL of the shared server's own database, which tests leave alone."""
    postgres = EmbeddedPostgres(open_folder / "shared", system_dir=open_folder / "system")
    url = postgres.start()
    execute(url, f"CREATE DATABASE {TEMPLATE}")
    migrate(on_database(url, TEMPLATE), TODAY)
    yield url
    postgres.stop()


@pytest.fixture
def data_dir(open_folder: Path) -> Path:
    return open_folder / uuid4().hex[:8]


@pytest.fixture
def system_dir(open_folder: Path) -> Path:
    return open_folder / "system"


@pytest.fixture
def postgres(data_dir: Path, system_dir: Path) -> Iterator[EmbeddedPostgres]:
    postgres = EmbeddedPostgres(data_dir, system_dir=system_dir)
    yield postgres
    postgres.stop()


@pytest.fixture
def empty_database_url(server_url: str) -> Iterator[str]:
    yield from _database(server_url, "template0")


@pytest.fixture
def database_url(server_url: str) -> Iterator[str]:
    yield from _database(server_url, TEMPLATE)


@pytest.fixture
async def call_log(database_url: str, tmp_path: Path) -> AsyncIterator[SpooledCallLog]:
    log = SpooledCallLog(Postgres(database_url), tmp_path / "spool")
    await log.start()
    yield log
    await log.aclose()


def on_database(url: str, name: str) -> str:
    return make_url(url).set(database=name).render_as_string(hide_password=False)


def connect(url: str) -> psycopg.Connection:
    """A connection past the code under test."""
    return psycopg.connect(make_url(url).set(drivername="postgresql").render_as_string(hide_password=False))


def execute(url: str, statement: str) -> list[tuple[object, ...]]:
    """Run one statement by itself."""
    with connect(url) as connection:
        connection.autocommit = True
        cursor = connection.execute(statement)
        return cursor.fetchall() if cursor.description else []


def _database(server_url: str, template: str) -> Iterator[str]:
    name = f"test_{uuid4().hex}"
    execute(server_url, f"CREATE DATABASE {name} TEMPLATE {template}")
    yield on_database(server_url, name)
    execute(server_url, f"DROP DATABASE {name} WITH (FORCE)")
