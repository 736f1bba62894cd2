"""One owner for one folder of data, released by any death of its holder."""

import fcntl
import os
from pathlib import Path

from app.errors import DatabaseUnusable


class DataLock:
    """An flock on a file that names its holder. Children must not keep it: an engine's process can outlive the app."""

    def __init__(self, path: Path) -> None:
        """Raises DatabaseUnusable while another process, or another DataLock, holds it."""
        self._descriptor: int | None = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.read(self._descriptor, 32).decode(errors="replace").strip()
            self.release()
            raise DatabaseUnusable(
                f"process {holder or 'unknown'} is using the database in {str(path.parent)!r}; "
                "stop it, or set DATA_DIR to another folder"
            ) from None
        os.register_at_fork(after_in_child=self.release)  # exec closes it by itself
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, f"{os.getpid()}\n".encode(), 0)

    def release(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
