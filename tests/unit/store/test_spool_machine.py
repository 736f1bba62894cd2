"""The spool under any order of appends, shipping, new segments and crashes: what was acknowledged is there, once."""

import asyncio
import shutil
import tempfile
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from app.store.spool import FrameKind, Position, Spool, SpoolLimits, adopt_left_folders, leave

PAYLOADS = st.binary(min_size=1, max_size=600)


class SpoolMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.loop = asyncio.new_event_loop()
        self.crashes = 0
        self.acknowledged: list[bytes] = []
        self.shipped: list[bytes] = []
        self.position = Position(0, 0)
        self.spool = self._opened()

    @rule(payload=PAYLOADS)
    def append(self, payload: bytes) -> None:
        self.loop.run_until_complete(self.spool.append_durably(FrameKind.RECORD, payload))
        self.acknowledged.append(payload)

    @rule(payloads=st.lists(PAYLOADS, min_size=2, max_size=6))
    def append_together(self, payloads: list[bytes]) -> None:
        async def together() -> None:
            await asyncio.gather(*(self.spool.append_durably(FrameKind.RECORD, payload) for payload in payloads))

        self.loop.run_until_complete(together())
        self.acknowledged += payloads

    @rule(payload=PAYLOADS)
    def begin(self, payload: bytes) -> None:
        self.spool.append(FrameKind.STARTED, payload)

    @rule()
    def begin_new_segment(self) -> None:
        self.loop.run_until_complete(self.spool.begin_new_segment())

    @rule(most=st.integers(1, 5))
    def ship(self, most: int) -> None:
        for frame, _, after in self.spool.folder.frames(self.position, self.spool.end):
            if frame.kind is FrameKind.RECORD:
                self.shipped.append(frame.payload)
                most -= 1
            self.position = after
            if not most:
                break
        self.spool.folder.keep_checkpoint(self.position)
        self.spool.folder.remove_segments_before(self.position.segment)

    @rule(garbage=st.binary(max_size=80), torn=st.integers(0, 20))
    def crash(self, garbage: bytes, torn: int) -> None:
        """The process dies: behind what was synced the last segment may hold anything but a whole frame."""
        end, source = self.spool.end, self.spool.folder.path
        left = self._root() / source.name
        shutil.copytree(source, left)
        last = left / f"{end.segment:08}.seg"
        data = last.read_bytes()
        last.write_bytes(data[: end.offset] + data[16 : 16 + torn] + garbage)
        self.loop.run_until_complete(self.spool.aclose())
        self.spool.folder.release()
        self.crashes += 1
        self._recover(left.parent)
        self.spool = self._opened()
        self.position = Position(0, 0)

    def _recover(self, root: Path) -> None:
        ((boot, folder),) = adopt_left_folders(root)
        frames = list(folder.frames(folder.checkpoint()))
        self.shipped += [frame.payload for frame, _, _ in frames if frame.kind is FrameKind.RECORD]
        assert folder.damaged_segments() == {}
        leave(boot, folder, root, folder.damaged_segments())
        assert list(root.iterdir()) == []

    @invariant()
    def what_is_shipped_is_what_was_acknowledged_in_order(self) -> None:
        assert self.shipped == self.acknowledged[: len(self.shipped)]

    @invariant()
    def what_is_not_shipped_is_still_there(self) -> None:
        waiting = [
            frame.payload
            for frame, _, _ in self.spool.folder.frames(self.position, self.spool.end)
            if frame.kind is FrameKind.RECORD
        ]
        assert self.shipped + waiting == self.acknowledged

    def teardown(self) -> None:
        self.loop.run_until_complete(self.spool.aclose())
        self.spool.folder.release()
        self.loop.close()
        shutil.rmtree(self.folder)

    def _opened(self) -> Spool:
        async def opened() -> Spool:
            return Spool(self.folder / f"live-{self.crashes}", SpoolLimits(segment_bytes=1024))

        (self.folder / f"live-{self.crashes}").mkdir()
        return self.loop.run_until_complete(opened())

    def _root(self) -> Path:
        root = self.folder / f"left-{self.crashes}"
        root.mkdir()
        return root


def test_no_order_of_events_loses_or_doubles_a_record() -> None:
    run_state_machine_as_test(SpoolMachine, settings=settings(max_examples=60, stateful_step_count=40, deadline=None))
