"""Runs migrations on the connection that app/store/migrate.py hands over, or, for the command line, on DATABASE_URL."""

import os

from alembic import context
from sqlalchemy import Connection, NullPool, create_engine

from app.store.database_url import postgres_url
from app.store.tables import metadata


def run_on(connection: Connection) -> None:
    context.configure(connection=connection, target_metadata=metadata)
    with context.begin_transaction():
        context.run_migrations()


handed_over = context.config.attributes.get("connection")
if handed_over is not None:
    run_on(handed_over)
else:
    engine = create_engine(postgres_url(os.environ["DATABASE_URL"]), poolclass=NullPool)
    with engine.connect() as connection:
        run_on(connection)
