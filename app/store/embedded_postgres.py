"""A Postgres server of our own: started with the app, dead with the app, whatever ends it."""

import logging
import signal
import subprocess
import time
from pathlib import Path

import psycopg
from psycopg import sql
from sqlalchemy import URL

from app.errors import DatabaseUnusable
from app.store.data_lock import DataLock
from app.store.postgres_cluster import ensure_cluster, forget_reused_pid, wait_for_old_postmaster
from app.store.postgres_place import SYSTEM_DIR, Place, choose_place
from app.store.postgres_process import bound_log, last_words, log_size, spawn

logger = logging.getLogger(__name__)

DATABASE = "booking"
USER = "postgres"
PORT = "5432"
"""Part of the socket's name only: no port is opened."""

READY_SECONDS = 300
"""Recovery after a crash replays the write-ahead log, which can take minutes on a slow disk."""
ORPHANS_SECONDS = 60
"""How long backends of a killed server may keep its shared memory."""
POLL_SECONDS = 0.05
STOP_STEPS = ((signal.SIGINT, 20), (signal.SIGQUIT, 10), (signal.SIGKILL, 10))
"""Fast shutdown, then immediate, then none; each with the seconds it is given."""

SETTINGS = {
    "listen_addresses": "",
    "port": PORT,
    "unix_socket_permissions": "0700",
    "max_connections": "40",
    "shared_buffers": "128MB",
    "huge_pages": "off",
    "jit": "off",
    "log_checkpoints": "off",
    # A failing statement, its parameters and its row are the customer's words: never in the log.
    "log_min_error_statement": "panic",
    "log_error_verbosity": "terse",
}


class EmbeddedPostgres:
    """One server for one data folder.

    Call start and restart_if_dead from a thread that lives as long as the app, best the main thread, never through
    asyncio.to_thread: Linux stops Postgres when the thread that started it ends.
    """

    def __init__(self, data_dir: Path, *, system_dir: Path = SYSTEM_DIR) -> None:
        self._data_dir = data_dir
        self._system_dir = system_dir
        self._place: Place | None = None
        self._lock: DataLock | None = None
        self._server: subprocess.Popen[bytes] | None = None
        self._log_start = 0

    @property
    def pid(self) -> int | None:
        """None unless it runs."""
        return self._server.pid if self._server is not None and self._server.poll() is None else None

    def is_running(self) -> bool:
        return self.pid is not None

    def start(self) -> str:
        """Start, wait until ready, and return the SQLAlchemy URL of the database. Blocks. Raises DatabaseUnusable."""
        if self._server is not None:
            raise RuntimeError("start was called twice; use restart_if_dead")
        try:
            return self._start()
        except (OSError, psycopg.Error) as error:
            self.stop()
            reason = (str(error).splitlines() or [type(error).__name__])[0]
            raise DatabaseUnusable(f"the embedded database cannot start: {reason}; check DATA_DIR") from error
        except BaseException:
            self.stop()
            raise

    def restart_if_dead(self) -> bool:
        """True if the server had died and was started again. Does not wait until it is ready: writes try again.

        If the new one dies too, for example because orphans of the old one still hold its memory, or if the system has
        no room for it (OSError), the next call starts another.
        """
        if self._place is None or self._server is None:
            return False
        bound_log(self._place.log)
        if self._server.poll() is None:
            return False
        words = last_words(self._place.log, self._log_start)
        logger.error("postgres.died", extra={"exit_status": self._server.returncode, "last_words": words})
        self._spawn(self._place)
        return True

    def stop(self) -> None:
        """Stop the server and let go of the data. Blocks at most 40 s; does nothing when there is nothing to stop."""
        if self._server is not None:
            _end(self._server)
            logger.info("postgres.stopped", extra={"exit_status": self._server.returncode})
            self._server = None
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    def _start(self) -> str:
        place = self._place = choose_place(self._data_dir, self._system_dir)
        folders = {"folder": str(place.root), "programs": str(place.binaries.base), "uid": place.account.uid}
        logger.info("postgres.placed", extra=folders)
        self._lock = DataLock(place.lock)
        bound_log(place.log)
        wait_for_old_postmaster(place.cluster)
        ensure_cluster(place)
        self._spawn_until_ready(place)
        _ensure_database(place.sockets)
        query = {"host": str(place.sockets), "port": PORT}
        return URL.create("postgresql+psycopg", USER, database=DATABASE, query=query).render_as_string()

    def _spawn_until_ready(self, place: Place) -> None:
        deadline = time.monotonic() + ORPHANS_SECONDS
        while True:
            server = self._spawn(place)
            if _becomes_ready(server, place.sockets):
                return
            words = last_words(place.log, self._log_start)
            if "pre-existing shared memory block" not in words or time.monotonic() > deadline:
                raise DatabaseUnusable(f"the embedded database does not start: {words or server.returncode!r}")
            time.sleep(POLL_SECONDS)

    def _spawn(self, place: Place) -> subprocess.Popen[bytes]:
        forget_reused_pid(place.cluster)
        self._log_start = log_size(place.log)
        settings = SETTINGS | {"unix_socket_directories": str(place.sockets)}
        arguments = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        self._server = spawn(place, "postgres", "-D", str(place.cluster), *arguments)
        logger.info("postgres.started", extra={"pid": self._server.pid})
        return self._server


def _becomes_ready(server: subprocess.Popen[bytes], sockets: Path) -> bool:
    """False when the server ends instead. Raises DatabaseUnusable after READY_SECONDS."""
    deadline = time.monotonic() + READY_SECONDS
    while server.poll() is None:
        try:
            _connect(sockets).close()
        except psycopg.OperationalError:
            if time.monotonic() > deadline:
                raise DatabaseUnusable(
                    f"the embedded database was not ready in {READY_SECONDS} s; see its log"
                ) from None
            time.sleep(POLL_SECONDS)
        else:
            return True
    return False


def _connect(sockets: Path) -> psycopg.Connection:
    return psycopg.connect(
        host=str(sockets), port=PORT, user=USER, dbname="postgres", connect_timeout=5, autocommit=True
    )


def _ensure_database(sockets: Path) -> None:
    with _connect(sockets) as connection:
        if connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE]).fetchone() is None:
            connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(DATABASE)))


def _end(server: subprocess.Popen[bytes]) -> None:
    for step, seconds in STOP_STEPS:
        if server.poll() is not None:
            return
        server.send_signal(step)
        try:
            server.wait(seconds)
        except subprocess.TimeoutExpired:
            logger.warning("postgres.lingered", extra={"signal": step.name, "seconds": seconds})
