"""The user Postgres runs as, and what this user can reach."""

import os
import pwd
import stat
from dataclasses import dataclass
from pathlib import Path

from app.errors import DatabaseUnusable


@dataclass(frozen=True)
class Account:
    uid: int
    gid: int

    def may_enter(self, path: Path) -> bool:
        """Whether the mode bits let this user into the folder and every one above it."""
        return all(self._has(folder, stat.S_IXOTH) for folder in (path, *path.parents))

    def may_read(self, path: Path) -> bool:
        return self.may_enter(path.parent) and path.exists() and self._has(path, stat.S_IROTH)

    def own(self, path: Path, mode: int) -> None:
        """Make something we have just created this user's."""
        os.chown(path, self.uid, self.gid, follow_symlinks=False)
        path.chmod(mode)

    def _has(self, path: Path, bit: int) -> bool:
        status = path.stat()
        shift = 6 if status.st_uid == self.uid else 3 if status.st_gid == self.gid else 0
        return bool(status.st_mode & (bit << shift))


def choose_account(cluster: Path) -> Account:
    """Ourselves; as root the owner of the cluster if there is one, else `postgres`, else `nobody`."""
    if os.geteuid() != 0:
        return Account(os.geteuid(), os.getegid())
    if cluster.exists() and cluster.stat().st_uid != 0:
        return Account(cluster.stat().st_uid, cluster.stat().st_gid)
    for name in ("postgres", "nobody"):
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return Account(entry.pw_uid, entry.pw_gid)
    raise DatabaseUnusable(
        "Postgres does not run as root and there is no user 'postgres' or 'nobody'; set DATABASE_URL"
    )
