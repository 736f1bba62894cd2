"""Is there a disk under the spool? A durable write to memory is none."""

from pathlib import Path

from app.errors import StartFailed

VOLATILE = {
    "tmpfs": "memory",
    "ramfs": "memory",
    "overlay": "a container's own layer, which goes with the container",
}


def require_disk(folder: Path) -> None:
    """Raises StartFailed if what is written there does not survive the machine or the container."""
    kind = filesystem_of(folder)
    if kind in VOLATILE:
        raise StartFailed(
            f"the spool in {str(folder)!r} lies in {VOLATILE[kind]}: records that wait there would be lost; "
            "set SPOOL_DIR to a folder on a disk or a volume, or ALLOW_VOLATILE_SPOOL=true to accept the loss"
        )


def filesystem_of(folder: Path) -> str:
    """Its type as the kernel calls it, of the nearest folder that exists; empty where the kernel does not tell."""
    path = folder.resolve()
    mounts: dict[Path, str] = {}
    try:
        lines = Path("/proc/self/mounts").read_text().splitlines()
    except OSError:
        return ""
    for line in lines:
        _, point, kind, *_ = line.split(" ")
        mounts[Path(point.encode().decode("unicode_escape"))] = kind  # the last mount on a point is the one seen
    return next((mounts[parent] for parent in (path, *path.parents) if parent in mounts), "")
