"""Where embedded Postgres keeps its data, as which user it runs, and which programs it runs."""

import hashlib
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from app.errors import DatabaseUnusable
from app.store.account import Account, choose_account
from app.store.postgres_binaries import Binaries, copy_binaries, packaged_binaries, runnable_by

SYSTEM_DIR = Path("/var/lib/booking-assistant")
"""As root only, for what the unprivileged user cannot reach elsewhere. Nobody's permissions are widened."""
SOCKET_NAME = ".s.PGSQL.5432"
SOCKET_PATH_BYTES = 107
"""Longest path of a unix socket on Linux."""


@dataclass(frozen=True)
class Place:
    root: Path
    account: Account
    binaries: Binaries
    sockets: Path

    @property
    def cluster(self) -> Path:
        return self.root / "cluster"

    @property
    def log(self) -> Path:
        return self.root / "postgres.log"

    @property
    def lock(self) -> Path:
        return self.root / "lock"


def choose_place(data_dir: Path, system_dir: Path = SYSTEM_DIR) -> Place:
    """`data_dir`/postgres if Postgres' user can get there, else in `system_dir`. Raises DatabaseUnusable."""
    data_dir = data_dir.resolve()
    data_dir.mkdir(parents=True, exist_ok=True)
    digest = hashlib.sha256(os.fsencode(data_dir)).hexdigest()[:12]
    inside, outside = data_dir / "postgres", system_dir / digest
    account = choose_account(inside / "cluster")
    root = inside if os.geteuid() != 0 else _reachable_root(inside, outside, account)
    binaries = packaged_binaries()
    copied = os.geteuid() == 0 and not runnable_by(account, binaries)
    if root == outside or copied:
        _create_system_dir(system_dir)
    if copied:
        binaries = copy_binaries(binaries, system_dir / f"postgres-{binaries.version}")
    _create(root, 0o755 if os.geteuid() == 0 else 0o700)
    return Place(root, account, binaries, _create_socket_dir(root, digest, account))


def _reachable_root(inside: Path, outside: Path, account: Account) -> Path:
    # Where a cluster is, it stays: permissions may have changed, and an empty database would look like lost records.
    if (outside / "cluster").exists():
        return outside
    if account.may_enter(inside.parent) and (not inside.exists() or account.may_enter(inside)):
        return inside
    if (inside / "cluster").exists():
        raise DatabaseUnusable(f"user {account.uid} owns the records in {str(inside)!r} and cannot get there any more")
    return outside


def _create(folder: Path, mode: int) -> None:
    if not folder.exists():
        folder.mkdir()
        folder.chmod(mode)  # whatever the umask is; a folder that was there keeps its own


def _create_system_dir(system_dir: Path) -> None:
    _create(system_dir, 0o755)
    status = system_dir.lstat()
    if status.st_uid != 0 or status.st_mode & 0o022:
        raise DatabaseUnusable(f"{str(system_dir)!r} can be changed by others than root; fix its owner and mode")


def _create_socket_dir(root: Path, digest: str, account: Account) -> Path:
    name = f"booking-assistant-{account.uid}-{digest}"
    candidates = [root / "run", Path(tempfile.gettempdir()).resolve() / name, Path("/tmp") / name]  # noqa: S108 - a 0700 folder inside
    for path in candidates:
        if _fits(path) and account.may_enter(path.parent):
            return _create_private(path, account)
    raise DatabaseUnusable(f"no folder for a socket has a path short enough, not even {str(candidates[-1])!r}")


def _fits(path: Path) -> bool:
    # libpq and Postgres read a comma as the end of a path.
    return len(os.fsencode(path / SOCKET_NAME)) <= SOCKET_PATH_BYTES and not set(str(path)) & set(',"')


def _create_private(path: Path, account: Account) -> Path:
    try:
        path.mkdir(mode=0o700)
    except FileExistsError:
        pass
    else:
        account.own(path, 0o700)
    status = path.lstat()
    if path.is_symlink() or status.st_uid != account.uid or status.st_mode & 0o077:
        raise DatabaseUnusable(f"{str(path)!r} belongs to somebody else; remove it")
    return path
