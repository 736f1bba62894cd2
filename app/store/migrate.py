"""Brings a database to the schema of this code, once, even when several services start together."""

from datetime import date
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, NullPool, create_engine, text
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from app.errors import DatabaseUnusable
from app.store.database_url import postgres_url
from app.store.partitions import creation

MIGRATIONS = Path(__file__).resolve().parents[2] / "migrations"
MIGRATION_LOCK = 4_207_849_484
"""Key of the advisory lock; any constant that nothing else in the database uses."""
LOCK_WAIT = "60s"
"""How long to wait for another service that is migrating."""
DDL_WAIT = "5s"
"""How long a statement may wait for a table; longer would queue every check behind it."""


def migrate(database_url: str, today: date) -> None:
    """Upgrade to the newest revision and make the partitions around today, in one transaction.

    Blocks; safe in any thread. Raises DatabaseUnusable.
    """
    engine = create_engine(
        postgres_url(database_url), poolclass=NullPool, connect_args={"connect_timeout": 5}, hide_parameters=True
    )
    try:
        with engine.begin() as connection:
            _upgrade(connection, today)
    except SQLAlchemyError as error:
        raise DatabaseUnusable(
            f"the database cannot be migrated: {_first_line(error)}; look at DATABASE_URL"
        ) from error


def _upgrade(connection: Connection, today: date) -> None:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    connection.execute(text(f"SET LOCAL lock_timeout = '{LOCK_WAIT}'"))
    connection.execute(text(f"SELECT pg_advisory_xact_lock({MIGRATION_LOCK})"))
    connection.execute(text(f"SET LOCAL lock_timeout = '{DDL_WAIT}'"))
    _refuse_other_encodings(connection)
    _refuse_unknown_revisions(connection, ScriptDirectory.from_config(config))
    command.upgrade(config, "head")
    for statement in creation(today):
        connection.execute(text(statement))


def _refuse_other_encodings(connection: Connection) -> None:
    encoding = connection.execute(text("SHOW server_encoding")).scalar_one()
    if encoding != "UTF8":
        raise DatabaseUnusable(
            f"the database holds {encoding!r} text and must hold 'UTF8'; create it with ENCODING 'UTF8'"
        )


def _refuse_unknown_revisions(connection: Connection, scripts: ScriptDirectory) -> None:
    known = {script.revision for script in scripts.walk_revisions()}
    unknown = set(MigrationContext.configure(connection).get_current_heads()) - known
    if unknown:
        raise DatabaseUnusable(
            f"the database is at revision {', '.join(sorted(unknown))!r}, which this version does not know; "
            "start the version that migrated it, or a newer one"
        )


def _first_line(error: SQLAlchemyError) -> str:
    cause = error.orig if isinstance(error, DBAPIError) else error
    return (str(cause).strip() or type(cause).__name__).splitlines()[0]
