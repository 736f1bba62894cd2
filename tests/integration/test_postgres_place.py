"""Where embedded Postgres puts its data and its socket, as which user, and that it opens nothing to others."""

import os
import shutil
import stat
from pathlib import Path

import pytest

from app.store.embedded_postgres import EmbeddedPostgres
from tests.integration.conftest import execute

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can run Postgres as another user")


def test_data_and_socket_are_closed_to_other_users(postgres: EmbeddedPostgres, data_dir: Path) -> None:
    postgres.start()

    modes = {name: stat.S_IMODE((data_dir / "postgres" / name).stat().st_mode) for name in ("cluster", "run", "lock")}

    assert modes == {"cluster": 0o700, "run": 0o700, "lock": 0o600}


def test_a_data_folder_with_a_long_path_has_its_socket_elsewhere(open_folder: Path, system_dir: Path) -> None:
    postgres = EmbeddedPostgres(open_folder / ("deep" * 25), system_dir=system_dir)

    url = postgres.start()

    try:
        assert execute(url, "SELECT 1") == [(1,)]
    finally:
        (folder,) = execute(url, "SHOW unix_socket_directories")[0]
        postgres.stop()
        shutil.rmtree(str(folder))


@as_root
def test_root_runs_postgres_as_somebody_else(postgres: EmbeddedPostgres) -> None:
    postgres.start()

    assert Path(f"/proc/{postgres.pid}").stat().st_uid != 0


@as_root
def test_a_closed_home_stays_closed_and_the_data_goes_elsewhere(open_folder: Path, system_dir: Path) -> None:
    home = open_folder / "home"
    home.mkdir(mode=0o700)
    postgres = EmbeddedPostgres(home / "data", system_dir=system_dir)

    url = postgres.start()

    assert execute(url, "SELECT 1") == [(1,)]
    postgres.stop()
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
    assert not (home / "data" / "postgres").exists()
    assert len(list(system_dir.glob("*/cluster/PG_VERSION"))) == 1


@as_root
def test_data_stays_where_it_was_when_a_closed_home_is_opened(open_folder: Path, system_dir: Path) -> None:
    home = open_folder / "opened"
    home.mkdir(mode=0o700)
    postgres = EmbeddedPostgres(home / "data", system_dir=system_dir)
    execute(postgres.start(), "CREATE TABLE kept (id int)")
    postgres.stop()
    home.chmod(0o755)

    url = postgres.start()

    assert execute(url, "SELECT count(*) FROM kept") == [(0,)]
    postgres.stop()
