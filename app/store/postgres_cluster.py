"""The cluster on disk: made whole or not at all, of our version, and nobody else's at the moment."""

import contextlib
import logging
import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from app.errors import DatabaseUnusable
from app.store.postgres_place import Place
from app.store.postgres_process import last_words, log_size, spawn

logger = logging.getLogger(__name__)

MINIMUM_FREE_BYTES = 200_000_000
"""A new cluster takes 40 MB, its first write-ahead log 16 MB, and then it should live a while."""
INITDB_SECONDS = 300
OLD_POSTMASTER_SECONDS = 60
POLL_SECONDS = 0.1

INITDB_ARGUMENTS = (
    "--username=postgres",
    "--encoding=UTF8",
    "--locale=C.UTF-8",
    "--auth=trust",  # the socket's folder is closed to everybody else
    "--no-instructions",
    "--set=huge_pages=off",  # where a container has none to give, touching them kills initdb
)


def ensure_cluster(place: Place) -> None:
    """Raises DatabaseUnusable if the cluster there is not ours to use, or a new one cannot be made."""
    if place.cluster.exists():
        _refuse_other_version(place)
    else:
        _make_cluster(place)


def wait_for_old_postmaster(cluster: Path) -> None:
    """After kill -9 of the app Postgres needs a moment to stop. Raises DatabaseUnusable if it does not."""
    deadline = time.monotonic() + OLD_POSTMASTER_SECONDS
    while (pid := live_postmaster(cluster)) is not None:
        if time.monotonic() > deadline:
            raise DatabaseUnusable(f"Postgres process {pid} still uses {str(cluster)!r}; stop it with kill -INT {pid}")
        time.sleep(POLL_SECONDS)


def live_postmaster(cluster: Path) -> int | None:
    pid = _recorded_pid(cluster)
    if pid is None:
        return None
    try:
        arguments = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return None
    return pid if os.fsencode(cluster) in arguments else None


def forget_reused_pid(cluster: Path) -> None:
    """Postgres would not start while any process has the pid in its stale file, usual in containers."""
    pid = _recorded_pid(cluster)
    if pid is not None and Path(f"/proc/{pid}").exists() and live_postmaster(cluster) is None:
        (cluster / "postmaster.pid").unlink(missing_ok=True)


def _recorded_pid(cluster: Path) -> int | None:
    try:
        return abs(int((cluster / "postmaster.pid").read_text().split("\n")[0]))
    except (FileNotFoundError, ValueError):
        return None


def _refuse_other_version(place: Place) -> None:
    version_file = place.cluster / "PG_VERSION"
    found = version_file.read_text().strip() if version_file.exists() else None
    if found is None:
        raise DatabaseUnusable(f"{str(place.cluster)!r} holds no Postgres cluster; move it away")
    if found != place.binaries.major:
        raise DatabaseUnusable(
            f"the cluster in {str(place.cluster)!r} is of Postgres {found} and this version brings "
            f"{place.binaries.major}; dump it with Postgres {found}, move it away and restore the dump into a new one"
        )


def _make_cluster(place: Place) -> None:
    free = shutil.disk_usage(place.root).free
    if free < MINIMUM_FREE_BYTES:
        raise DatabaseUnusable(
            f"{free // 1_000_000} MB are free in {str(place.root)!r} and a database needs "
            f"{MINIMUM_FREE_BYTES // 1_000_000}; free some, or set DATA_DIR to another disk"
        )
    for left_over in place.root.glob("cluster.new-*"):
        shutil.rmtree(left_over, ignore_errors=True)
    unfinished = Path(tempfile.mkdtemp(prefix="cluster.new-", dir=place.root))
    try:
        place.account.own(unfinished, 0o700)
        _initdb(place, unfinished)
        unfinished.rename(place.cluster)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    logger.info("cluster.made", extra={"cluster": str(place.cluster), "postgres_version": place.binaries.version})


def _initdb(place: Place, target: Path) -> None:
    since = log_size(place.log)
    initdb = spawn(place, "initdb", f"--pgdata={target}", *INITDB_ARGUMENTS)
    try:
        status = initdb.wait(INITDB_SECONDS)
    except subprocess.TimeoutExpired:
        raise DatabaseUnusable(
            f"initdb took more than {INITDB_SECONDS} s; is the disk under {str(target)!r} slow?"
        ) from None
    finally:
        with contextlib.suppress(ProcessLookupError):
            initdb.kill()
    if status != 0:
        raise DatabaseUnusable(f"a new database cannot be made: {last_words(place.log, since) or status!r}")
