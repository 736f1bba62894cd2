"""When an engine counts as stalled, by a clock that the test moves."""

import time
from typing import Any

import pytest

pytestmark = pytest.mark.model


class Clock:
    def __init__(self) -> None:
        self.seconds = 1000.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    import app.llm.vllm_engine.progress  # noqa: F401 - imports vllm, which reads the real clock

    clock = Clock()
    monkeypatch.setattr(time, "monotonic", clock)
    return clock


@pytest.fixture
def progress(clock: Clock) -> Any:
    from app.llm.vllm_engine.progress import Progress

    return Progress(0.05)


def allowed_seconds(prompt_tokens: int, device: str = "cpu") -> float:
    from app.llm.vllm_engine.progress import STALL_SECONDS

    return STALL_SECONDS + {"cpu": 0.05, "gpu": 0.0005}[device] * prompt_tokens


def test_an_idle_engine_is_never_stalled(progress: Any, clock: Clock) -> None:
    clock.seconds += 100_000

    assert progress.stalled_seconds == 0
    assert progress.idle_seconds == 100_000


def test_work_that_waits_beyond_its_allowance_is_stalled(progress: Any, clock: Clock) -> None:
    progress.began("a", new_tokens=100)

    clock.seconds += allowed_seconds(100)
    at_the_limit = progress.stalled_seconds
    clock.seconds += 0.001

    assert at_the_limit == 0
    assert progress.stalled_seconds == pytest.approx(allowed_seconds(100) + 0.001)
    assert progress.idle_seconds == 0


def test_the_allowance_grows_with_every_waiting_prompt(progress: Any, clock: Clock) -> None:
    progress.began("a", new_tokens=100)
    progress.began("b", new_tokens=4000)

    clock.seconds += allowed_seconds(100) + 1
    short = progress.stalled_seconds
    clock.seconds += allowed_seconds(4100) - allowed_seconds(100)

    assert short == 0
    assert progress.stalled_seconds > 0


def test_the_allowance_shrinks_when_a_prompt_is_done(progress: Any, clock: Clock) -> None:
    progress.began("a", new_tokens=100)
    progress.began("b", new_tokens=4000)
    clock.seconds += allowed_seconds(100) + 1

    progress.ended("b")

    assert progress.stalled_seconds > 0


def test_an_idle_engine_that_does_not_answer_its_probe_is_found_within_fifteen_seconds(
    progress: Any, clock: Clock
) -> None:
    from app.llm.vllm_engine.engine import PROBE_TOKENS, WATCH_SECONDS
    from app.llm.vllm_engine.progress import PROBE_AFTER_SECONDS, PROBE_STALL_SECONDS

    progress.began("probe", PROBE_TOKENS)
    clock.seconds += PROBE_STALL_SECONDS + 0.001

    assert progress.stalled_seconds > 0
    assert PROBE_AFTER_SECONDS + PROBE_STALL_SECONDS + 2 * WATCH_SECONDS < 15


def test_an_engine_that_computes_a_long_prompt_is_not_stalled(progress: Any, clock: Clock) -> None:
    progress.began("a", new_tokens=4000)
    for second in range(1, 100):
        clock.seconds += 1
        progress.looked(second * 0.9, are_stopped=False)

    assert progress.stalled_seconds == 0


def test_an_engine_that_has_stopped_computing_is_stalled_whatever_its_prompt(progress: Any, clock: Clock) -> None:
    progress.began("a", new_tokens=4000)
    progress.looked(0.0, are_stopped=False)
    for second in range(1, 5):
        clock.seconds += 1
        progress.looked(second * 0.9, are_stopped=False)
    computing = progress.stalled_seconds
    for _ in range(11):
        clock.seconds += 1
        progress.looked(3.6, are_stopped=False)

    assert computing == 0
    assert progress.stalled_seconds > 10


def test_a_halted_process_stalls_an_engine_with_nothing_to_do(progress: Any, clock: Clock) -> None:
    progress.looked(0.0, are_stopped=False)
    for _ in range(5):
        clock.seconds += 1
        progress.looked(0.0, are_stopped=True)

    assert progress.stalled_seconds > 3


def test_a_process_that_is_halted_for_a_moment_stalls_nothing(progress: Any, clock: Clock) -> None:
    for halted in (False, True, True, False):
        clock.seconds += 1
        progress.looked(0.0, are_stopped=halted)

    assert progress.stalled_seconds == 0


def test_a_service_that_stood_still_itself_does_not_blame_its_engine(progress: Any, clock: Clock) -> None:
    progress.looked(0.0, are_stopped=False)
    progress.began("a", new_tokens=100)

    clock.seconds += 600
    progress.looked(1.0, are_stopped=False)
    at_first = progress.stalled_seconds
    for _ in range(11):
        clock.seconds += 1
        progress.looked(1.0, are_stopped=False)

    assert at_first == 0
    assert progress.stalled_seconds > 10


def test_a_gpu_is_allowed_less(clock: Clock) -> None:
    from app.llm.vllm_engine.progress import Progress

    gpu = Progress(0.0005)
    gpu.began("a", new_tokens=4000)

    clock.seconds += allowed_seconds(4000, "gpu") + 1

    assert allowed_seconds(4000, "gpu") < allowed_seconds(4000, "cpu")
    assert gpu.stalled_seconds > 0


def test_a_finished_step_starts_the_wait_anew(progress: Any, clock: Clock) -> None:
    progress.began("a", new_tokens=100)
    clock.seconds += allowed_seconds(100) + 1

    progress.stepped()
    after_the_step = progress.stalled_seconds
    clock.seconds += allowed_seconds(100) + 1

    assert after_the_step == 0
    assert progress.stalled_seconds > 0


def test_work_that_begins_after_an_idle_time_does_not_inherit_it(progress: Any, clock: Clock) -> None:
    clock.seconds += 100_000

    progress.began("a", new_tokens=100)
    at_first = progress.stalled_seconds
    clock.seconds += allowed_seconds(100) + 1

    assert at_first == 0
    assert progress.stalled_seconds == pytest.approx(allowed_seconds(100) + 1)


def test_more_work_does_not_excuse_a_stalled_engine(progress: Any, clock: Clock) -> None:
    progress.began("a", new_tokens=100)
    clock.seconds += allowed_seconds(200) + 1

    progress.began("b", new_tokens=100)

    assert progress.stalled_seconds > 0


def test_when_the_last_call_has_ended_nothing_is_stalled(progress: Any, clock: Clock) -> None:
    progress.began("a", new_tokens=100)
    clock.seconds += allowed_seconds(100) + 1

    progress.ended("a")
    progress.ended("a")

    assert progress.stalled_seconds == 0


def test_vllms_statistics_are_the_heartbeat(progress: Any, clock: Clock) -> None:
    from app.llm.vllm_engine.progress import heartbeat

    logger = heartbeat(progress)(None)
    progress.began("a", new_tokens=100)
    clock.seconds += allowed_seconds(100) + 1

    logger.record(scheduler_stats=None, iteration_stats=None)

    assert progress.stalled_seconds == 0
