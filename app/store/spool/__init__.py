"""An append-only file log of this process: durable before anybody is answered, emptied by the shipper.

frames.py    one entry, with length and checksum            folder.py  the segments and the checkpoint of one process
spool.py     the writer: one fdatasync for all that wait    left.py    what dead processes left behind
"""

from app.store.spool.folder import BEGINNING, Position, SpoolFolder
from app.store.spool.frames import Frame, FrameKind
from app.store.spool.left import DAMAGED, adopt_left_folders, leave
from app.store.spool.spool import Appended, Spool, SpoolFailed, SpoolLimits

__all__ = [
    "BEGINNING",
    "DAMAGED",
    "Appended",
    "Frame",
    "FrameKind",
    "Position",
    "Spool",
    "SpoolFailed",
    "SpoolFolder",
    "SpoolLimits",
    "adopt_left_folders",
    "leave",
]
