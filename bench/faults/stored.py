"""What Postgres holds, asked past the service."""

import psycopg


def connected(url: str) -> psycopg.Connection:
    """`url` as EmbeddedPostgres gives it."""
    return psycopg.connect(url.replace("postgresql+psycopg", "postgresql"))


def answered_ids(connection: psycopg.Connection) -> list[str]:
    """Of the checks whose answer is there. A record that says interrupted was made from a check's beginning."""
    rows = connection.execute("SELECT id FROM consultations WHERE outcome = 'completed'")
    return [str(check_id) for (check_id,) in rows]
