"""From the name of a model to a folder that the engine can load: fetched, verified and converted once."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from app.errors import ModelUnavailable
from app.llm.convert import convert_gguf, is_converted
from app.llm.fetch import fetch_gguf, fetch_snapshot
from app.llm.hardware import Device
from app.llm.models import GgufModel, Precision, default_model, find_model


@dataclass(frozen=True)
class Weights:
    name: str
    """What records and replies call the model."""
    folder: Path


def ensure_weights(wanted: str, device: Device, cache_dir: Path, precision: Precision = "int8") -> Weights:
    """`wanted` is `auto`, a name in the catalogue, a folder of weights or a .gguf file. Raises ModelUnavailable."""
    try:
        path = Path(wanted).expanduser()
    except RuntimeError as error:
        raise ModelUnavailable(f"MODEL is {wanted!r}, and the home folder of that user is not known") from error
    if "/" in wanted or path.suffix == ".gguf":
        return _local(path, cache_dir, precision)
    model = default_model(device) if wanted == "auto" else find_model(wanted)
    with _one_at_a_time(cache_dir):
        if not isinstance(model, GgufModel):
            return Weights(model.name, fetch_snapshot(model, cache_dir / "downloads"))
        folder = cache_dir / "models" / f"{model.name}-{precision}"
        if not is_converted(folder):
            gguf = fetch_gguf(model, cache_dir / "downloads")
            print(f"converting {model.name} to {precision}; this happens once and takes a minute or two", flush=True)
            convert_gguf(gguf, folder, precision)
        return Weights(f"{model.name}/{precision}", folder)


def _local(path: Path, cache_dir: Path, precision: Precision) -> Weights:
    if not path.exists():
        raise ModelUnavailable(
            f"MODEL is {str(path)!r}, which does not exist; give a folder of weights or a .gguf file"
        )
    if path.is_dir():
        if not (path / "config.json").exists():
            raise ModelUnavailable(
                f"MODEL is {str(path)!r}, which has no config.json; give a folder in Hugging Face form"
            )
        return Weights(path.name, path)
    status = path.stat()
    folder = cache_dir / "models" / f"{path.stem}-{status.st_size}-{int(status.st_mtime)}-{precision}"
    with _one_at_a_time(cache_dir):
        if not is_converted(folder):
            convert_gguf(path, folder, precision)
    return Weights(f"{path.stem}/{precision}", folder)


@contextmanager
def _one_at_a_time(cache_dir: Path) -> Iterator[None]:
    """Two starts at once must not write the same files; the second waits and finds them done."""
    try:
        cache_dir.mkdir(parents=True, exist_ok=True)
        lock = (cache_dir / "lock").open("w")
    except OSError as error:
        raise ModelUnavailable(f"CACHE_DIR {str(cache_dir)!r} cannot be written: {error}") from error
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
