"""What dead processes left: their folders, whose lock is free."""

import logging
from collections.abc import Iterable, Iterator
from pathlib import Path
from uuid import UUID

from app.store.spool.folder import FolderTaken, SpoolFolder

logger = logging.getLogger(__name__)

DAMAGED = "damaged"


def adopt_left_folders(root: Path) -> Iterator[tuple[UUID, SpoolFolder]]:
    """Each with the boot it belongs to, oldest first; held until released or removed."""
    for path in sorted(entry for entry in root.iterdir() if entry.is_dir()):
        try:
            boot = UUID(hex=path.name)
        except ValueError:
            continue
        try:
            folder = SpoolFolder(path)
        except (FolderTaken, FileNotFoundError):
            continue
        yield boot, folder


def leave(boot: UUID, folder: SpoolFolder, root: Path, damaged: Iterable[int]) -> None:
    """Remove a spool whose records are in the database; what cannot be read of it stays for a person to look at.

    `damaged` are the numbers of the segments with damage between their frames.
    """
    for number in damaged:
        folder.move_segment(number, root / DAMAGED / f"{boot.hex}-{number}.seg")
    unreadable = folder.unreadable_segments()
    if not unreadable:
        folder.remove()
        return
    logger.error("spool.unreadable", extra={"folder": str(folder.path), "segments": unreadable})
    folder.release()
