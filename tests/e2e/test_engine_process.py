"""The service with a real embedded engine (a small model): nothing is left behind, nothing hangs."""

import os
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from tests.e2e.service import (
    CHECK,
    IN_FLIGHT,
    Running,
    alive,
    engine_folders,
    service,
    shared_memory,
    started,
    wait_until,
)

pytestmark = pytest.mark.model

START_SECONDS = 300
ENGINE = {"ENGINE": "vllm", "MODEL": "smollm2-135m-instruct"}


def engine_children(running: Running) -> dict[int, str]:
    return {pid: command for pid, command in running.children().items() if "VLLM" in command}


def core(running: Running) -> int:
    return next(pid for pid, command in engine_children(running).items() if "EngineCore" in command)


def test_a_stop_finishes_what_is_in_flight_and_leaves_nothing(data_dir: Path) -> None:
    memory, folders = shared_memory(), engine_folders()
    with service(data_dir, START_SECONDS, **ENGINE) as running:
        assert len(engine_children(running)) == 2
        left = running.children()
        answers: list[httpx.Response] = []
        client = httpx.Client(base_url=running.client.base_url, timeout=120)
        thread = threading.Thread(target=lambda: answers.append(client.post("/consultations/check", json=CHECK)))
        thread.start()
        wait_until(lambda: IN_FLIGHT in running.client.get("/metrics").text, 30)

        # Ctrl-C in a terminal reaches every process that has not left the group.
        os.killpg(running.process.pid, signal.SIGINT)
        thread.join()

        assert answers[0].status_code == 200
        assert running.ended() == 0
        wait_until(lambda: not alive(left), 30, lambda: str(alive(left)))  # Python's resource tracker ends after us
    assert shared_memory() <= memory and engine_folders() <= folders


def test_kill_9_of_the_service_leaves_no_process_and_no_shared_memory(data_dir: Path) -> None:
    memory = shared_memory()
    with service(data_dir, START_SECONDS, **ENGINE) as running:
        left = running.children()
        assert shared_memory() - memory, "the engine uses shared memory, or this test would show nothing"

        running.signal(signal.SIGKILL)
        running.ended()

        wait_until(lambda: not alive(left), 30, lambda: str(alive(left)))
    wait_until(lambda: shared_memory() <= memory, 30, lambda: str(shared_memory() - memory))


@pytest.mark.parametrize(("number", "reason"), [(signal.SIGSTOP, "stalled"), (signal.SIGKILL, "died")])
def test_a_lost_engine_makes_the_service_unready_and_is_started_again(
    data_dir: Path, number: signal.Signals, reason: str
) -> None:
    memory, folders = shared_memory(), engine_folders()
    with service(data_dir, START_SECONDS, **ENGINE) as running:
        stored = running.client.post("/consultations/check", json=CHECK).json()["id"]
        lost = engine_children(running)
        with ThreadPoolExecutor(4) as threads:
            asked = [threads.submit(running.client.post, "/consultations/check", json=CHECK) for _ in range(4)]
            wait_until(lambda: IN_FLIGHT.replace("1.0", "4.0") in running.client.get("/metrics").text, 30)
            for pid in lost if number is signal.SIGSTOP else [core(running)]:
                os.kill(pid, number)
            answers = [one.result() for one in asked]

        assert {answer.status_code for answer in answers} <= {200, 503}, "answered before its deadline, with a reason"
        wait_until(lambda: running.client.get("/readyz").status_code == 503, 60)
        assert running.parts()["engine"] != "ok"
        refused = running.client.post("/consultations/check", json=CHECK)
        assert refused.status_code == 503 and refused.headers["retry-after"]
        assert running.client.get(f"/consultations/{stored}").status_code == 200
        assert running.client.get("/livez").status_code == 200

        running.wait_until_ready(START_SECONDS)
        assert running.client.post("/consultations/check", json=CHECK).status_code == 200
        assert not alive(lost), "nothing of the lost engine is left"
        text = running.client.get("/metrics").text
        assert "booking_ready 1.0" in text and "vllm:num_requests_running" in text
        assert "booking_engine_up 1.0" in text
        assert f'booking_engine_lost_total{{reason="{reason}"}} 1.0' in text
        left = running.children()
        running.signal(signal.SIGTERM)
        assert running.ended() == 0
        assert not alive(left)
    assert shared_memory() <= memory and engine_folders() <= folders


def test_a_stop_while_a_lost_engine_is_started_again_leaves_nothing(data_dir: Path) -> None:
    memory, folders = shared_memory(), engine_folders()
    with service(data_dir, START_SECONDS, **ENGINE) as running:
        lost = engine_children(running)
        os.kill(core(running), signal.SIGKILL)
        wait_until(lambda: engine_children(running).keys() - lost.keys(), START_SECONDS, running.output)
        left = running.children() | lost

        running.signal(signal.SIGTERM)

        assert running.ended() == 0
        wait_until(lambda: not alive(left), 30, lambda: str(alive(left)))
    assert shared_memory() <= memory and engine_folders() <= folders


def test_a_stopped_engine_dies_with_a_killed_service_and_the_next_start_tidies_up(data_dir: Path) -> None:
    memory = shared_memory()
    with service(data_dir, START_SECONDS, **ENGINE) as running:
        for pid in engine_children(running):
            os.kill(pid, signal.SIGSTOP)
        left = running.children()

        running.signal(signal.SIGKILL)
        running.ended()

        wait_until(lambda: not alive(left), 30, lambda: str(alive(left)))
    left_memory = {name for name in shared_memory() - memory if name.startswith("psm_")}
    with service(data_dir, START_SECONDS, **ENGINE):
        # Processes killed while they were stopped could not tidy up; this start did it for them.
        assert not left_memory & shared_memory()


def test_a_stop_while_the_model_loads_leaves_nothing(data_dir: Path) -> None:
    with started(data_dir, **ENGINE) as running:
        wait_until(lambda: "VLLM" in str(running.children()), START_SECONDS, running.output)
        left = running.children()

        running.signal(signal.SIGINT)

        assert running.ended() == 0
        wait_until(lambda: not alive(left), 30, lambda: str(alive(left)))
        assert "Traceback" not in running.output()
