"""Embedded Postgres lives and dies with the app, and gives its data to one app at a time."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from app.errors import DatabaseUnusable
from app.store import postgres_cluster
from app.store.call_log import SpooledCallLog
from app.store.embedded_postgres import EmbeddedPostgres
from app.store.migrate import migrate
from app.store.postgres import Postgres
from app.store.postgres_cluster import live_postmaster
from tests.integration.conftest import TODAY, execute
from tests.integration.records import a_record

REPOSITORY = Path(__file__).parents[2]
PATIENCE_SECONDS = 60
AN_APP = """
import sys
from pathlib import Path
from app.store.embedded_postgres import EmbeddedPostgres
postgres = EmbeddedPostgres(Path(sys.argv[1]), system_dir=Path(sys.argv[2]))
print(postgres.start(), postgres.pid, flush=True)
sys.stdin.read()
"""


@pytest.fixture
def other_app(data_dir: Path, system_dir: Path) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-c", AN_APP, str(data_dir), str(system_dir)]
    app = subprocess.Popen(command, cwd=REPOSITORY, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    yield app
    app.kill()
    app.communicate()


def test_a_first_start_makes_a_database_as_asked(postgres: EmbeddedPostgres) -> None:
    url = postgres.start()

    names = ("server_encoding", "jit", "shared_buffers", "max_connections", "listen_addresses")
    settings = ", ".join(f"current_setting('{name}')" for name in names)
    found = execute(url, f"SELECT datname, datcollate, {settings} FROM pg_database WHERE datname = current_database()")
    assert found == [("booking", "C.UTF-8", "UTF8", "off", "128MB", "40", "")]


def test_what_was_written_is_there_after_a_restart(postgres: EmbeddedPostgres) -> None:
    execute(postgres.start(), "CREATE TABLE kept (id int)")
    postgres.stop()

    url = postgres.start()

    assert execute(url, "SELECT count(*) FROM kept") == [(0,)]


def test_stopping_leaves_no_process_and_may_be_repeated(postgres: EmbeddedPostgres) -> None:
    postgres.start()
    pid = postgres.pid
    assert pid is not None
    family = _family(pid)

    postgres.stop()
    postgres.stop()

    assert not postgres.is_running()
    assert postgres.pid is None
    _eventually(lambda: not any(map(_alive, family)))


def test_stopping_what_never_started_does_nothing(postgres: EmbeddedPostgres) -> None:
    postgres.stop()

    assert not postgres.is_running()


def test_a_second_app_on_the_same_data_is_refused_by_naming_the_first(
    postgres: EmbeddedPostgres, data_dir: Path, system_dir: Path
) -> None:
    url = postgres.start()

    with pytest.raises(DatabaseUnusable, match=f"process {os.getpid()} is using the database"):
        EmbeddedPostgres(data_dir, system_dir=system_dir).start()

    assert execute(url, "SELECT 1") == [(1,)]


def test_kill_9_of_the_app_leaves_no_postgres_and_the_next_start_recovers(
    other_app: subprocess.Popen[str], postgres: EmbeddedPostgres
) -> None:
    url, pid = _started(other_app)
    execute(url, "CREATE TABLE kept (id int)")
    family = _family(pid)
    other_app.kill()
    other_app.wait()

    url = postgres.start()

    assert execute(url, "SELECT count(*) FROM kept") == [(0,)]
    _eventually(lambda: not any(map(_alive, family)))


def test_ctrl_c_in_the_terminal_does_not_reach_postgres(postgres: EmbeddedPostgres) -> None:
    postgres.start()
    assert postgres.pid is not None

    assert os.getpgid(postgres.pid) != os.getpgid(0)


async def test_records_reach_a_postgres_that_was_killed_and_started_again(
    postgres: EmbeddedPostgres, tmp_path: Path
) -> None:
    url = postgres.start()
    migrate(url, TODAY)
    log = SpooledCallLog(Postgres(url), tmp_path / "spool")
    await log.start()
    first, second = a_record(), a_record()
    await log.write(first)
    await log.flush()
    killed = _kill(postgres)

    _eventually(postgres.restart_if_dead)
    _eventually(lambda: postgres.restart_if_dead() or _answers(url))
    await log.write(second)
    await log.flush()

    assert postgres.pid != killed
    assert [await log.read(record.id) for record in (first, second)] == [first, second]
    await log.aclose()


def test_what_lives_is_not_restarted(postgres: EmbeddedPostgres) -> None:
    assert not postgres.restart_if_dead()
    postgres.start()
    pid = postgres.pid

    assert not postgres.restart_if_dead()
    assert postgres.pid == pid


def test_a_stale_pid_that_another_process_has_now_is_no_hindrance(postgres: EmbeddedPostgres, data_dir: Path) -> None:
    postgres.start()
    pid_file = data_dir / "postgres" / "cluster" / "postmaster.pid"
    recorded = pid_file.read_text()
    postgres.stop()
    owner = pid_file.parent.stat()
    bystander = subprocess.Popen(["sleep", "600"], user=owner.st_uid if os.geteuid() == 0 else None)
    pid_file.write_text(recorded.replace(recorded.split("\n")[0], str(bystander.pid), 1))
    os.chown(pid_file, owner.st_uid, owner.st_gid)

    url = postgres.start()

    assert execute(url, "SELECT 1") == [(1,)]
    bystander.kill()
    bystander.wait()


def test_a_postmaster_that_does_not_stop_is_named(
    other_app: subprocess.Popen[str], data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, pid = _started(other_app)
    cluster = data_dir / "postgres" / "cluster"
    monkeypatch.setattr(postgres_cluster, "OLD_POSTMASTER_SECONDS", 0)

    with pytest.raises(DatabaseUnusable, match=f"Postgres process {pid} still uses"):
        postgres_cluster.wait_for_old_postmaster(cluster)

    assert live_postmaster(cluster) == pid


def test_a_killed_initdb_leaves_nothing_that_hinders(postgres: EmbeddedPostgres, data_dir: Path) -> None:
    left_over = data_dir / "postgres" / "cluster.new-killed"
    left_over.mkdir(parents=True)
    (left_over / "PG_VERSION").write_text("18\n")

    url = postgres.start()

    assert execute(url, "SELECT 1") == [(1,)]
    assert not left_over.exists()


def test_a_cluster_of_another_major_version_is_refused(postgres: EmbeddedPostgres, data_dir: Path) -> None:
    cluster = data_dir / "postgres" / "cluster"
    cluster.mkdir(parents=True)
    (cluster / "PG_VERSION").write_text("9.6\n")

    with pytest.raises(DatabaseUnusable, match=r"is of Postgres 9\.6 .* dump it with Postgres 9\.6"):
        postgres.start()


def test_a_full_disk_is_told_before_anything_is_made(
    postgres: EmbeddedPostgres, data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_cluster, "MINIMUM_FREE_BYTES", shutil.disk_usage(data_dir.parent).total)

    with pytest.raises(DatabaseUnusable, match="MB are free"):
        postgres.start()

    assert not (data_dir / "postgres" / "cluster").exists()


def test_a_server_that_does_not_start_says_why_in_one_sentence(postgres: EmbeddedPostgres, data_dir: Path) -> None:
    postgres.start()
    postgres.stop()
    with (data_dir / "postgres" / "cluster" / "postgresql.conf").open("a") as configuration:
        configuration.write("no_such_setting = 1\n")

    with pytest.raises(DatabaseUnusable, match=r"does not start: .*FATAL") as caught:
        postgres.start()

    assert "\n" not in str(caught.value)
    assert not postgres.is_running()


def _started(app: subprocess.Popen[str]) -> tuple[str, int]:
    assert app.stdout is not None
    url, pid = app.stdout.readline().split()
    return url, int(pid)


def _kill(postgres: EmbeddedPostgres) -> int:
    assert postgres.pid is not None
    pid = postgres.pid
    os.kill(pid, signal.SIGKILL)
    return pid


def _answers(url: str) -> bool:
    try:
        return execute(url, "SELECT 1") == [(1,)]
    except psycopg.OperationalError:
        return False


def _family(pid: int) -> list[int]:
    """The process and its children."""
    children = []
    for stat_file in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(stat_file.read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
        if parent == pid:
            children.append(int(stat_file.parent.name))
    assert children, "a running server has background processes"
    return [pid, *children]


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def _eventually(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.05)
