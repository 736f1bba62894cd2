"""Starts Postgres' programs as children that die with us, and reads what they said."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from app.store.postgres_place import Place

CHILD = Path(__file__).with_name("postgres_child.py")
LOG_BYTES = 10 * 1024 * 1024
"""A log that has grown beyond this becomes postgres.log.1, which replaces the one before."""
TELLING = ("FATAL", "PANIC", "error:")


def spawn(place: Place, program: str, *arguments: str) -> subprocess.Popen[bytes]:
    """Start a program as the place's user. It gets SIGINT when the *thread* that called this ends."""
    command = [sys.executable, "-I", "-S", str(CHILD), str(os.getpid())]
    command += [str(place.account.uid), str(place.account.gid), str(place.binaries.program(program)), *arguments]
    environment = {"LC_ALL": "C.UTF-8", "TZ": "UTC", "PATH": os.defpath}
    if "LD_LIBRARY_PATH" in os.environ:  # some builds of Python do not start without it
        environment["LD_LIBRARY_PATH"] = os.environ["LD_LIBRARY_PATH"]
    log = os.open(place.log, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    try:
        # A session of its own: Ctrl-C in the terminal reaches the app, which stops Postgres last.
        return subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment, cwd="/", start_new_session=True
        )
    finally:
        os.close(log)


def log_size(log: Path) -> int:
    return log.stat().st_size if log.exists() else 0


def last_words(log: Path, since: int) -> str:
    """The last line after byte `since` that tells what went wrong, else the last line, else ''."""
    if not log.exists():
        return ""
    with log.open("rb") as file:
        file.seek(max(since, log_size(log) - 16_384))
        lines = [line.strip() for line in file.read().decode(errors="replace").splitlines() if line.strip()]
    telling = [line for line in lines if any(word in line for word in TELLING)]
    return (telling or lines or [""])[-1]


def bound_log(log: Path) -> None:
    if log_size(log) > LOG_BYTES:
        shutil.copyfile(log, log.with_name(log.name + ".1"))
        os.truncate(log, 0)  # Postgres appends, so it goes on at the new end
