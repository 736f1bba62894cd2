"""Every usual spelling of a Postgres URL works, and none is repeated in an error."""

import pytest

from app.errors import DatabaseUnusable
from app.store.database_url import postgres_url, with_server_settings


@pytest.mark.parametrize("scheme", ["postgres", "postgresql", "postgresql+asyncpg", "postgresql+psycopg"])
def test_every_spelling_of_postgres_is_driven_by_psycopg(scheme: str) -> None:
    url = postgres_url(f"{scheme}://me:secret@db.example:5433/booking")

    assert url.render_as_string(hide_password=False) == "postgresql+psycopg://me:secret@db.example:5433/booking"


@pytest.mark.parametrize(
    "database_url", ["mysql://me:secret@db.example/x", "me:secret", "postgresql://me:secret@db:no"]
)
def test_what_is_no_postgres_url_is_refused_without_its_password(database_url: str) -> None:
    with pytest.raises(DatabaseUnusable) as caught:
        postgres_url(database_url)

    assert "secret" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_settings_are_added_to_those_the_url_brings() -> None:
    url = postgres_url("postgresql://db.example/booking?options=-csearch_path%3Dours")

    assert with_server_settings(url, timezone="UTC").query["options"] == "-csearch_path=ours -c timezone=UTC"
