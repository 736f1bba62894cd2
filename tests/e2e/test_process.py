"""The service as a process, with a scripted model: start, refuse to start, stop, be killed."""

import json
import os
import signal
import socket
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.e2e.service import CHECK, IN_FLIGHT, SIGNALS, Running, alive, service, shared_memory, started, wait_until


def check_in_background(running: Running) -> tuple[threading.Thread, list[httpx.Response]]:
    """A check that is being worked on when this returns."""
    answers: list[httpx.Response] = []
    client = httpx.Client(base_url=running.client.base_url, timeout=120)

    def ask() -> None:
        with suppress(httpx.TransportError):  # a service that is killed answers nobody
            answers.append(client.post("/consultations/check", json=CHECK))

    thread = threading.Thread(target=ask)
    thread.start()
    wait_until(lambda: IN_FLIGHT in running.client.get("/metrics").text, 30)
    return thread, answers


def test_it_starts_answers_and_prints_a_line_to_paste(data_dir: Path) -> None:
    with service(data_dir) as running:
        answer = running.client.post("/consultations/check", json=CHECK).json()
        stored = running.client.get(f"/consultations/{answer['id']}").json()

        assert answer["action"] == stored["action"] == "book_appointment"
        assert "curl -s http://127.0.0.1:" in running.output()


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT"])
def test_a_check_in_flight_is_answered_when_the_service_is_stopped(data_dir: Path, name: str) -> None:
    with service(data_dir, SCRIPT_LATENCY_SECONDS="1.5") as running:
        thread, answers = check_in_background(running)
        left = running.children()

        running.signal(SIGNALS[name])
        wait_until(lambda: running.client.get("/readyz").status_code == 503, 10)
        thread.join()

        assert answers[0].status_code == 200 and answers[0].json()["action"] == "book_appointment"
        assert running.ended() == 0
        assert not alive(left)


def test_newcomers_are_told_to_come_back_while_a_stopping_service_finishes(data_dir: Path) -> None:
    with service(data_dir, SCRIPT_LATENCY_SECONDS="4", NARRATION="template", STOP_NOTICE_SECONDS="0") as running:
        thread, answers = check_in_background(running)

        running.signal(signal.SIGTERM)
        wait_until(lambda: running.client.get("/readyz").status_code == 503, 10)
        refused = running.client.post("/consultations/check", json=CHECK)
        thread.join()

        assert refused.status_code == 503 and refused.headers["retry-after"]
        assert answers[0].status_code == 200


def test_who_comes_before_a_stop_is_noticed_is_served(data_dir: Path) -> None:
    with service(data_dir, STOP_NOTICE_SECONDS="60") as running:
        running.signal(signal.SIGTERM)
        wait_until(lambda: running.client.get("/readyz").status_code == 503, 10)

        answer = running.client.post("/consultations/check", json=CHECK)

        assert answer.status_code == 200 and answer.json()["action"] == "book_appointment"


def test_a_second_signal_stops_at_once_and_leaves_nothing(data_dir: Path) -> None:
    with service(data_dir, SCRIPT_LATENCY_SECONDS="60") as running:
        thread, _ = check_in_background(running)
        left = running.children()

        running.signal(signal.SIGINT)
        wait_until(lambda: running.client.get("/readyz").status_code == 503, 10)
        running.signal(signal.SIGINT)

        assert running.ended() == 130
        wait_until(lambda: not alive(left), 30)
        thread.join()


def test_kill_9_leaves_no_postgres_and_the_next_start_has_every_record(data_dir: Path) -> None:
    before = shared_memory()
    with service(data_dir) as running:
        check_id = running.client.post("/consultations/check", json=CHECK).json()["id"]
        left = running.children()
        assert any("postgres" in command for command in left.values())

        running.signal(signal.SIGKILL)
        running.ended()

        wait_until(lambda: not alive(left), 30)
    wait_until(lambda: shared_memory() <= before, 10)
    with service(data_dir) as again:
        assert again.client.get(f"/consultations/{check_id}").json()["action"] == "book_appointment"


def test_a_killed_postgres_is_started_again_and_records_go_on(data_dir: Path) -> None:
    with service(data_dir) as running:
        first = running.client.post("/consultations/check", json=CHECK).json()["id"]
        postgres = running.child("postgres")

        os.kill(postgres, signal.SIGKILL)
        wait_until(lambda: postgres not in alive(running.children()), 30)
        running.wait_until_ready(60)
        second = running.client.post("/consultations/check", json=CHECK).json()["id"]

        for check_id in (first, second):
            assert running.client.get(f"/consultations/{check_id}").status_code == 200


def test_a_client_that_hangs_up_leaves_a_cancelled_record(data_dir: Path) -> None:
    with service(data_dir, SCRIPT_LATENCY_SECONDS="60") as running:
        body = httpx.Request("POST", "http://x/consultations/check", json=CHECK)
        host = running.client.base_url
        connection = socket.create_connection((host.host, host.port or 80))
        head = (
            "POST /consultations/check HTTP/1.1\r\nHost: x\r\nX-Request-Id: gone\r\nContent-Type: application/json\r\n"
        )
        connection.sendall(f"{head}Content-Length: {len(body.content)}\r\n\r\n".encode() + body.content)
        wait_until(lambda: IN_FLIGHT in running.client.get("/metrics").text, 30)

        connection.close()

        done = 'booking_checks_total{design="pipeline",enforcement="constrained",outcome="cancelled"} 1.0'
        wait_until(lambda: done in running.client.get("/metrics").text, 30)
        wait_until(lambda: '"request_id": "gone", "outcome": "cancelled"' in running.output(), 10)


@pytest.mark.parametrize(
    ("environment", "code", "says"),
    [
        ({"ENGINE": "magic"}, 2, "setting ENGINE 'magic' is not usable"),
        ({"CHECK_TIMEOUT_SECONDS": "-1"}, 2, "setting CHECK_TIMEOUT_SECONDS '-1' is not usable"),
        ({"DATADIR": "x"}, 2, "unknown setting DATADIR: did you mean DATA_DIR?"),
        ({"HOST": "0.0.0.0"}, 2, "python -m app.keys create"),
        ({"KEYS_FILE": "/etc/hostname"}, 2, "the keys in '/etc/hostname' are damaged"),
        ({"SCRIPT_FILE": "/nowhere.json"}, 1, "the script '/nowhere.json' cannot be read"),
        ({"DATABASE_URL": "postgresql://nobody@127.0.0.1:1/none"}, 1, "database"),
        ({"DATABASE_URL": "mysql://localhost/x"}, 1, "mysql"),
        ({"ENGINE": "vllm", "MODEL": "gpt-9"}, 1, ""),
    ],
)
def test_what_cannot_work_stops_the_start_with_a_sentence(
    data_dir: Path, environment: dict[str, str], code: int, says: str
) -> None:
    with started(data_dir, **environment) as running:
        assert running.ended() == code
        lines = running.output().strip().splitlines()
        assert lines[-1].startswith("booking-assistant: ") and says in lines[-1]
        assert "Traceback" not in running.output()


def test_a_taken_port_is_named(data_dir: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        with started(data_dir, PORT=port) as running:
            assert running.ended() == 1
            assert f"cannot listen on 127.0.0.1:{port}" in running.output()


def test_a_second_service_on_the_same_data_is_refused(data_dir: Path) -> None:
    with service(data_dir) as first, started(data_dir) as second:
        assert second.ended() == 1
        assert str(first.process.pid) in second.output().strip().splitlines()[-1]
        assert first.client.get("/readyz").status_code == 200


def test_a_script_of_ones_own_is_played(data_dir: Path, tmp_path: Path) -> None:
    replies: dict[str, Any] = {
        "pipeline.extract": [
            {"customer_age": 34, "price_components": [], "requested_date": None, "requested_time": None}
        ],
        "pipeline.narrate": ["not json"],
    }
    script = tmp_path / "script.json"
    script.write_text(json.dumps(replies))
    with service(data_dir, SCRIPT_FILE=str(script)) as running:
        answer = running.client.post("/consultations/check", json={"message": "I am 34."}).json()

        assert answer["action"] == "escalate_human"
        assert answer["missing_facts"] == ["total", "requested_date", "requested_time"]
        assert answer["flags"] == ["narration_output_not_json"]
