"""Records and segments that wait for a person, beside the spools: no longer than customers' words may be kept."""

import json
import logging
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from uuid import UUID

from app.store.spool import DAMAGED, Frame

logger = logging.getLogger(__name__)

QUARANTINE = "quarantine"


def quarantine(root: Path, boot: UUID, frame: Frame, reason: str) -> None:
    """A record that the database refuses, as a file."""
    folder = root / QUARANTINE
    folder.mkdir(mode=0o700, exist_ok=True)
    path = folder / f"{boot.hex}-{frame.sequence}.json"
    path.write_bytes(frame.payload)
    path.chmod(0o600)
    logger.error("spool.record_quarantined", extra={"file": str(path), "reason": reason})


def erase_set_aside(root: Path, named: Mapping[str, str]) -> None:
    """Records of this id or conversation, and every damaged segment: what could be read of it is in the database."""
    for path in _files(root):
        if path.parent.name == DAMAGED or _says(path, named):
            path.unlink(missing_ok=True)


def remove_older_set_aside(root: Path, end: datetime) -> int:
    """How many are gone."""
    old = [path for path in _files(root) if path.stat().st_mtime < end.timestamp()]
    for path in old:
        path.unlink(missing_ok=True)
    return len(old)


def _files(root: Path) -> Iterator[Path]:
    for name in (QUARANTINE, DAMAGED):
        if (root / name).is_dir():
            yield from (root / name).iterdir()


def _says(path: Path, named: Mapping[str, str]) -> bool:
    try:
        record = json.loads(path.read_bytes())
        return all(record.get(name) == value for name, value in named.items())
    except (ValueError, AttributeError):
        return True  # unreadable: it may be what is to be erased
