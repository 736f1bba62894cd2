"""One deadline for both calls."""

import asyncio

import pytest

from app.pipeline.deadline import Deadline, RecentTimes


def test_what_the_first_call_takes_the_second_lacks() -> None:
    now = 10.0
    deadline = Deadline.after(20, lambda: now)
    now = 25.0

    assert deadline.left_seconds == 5
    assert deadline.narration_seconds == 4.5


def test_a_passed_deadline_leaves_no_time_for_words() -> None:
    now = 10.0
    deadline = Deadline.after(20, lambda: now)
    now = 31.0

    assert deadline.left_seconds < 0 and deadline.narration_seconds == 0


async def test_work_ends_at_the_deadline() -> None:
    with pytest.raises(TimeoutError):
        async with Deadline.after(0.01).within():
            await asyncio.sleep(60)


async def test_work_does_not_begin_after_the_deadline() -> None:
    with pytest.raises(TimeoutError):
        async with Deadline.after(-1).within():
            await asyncio.sleep(60)


def test_the_usual_time_is_not_guessed_from_a_few() -> None:
    times = RecentTimes(least=5)
    for _ in range(4):
        times.add(9.0)

    assert times.p95_seconds == 0


def test_the_usual_time_is_the_95th_percentile_of_the_last() -> None:
    times = RecentTimes(window=100)
    for n in range(300):
        times.add(n)

    assert times.p95_seconds == 295
