"""Clients that hang up over a real socket: before, in and after the work, and what they leave behind."""

import json
import re
import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.e2e.service import CHECK, IN_FLIGHT, Running, service, wait_until

BODY = json.dumps(CHECK).encode()
SLOW = {"NARRATION": "template", "SCRIPT_LATENCY_SECONDS": "60"}
"""Nobody waits that long: what ends sooner was stopped."""

ASKED = 'booking_http_request_duration_seconds_count{method="POST"'


@contextmanager
def client(running: Running, request_id: str = "gone", body: bytes = BODY) -> Iterator[socket.socket]:
    """A connection on which a check has been asked for, or the part of it that is in `body`; closed afterwards."""
    address = running.client.base_url
    head = (
        "POST /consultations/check HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
        f"X-Request-Id: {request_id}\r\nContent-Length: {len(BODY)}\r\n\r\n"
    )
    with socket.create_connection((address.host, address.port or 80)) as connection:
        connection.sendall(head.encode() + body)
        yield connection


def metric(running: Running, name: str) -> float:
    """The sum over the series whose name and labels begin so."""
    text = running.client.get("/metrics").text
    return sum(map(float, re.findall(rf"^{re.escape(name)}[^ ]* (\S+)$", text, re.MULTILINE)))


def ended(running: Running) -> dict[str, str]:
    """Checks that have their record: request id -> outcome."""
    return dict(re.findall(r'"request_id": "([^"]+)", "outcome": "([^"]+)"', running.output()))


def wait_until_in_flight(running: Running) -> None:
    wait_until(lambda: IN_FLIGHT in running.client.get("/metrics").text, 30)


def left(running: Running) -> float:
    """Requests whose client was gone before they had an answer."""
    name = 'booking_http_request_duration_seconds_count{method="POST",route="/consultations/check",status="499"'
    return metric(running, name)


def test_hanging_up_frees_the_permit_and_leaves_a_cancelled_record(data_dir: Path) -> None:
    with service(data_dir, **SLOW, MAX_IN_FLIGHT="1", MAX_QUEUED="0") as running:
        with client(running):
            wait_until_in_flight(running)
            assert running.client.post("/consultations/check", json=CHECK).status_code == 503

        wait_until(lambda: left(running) == 1, 30)

        assert ended(running) == {"gone": "cancelled"}
        assert metric(running, "booking_checks_in_flight") == 0
        with client(running, "next"):
            wait_until_in_flight(running)


def test_a_reset_connection_is_a_hang_up_too(data_dir: Path) -> None:
    with service(data_dir, **SLOW) as running:
        with client(running) as connection:
            wait_until_in_flight(running)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

        wait_until(lambda: left(running) == 1, 30)

        assert ended(running) == {"gone": "cancelled"}


def test_hanging_up_in_the_middle_of_the_body_begins_no_check_and_is_no_mistake_of_a_caller(data_dir: Path) -> None:
    with service(data_dir, **SLOW) as running:
        with client(running, body=BODY[:20]):
            pass

        wait_until(lambda: left(running) == 1, 30)

        assert ended(running) == {}
        assert metric(running, "booking_refused_total") == 0
        assert metric(running, "booking_spool_written_total") == 0


def test_hanging_up_in_the_queue_leaves_its_place_and_no_record(data_dir: Path) -> None:
    one_at_a_time = {"MAX_IN_FLIGHT": "1", "MAX_QUEUED": "1", "MAX_WAIT_SECONDS": "60"}
    with service(data_dir, **SLOW, **one_at_a_time) as running, client(running, "works"):
        wait_until_in_flight(running)
        with client(running, "waits"):
            wait_until(lambda: metric(running, "booking_admission_queue") == 1, 30)

        wait_until(lambda: left(running) == 1, 30)

        assert ended(running) == {}
        assert metric(running, "booking_admission_refused_total") == 0
        with client(running, "next"):
            wait_until(lambda: metric(running, "booking_admission_queue") == 1, 30)


def test_hanging_up_while_the_answer_is_written_leaves_a_whole_record(data_dir: Path) -> None:
    with service(data_dir, NARRATION="template") as running:
        for n in range(20):
            with client(running, f"gone-{n}") as connection:
                connection.recv(1)  # the answer has begun to arrive

        wait_until(lambda: len(ended(running)) == 20, 30)

        assert set(ended(running).values()) == {"completed"}
        assert metric(running, "booking_spool_written_total") == 20
        assert running.client.post("/consultations/check", json=CHECK).status_code == 200


def test_hanging_up_at_any_moment_leaves_one_record_for_each_check_that_began(data_dir: Path) -> None:
    with service(data_dir, NARRATION="template", SCRIPT_LATENCY_SECONDS="0.01", MAX_IN_FLIGHT="4") as running:
        for n in range(60):
            with client(running, f"gone-{n}") as connection:
                connection.settimeout(0.001 + n / 3000)
                with suppress(TimeoutError):
                    connection.recv(1)

        wait_until(lambda: metric(running, ASKED) == 60, 30)

        outcomes = ended(running)
        assert set(outcomes.values()) <= {"cancelled", "completed"}
        assert metric(running, "booking_checks_total") == metric(running, "booking_spool_written_total")
        assert len(outcomes) == metric(running, "booking_checks_total")
        assert metric(running, "booking_checks_in_flight") == 0
