"""Streams over a real socket: told as it happens, kept before it is told, stopped with the client."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from signal import SIGKILL

from tests.e2e.service import CHECK, IN_FLIGHT, Running, service, wait_until
from tests.e2e.test_disconnects import BODY, ended, metric, wait_until_in_flight
from tests.support.events import Event, events

STREAM = {"Accept": "text/event-stream"}
SLOW = {"SCRIPT_LATENCY_SECONDS": "3"}


@contextmanager
def decided(running: Running, request_id: str) -> Iterator[list[Event]]:
    """A stream that is open and read to its decision."""
    headers = STREAM | {"X-Request-Id": request_id}
    with running.client.stream("POST", "/consultations/check", json=CHECK, headers=headers) as answer:
        lines = answer.iter_lines()  # httpx hangs up when this is let go
        received: list[Event] = []
        for event in events(lines):
            received.append(event)
            if event.name == "decision":
                break
        yield received


def test_the_decision_is_told_while_the_reply_is_still_being_written(data_dir: Path) -> None:
    with service(data_dir, **SLOW) as running:
        with decided(running, "r-1") as received:
            assert IN_FLIGHT in running.client.get("/metrics").text

        assert [event.name for event in received] == ["facts", "decision"]
        assert received[-1].data["action"] == "book_appointment"


def test_a_client_that_leaves_after_the_decision_leaves_a_cancelled_record_that_holds_it(data_dir: Path) -> None:
    with service(data_dir, **SLOW) as running:
        with decided(running, "gone") as received:
            pass

        wait_until(lambda: ended(running) == {"gone": "cancelled"}, 30)
        stored = running.client.get(f"/consultations/{received[-1].data['id']}").json()

        assert stored["outcome"] == "cancelled"
        assert stored["action"] == "book_appointment" and stored["facts"] == received[0].data["facts"]
        assert metric(running, "booking_checks_in_flight") == 0


def test_a_decision_that_was_told_outlives_the_process_that_told_it(data_dir: Path) -> None:
    with service(data_dir, SCRIPT_LATENCY_SECONDS="3") as running, decided(running, "killed") as received:
        running.signal(SIGKILL)
        running.ended()

    with service(data_dir) as running:
        path = f"/consultations/{received[-1].data['id']}"
        wait_until(lambda: running.client.get(path).status_code == 200, 30)
        stored = running.client.get(path).json()

    assert stored["outcome"] == "interrupted"
    assert stored["action"] == "book_appointment" and stored["facts"] == received[0].data["facts"]


def test_a_client_that_closes_its_sending_half_is_taken_for_gone(data_dir: Path) -> None:
    with service(data_dir, SCRIPT_LATENCY_SECONDS="60") as running:
        address = running.client.base_url
        head = (
            "POST /consultations/check HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
            f"Accept: text/event-stream\r\nX-Request-Id: half\r\nContent-Length: {len(BODY)}\r\n\r\n"
        )
        with socket.create_connection((address.host, address.port or 80)) as connection:
            connection.sendall(head.encode() + BODY)
            wait_until_in_flight(running)
            connection.shutdown(socket.SHUT_WR)

            wait_until(lambda: ended(running) == {"half": "cancelled"}, 30)


def test_clients_that_read_nothing_hold_nobody_up(data_dir: Path) -> None:
    with service(data_dir) as running:
        address = running.client.base_url
        head = (
            "POST /consultations/check HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
            f"Accept: text/event-stream\r\nContent-Length: {len(BODY)}\r\n\r\n"
        )
        silent = [socket.create_connection((address.host, address.port or 80)) for _ in range(40)]
        for connection in silent:
            connection.sendall(head.encode() + BODY)

        wait_until(lambda: metric(running, "booking_checks_total") == 40, 60)

        assert running.client.post("/consultations/check", json=CHECK).status_code == 200
        assert metric(running, "booking_checks_in_flight") == 0
        for connection in silent:
            connection.close()
