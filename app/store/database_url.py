"""Any spelling of a Postgres URL as SQLAlchemy and psycopg 3 want it."""

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from app.errors import DatabaseUnusable


def postgres_url(database_url: str) -> URL:
    """Raises DatabaseUnusable, without the URL in its message: it may hold a password."""
    try:
        url = make_url(database_url)
    except (ArgumentError, ValueError):
        raise DatabaseUnusable(
            "the database URL cannot be parsed; write postgresql://user:password@host/name"
        ) from None
    if url.get_backend_name() not in ("postgres", "postgresql"):
        raise DatabaseUnusable(f"the database must be Postgres, not {url.get_backend_name()!r}; use postgresql://")
    return url.set(drivername="postgresql+psycopg")


def with_server_settings(url: URL, **settings: str) -> URL:
    """The URL with settings of the session added to the `options` it may already carry."""
    given = url.query.get("options", ())
    added = [f"-c {name}={value}" for name, value in settings.items()]
    options = " ".join([given] if isinstance(given, str) else given) + " " + " ".join(added)
    return url.update_query_dict({"options": options.strip()})
