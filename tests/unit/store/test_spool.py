"""The spool: what is acknowledged is on disk, whatever is cut off behind it."""

import asyncio
import os
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.errors import StartFailed
from app.store.spool import FrameKind, Position, Spool, SpoolFailed, SpoolFolder, SpoolLimits, adopt_left_folders, leave
from app.store.spool.disk import filesystem_of, require_disk
from app.store.spool.frames import Frame, encode, scan

BEGINNING = Position(0, 0)


@pytest.fixture
async def spool(tmp_path: Path) -> AsyncIterator[Spool]:
    spool = Spool(tmp_path, SpoolLimits(segment_bytes=4096))
    yield spool
    await spool.aclose()
    spool.folder.release()


def frames(*payloads: bytes) -> bytes:
    return b"".join(encode(Frame(FrameKind.RECORD, n, payload)) for n, payload in enumerate(payloads, start=1))


def payloads(data: bytes) -> list[bytes]:
    return [frame.payload for frame, _, _ in scan(data)]


def kept(folder: SpoolFolder) -> list[bytes]:
    return [frame.payload for frame, _, _ in folder.frames(BEGINNING)]


def test_a_torn_frame_is_not_taken_for_whole() -> None:
    data = frames(b"first", b"second")

    assert payloads(data) == [b"first", b"second"]
    assert all(payloads(data[:cut]) in ([], [b"first"]) for cut in range(len(data)))


def test_any_flipped_bit_costs_its_own_frame_and_no_other() -> None:
    whole = frames(b"first", b"second", b"third")
    start, end = len(frames(b"first")), len(frames(b"first", b"second"))

    for position in range(start, end):
        for bit in range(8):
            data = bytearray(whole)
            data[position] ^= 1 << bit
            assert payloads(bytes(data)) == [b"first", b"third"], (position, bit)


def test_a_payload_that_looks_like_a_frame_is_only_a_payload() -> None:
    nested = frames(b"inner")

    assert payloads(frames(nested, b"after")) == [nested, b"after"]


async def test_records_are_read_back_in_order_and_numbered(spool: Spool) -> None:
    written = [b"%d" % n * 100 for n in range(1, 60)]

    appended = [await spool.append_durably(FrameKind.RECORD, payload) for payload in written]

    assert kept(spool.folder) == written
    assert [one.frame.sequence for one in appended] == list(range(1, 60))
    assert [spool.folder.frame_at(one.position) for one in appended] == [one.frame for one in appended]
    assert len(spool.folder.segments()) > 1, "the segments are small enough to need several"


async def test_records_written_at_once_are_all_kept(spool: Spool) -> None:
    written = [b"record %d" % n for n in range(200)]

    await asyncio.gather(*(spool.append_durably(FrameKind.RECORD, payload) for payload in written))

    assert sorted(kept(spool.folder)) == sorted(written)


async def test_a_record_larger_than_a_segment_gets_one_of_its_own(spool: Spool) -> None:
    large = b"x" * 10_000

    await spool.append_durably(FrameKind.RECORD, b"small")
    await spool.append_durably(FrameKind.RECORD, large)

    assert kept(spool.folder) == [b"small", large]


async def test_a_record_beyond_the_limit_is_refused_and_harms_no_other(spool: Spool) -> None:
    with pytest.raises(SpoolFailed, match="exceeds"):
        await spool.append_durably(FrameKind.RECORD, b"x" * (4 * 1024 * 1024 + 1))
    await spool.append_durably(FrameKind.RECORD, b"next")

    assert kept(spool.folder) == [b"next"]


async def test_a_write_that_fails_is_refused_and_leaves_no_gap(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "spool", SpoolLimits(segment_bytes=64))
    folder = spool.folder.path
    await spool.append_durably(FrameKind.RECORD, b"before" * 10)
    folder.rename(tmp_path / "gone")

    with pytest.raises(SpoolFailed, match="No such file"):
        await spool.append_durably(FrameKind.RECORD, b"refused" * 10)
    assert not spool.is_writable and spool.reason
    (tmp_path / "gone").rename(folder)
    while not spool.is_writable:
        await asyncio.sleep(0.02)
    after = await spool.append_durably(FrameKind.RECORD, b"after" * 10)

    assert after.frame.sequence == 2
    assert kept(spool.folder) == [b"before" * 10, b"after" * 10]
    await spool.aclose()
    spool.folder.release()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a small disk")
async def test_a_full_disk_refuses_cleanly_and_takes_records_again_when_there_is_room(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    if os.system(f"mount -t tmpfs -o size=256k tmpfs {disk}") != 0:
        pytest.skip("this machine lets nobody mount a small disk")
    try:
        spool = Spool(disk, SpoolLimits(segment_bytes=64 * 1024))
        acknowledged: list[bytes] = []
        with pytest.raises(SpoolFailed, match="No space left"):
            for n in range(1000):
                payload = b"%04d" % n * 500
                await spool.append_durably(FrameKind.RECORD, payload)
                acknowledged.append(payload)
        assert kept(spool.folder) == acknowledged
        spool.folder.remove_segments_before(spool.folder.segments()[-1])
        while not spool.is_writable:
            await asyncio.sleep(0.02)
        await spool.append_durably(FrameKind.RECORD, b"after")

        assert kept(spool.folder)[-1] == b"after"
        await spool.aclose()
        spool.folder.release()
    finally:
        os.system(f"umount {disk}")


async def test_a_new_segment_lets_the_old_ones_go(spool: Spool) -> None:
    await spool.append_durably(FrameKind.RECORD, b"old")

    await spool.begin_new_segment()
    spool.folder.remove_segments_before(spool.end.segment)
    await spool.append_durably(FrameKind.RECORD, b"new")

    assert kept(spool.folder) == [b"new"]


async def test_a_living_process_keeps_its_spool_to_itself(spool: Spool, tmp_path: Path) -> None:
    await spool.append_durably(FrameKind.RECORD, b"mine")

    assert list(adopt_left_folders(tmp_path)) == []


async def test_a_dead_process_leaves_its_spool_whole(spool: Spool, tmp_path: Path) -> None:
    await spool.append_durably(FrameKind.RECORD, b"acknowledged")
    copy = tmp_path / "other" / spool.folder.path.name
    shutil.copytree(spool.folder.path, copy)
    segment = copy / "00000001.seg"
    data = segment.read_bytes().rstrip(b"\0")
    segment.write_bytes(data + encode(Frame(FrameKind.RECORD, 2, b"torn" * 20))[:-7] + bytes(500))

    ((boot, folder),) = adopt_left_folders(tmp_path / "other")

    assert boot == spool.boot
    assert kept(folder) == [b"acknowledged"]
    assert folder.damaged_segments() == {}, "a torn last frame was acknowledged to nobody"
    leave(boot, folder, tmp_path / "other", folder.damaged_segments())
    assert list((tmp_path / "other").iterdir()) == []


async def test_damage_inside_a_segment_is_counted_and_the_segment_kept_for_a_person(
    spool: Spool, tmp_path: Path
) -> None:
    appended = [await spool.append_durably(FrameKind.RECORD, payload * 9) for payload in (b"one", b"two", b"three")]
    copy = tmp_path / "other" / spool.folder.path.name
    shutil.copytree(spool.folder.path, copy)
    damaged = bytearray((copy / "00000001.seg").read_bytes())
    damaged[appended[1].end.offset - 1] ^= 0xFF
    (copy / "00000001.seg").write_bytes(damaged)

    ((boot, folder),) = adopt_left_folders(tmp_path / "other")

    assert kept(folder) == [b"one" * 9, b"three" * 9]
    assert sum(folder.damaged_segments().values()) == appended[1].end.offset - appended[1].position.offset
    leave(boot, folder, tmp_path / "other", folder.damaged_segments())
    assert [path.name for path in (tmp_path / "other").iterdir()] == ["damaged"]


async def test_a_segment_of_another_format_waits_for_a_version_that_knows_it(spool: Spool, tmp_path: Path) -> None:
    await spool.append_durably(FrameKind.RECORD, b"from the future")
    copy = tmp_path / "other" / spool.folder.path.name
    shutil.copytree(spool.folder.path, copy)
    segment = bytearray((copy / "00000001.seg").read_bytes())
    segment[14] = 99
    (copy / "00000001.seg").write_bytes(segment)

    ((boot, folder),) = adopt_left_folders(tmp_path / "other")
    leave(boot, folder, tmp_path / "other", folder.damaged_segments())

    assert kept(folder) == []
    assert (copy / "00000001.seg").read_bytes() == segment


async def test_the_checkpoint_survives_and_a_broken_one_ships_again(spool: Spool) -> None:
    spool.folder.keep_checkpoint(Position(3, 77))
    stored = spool.folder.checkpoint()
    (spool.folder.path / "checkpoint").write_text("{")

    assert stored == Position(3, 77)
    assert spool.folder.checkpoint() == BEGINNING


def test_a_spool_in_memory_is_refused() -> None:
    if filesystem_of(Path("/dev/shm")) != "tmpfs":
        pytest.skip("there is no file system in memory here")

    with pytest.raises(StartFailed, match="lies in memory"):
        require_disk(Path("/dev/shm/spool"))
