"""Permits: none lost, none made up, whoever gives up when."""

import asyncio
import contextlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.errors import ServiceBusy
from app.pipeline.admission import Admission, AdmissionLimits

LONG = 600.0


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Holder:
    """Somebody who asks for a permit and keeps it until told."""

    def __init__(self, admission: Admission) -> None:
        self.let_go = asyncio.Event()
        self.has_it = False
        self.task = asyncio.create_task(self._hold(admission))

    async def _hold(self, admission: Admission) -> None:
        async with admission.permit():
            self.has_it = True
            try:
                await self.let_go.wait()
            finally:
                self.has_it = False


async def settled() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


async def test_a_free_permit_is_given_at_once() -> None:
    admission = Admission(AdmissionLimits(1, 0, LONG))

    async with admission.permit():
        assert admission.in_flight == 1

    assert admission.in_flight == 0
    await admission.idle()


async def test_who_finds_the_queue_full_is_refused_at_once() -> None:
    admission = Admission(AdmissionLimits(1, 1, LONG))
    holder, waiter = Holder(admission), Holder(admission)
    await settled()

    with pytest.raises(ServiceBusy) as refused:
        async with admission.permit():
            pass

    assert 1 <= refused.value.retry_after_seconds <= 60
    holder.let_go.set()
    waiter.let_go.set()
    await asyncio.gather(holder.task, waiter.task)


async def test_a_wait_that_is_too_long_ends_in_a_refusal() -> None:
    admission = Admission(AdmissionLimits(1, 1, 0.01))
    holder = Holder(admission)
    await settled()

    with pytest.raises(ServiceBusy, match="too late"):
        async with admission.permit():
            pass

    assert admission.queued == 0
    holder.let_go.set()
    await holder.task
    assert admission.in_flight == 0


async def test_nobody_waits_longer_than_he_has_time() -> None:
    admission = Admission(AdmissionLimits(1, 1, LONG))
    holder = Holder(admission)
    await settled()

    with pytest.raises(ServiceBusy, match="too late"):
        async with admission.permit(at_most_seconds=0.01):
            pass

    assert admission.queued == 0
    holder.let_go.set()
    await holder.task


async def test_waiters_are_served_in_order() -> None:
    admission = Admission(AdmissionLimits(1, 3, LONG))
    holder, first, second = (Holder(admission) for _ in range(3))
    await settled()

    holder.let_go.set()
    await settled()

    assert (first.has_it, second.has_it) == (True, False)
    first.let_go.set()
    second.let_go.set()
    await asyncio.gather(first.task, second.task)


async def test_after_a_second_of_slow_waits_the_newest_is_served_first() -> None:
    clock = Clock()
    admission = Admission(AdmissionLimits(1, 3, LONG), clock)
    holder, slow = Holder(admission), Holder(admission)
    await settled()
    clock.now += 0.2
    holder.let_go.set()
    await settled()
    oldest = Holder(admission)
    await settled()
    clock.now += 1.0
    newest = Holder(admission)
    await settled()

    slow.let_go.set()
    await settled()

    assert (oldest.has_it, newest.has_it) == (False, True)
    newest.let_go.set()
    oldest.let_go.set()
    await asyncio.gather(holder.task, oldest.task, newest.task)


async def test_long_checks_without_a_slow_wait_leave_the_order_as_it_is() -> None:
    clock = Clock()
    admission = Admission(AdmissionLimits(1, 3, LONG), clock)
    holder = Holder(admission)
    await settled()
    clock.now += 30
    oldest, newest = Holder(admission), Holder(admission)
    await settled()

    holder.let_go.set()
    await settled()

    assert (oldest.has_it, newest.has_it) == (True, False)
    newest.let_go.set()
    oldest.let_go.set()
    await asyncio.gather(oldest.task, newest.task)


async def refused_seconds(admission: Admission) -> int:
    with pytest.raises(ServiceBusy) as refused:
        async with admission.permit():
            pass
    return refused.value.retry_after_seconds


async def test_who_is_refused_is_told_how_long_the_checks_before_will_take() -> None:
    clock = Clock()
    admission = Admission(AdmissionLimits(1, 0, LONG), clock)
    async with admission.permit():
        clock.now += 20

    async with admission.permit():
        assert 16 <= await refused_seconds(admission) <= 24


async def test_a_quiet_night_does_not_make_the_wait_look_long() -> None:
    clock = Clock()
    admission = Admission(AdmissionLimits(1, 0, LONG), clock)
    for _ in range(60):
        clock.now += 600
        async with admission.permit():
            clock.now += 0.1

    async with admission.permit():
        assert await refused_seconds(admission) == 1


STEPS = st.lists(st.tuples(st.sampled_from(["ask", "let go", "cancel", "breathe"]), st.integers(0, 9)), max_size=60)


@given(STEPS, st.integers(1, 3), st.integers(0, 4), st.sampled_from([0.0, LONG]))
@settings(max_examples=300, deadline=None)
def test_no_order_of_events_loses_or_makes_up_a_permit(
    steps: list[tuple[str, int]], permits: int, queue: int, wait_seconds: float
) -> None:
    """A wait of 0 s is over at the next breath, so that its end meets every other event."""

    async def play() -> None:
        admission = Admission(AdmissionLimits(permits, queue, wait_seconds))
        holders: list[Holder] = []
        for step, index in steps:
            if step == "ask":
                holders.append(Holder(admission))
            elif step == "breathe":
                await asyncio.sleep(0)
            elif holders:
                chosen = holders[index % len(holders)]
                chosen.let_go.set() if step == "let go" else chosen.task.cancel()
            assert sum(holder.has_it for holder in holders) <= permits
            assert admission.queued <= queue
        for holder in holders:
            holder.let_go.set()
        for holder in holders:
            with contextlib.suppress(ServiceBusy, asyncio.CancelledError):
                await holder.task
        assert (admission.in_flight, admission.queued) == (0, 0)
        await admission.idle()

    asyncio.run(play())
