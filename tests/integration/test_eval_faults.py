"""The eval against servers that misbehave, over real HTTP: errors are records of their own, answers are kept."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from eval.__main__ import main
from eval.errors import PASS, TOO_MANY_ERRORS, USAGE
from tests.support.eval_results import lines

REPLY = {
    "id": "01900000-0000-7000-8000-000000000000",
    "eligibility": {"criteria_met": False, "reason_code": "insufficient_info"},
    "action": "escalate_human",
    "appointment": None,
    "response_text": "A person will look at it.",
    "facts": None,
    "valid": True,
    "strict_json": True,
    "field_order_ok": True,
    "consistent": True,
    "flags": [],
    "narration_source": "model",
    "model": "fake",
    "usage": {"prompt_tokens": 1, "completion_tokens": 1},
    "timings_ms": {},
    "policy": {"version": "1", "hash": "a"},
}
RECORD = {"service_version": "0", "calls": []}
OVERLOADED = {"type": "urn:booking-assistant:problem:overloaded", "title": "The service is busy", "detail": "full"}

Answer = Callable[[int], tuple[int, Any, dict[str, str]]]
"""Of the n-th check, counted from 1: status, body (an object or text), headers."""


def good(number: int) -> tuple[int, Any, dict[str, str]]:
    return 200, REPLY, {}


@contextmanager
def server(answer: Answer) -> Iterator[str]:
    asked = 0
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self.reply(200, {"ready": True, "parts": {}} if self.path == "/readyz" else RECORD, {})

        def do_POST(self) -> None:
            nonlocal asked
            self.rfile.read(int(self.headers["Content-Length"]))
            with lock:
                asked += 1
                number = asked
            self.reply(*answer(number))

        def reply(self, status: int, body: Any, headers: dict[str, str]) -> None:
            content = (body if isinstance(body, str) else json.dumps(body)).encode()
            self.send_response(status)
            for name, value in (headers | {"Content-Length": str(len(content))}).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            pass

    serving = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=serving.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{serving.server_port}"
    finally:
        serving.shutdown()
        serving.server_close()
        thread.join()


def run(address: str, out: Path, *arguments: str) -> int:
    chosen = ("--conditions", "base", "--enforcement", "constrained", "--n", "1", "--warmup", "0", "--concurrency", "1")
    return main(["run", "--base-url", address, "--out", str(out), *chosen, *arguments])


def kinds(out: Path) -> list[str]:
    return [record["kind"] for record in lines(out)[1:]]


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        ((500, {"title": "Oops", "detail": "a bug"}, {}), "http_500"),
        ((503, {"type": "urn:x:not-ready", "title": "No", "detail": "loading"}, {"Retry-After": "1"}), "http_503"),
        ((422, {"title": "Not valid", "detail": "/message: too long"}, {}), "http_422"),
        ((200, "<html>a proxy's page</html>", {}), "not_json"),
        ((200, {"id": "x"}, {}), "unexpected_reply"),
        ((200, REPLY | {"appointment": "tomorrow"}, {}), "unexpected_reply"),
    ],
)
def test_an_answer_that_is_none_is_an_error_and_no_wrong_answer(
    tmp_path: Path, fault: tuple[int, Any, dict[str, str]], error: str
) -> None:
    out = tmp_path / "r.jsonl"

    with server(lambda number: fault if number == 5 else good(number)) as address:
        code = run(address, out)

    assert code == PASS
    assert (kinds(out).count("check"), kinds(out).count("error")) == (24, 1)
    record = next(record for record in lines(out)[1:] if record["kind"] == "error")
    assert (record["error"], record["attempt"]) == (error, 1)


def test_an_error_is_asked_again_once_and_only_when_told(tmp_path: Path) -> None:
    out = tmp_path / "r.jsonl"
    bad = (500, {"title": "Oops", "detail": "a bug"}, {})

    with server(lambda number: bad if number in (4, 5) else good(number)) as address:
        assert run(address, out) == TOO_MANY_ERRORS
        assert run(address, out) == TOO_MANY_ERRORS
        assert len(kinds(out)) == 25
    with server(lambda number: bad if number == 2 else good(number)) as address:
        assert run(address, out, "--retry-errors") == PASS
        assert (kinds(out).count("check"), kinds(out).count("error")) == (24, 3)
        assert run(address, out, "--retry-errors") == PASS

    assert (kinds(out).count("check"), kinds(out).count("error")) == (24, 3)
    assert [record["attempt"] for record in lines(out)[1:] if record["kind"] == "error"] == [1, 1, 2]


def test_a_service_that_is_full_is_waited_for(tmp_path: Path) -> None:
    out = tmp_path / "r.jsonl"
    full = (503, OVERLOADED, {"Retry-After": "0"})
    limited = (429, {"title": "Slow down", "detail": ""}, {"Retry-After": "soon"})

    with server(lambda number: {3: full, 4: full, 7: limited}.get(number, good(number))) as address:
        assert run(address, out) == PASS

    assert kinds(out) == ["check"] * 25


def test_a_service_that_fails_for_good_ends_the_run_and_keeps_what_was_answered(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "r.jsonl"
    bad = (500, {"title": "Oops", "detail": "a bug"}, {})

    with server(lambda number: good(number) if number <= 4 else bad) as address:
        assert run(address, out, "--n", "2") == TOO_MANY_ERRORS

    assert "20 checks in a row got no answer, the last: http_500: 500 Oops: a bug" in capsys.readouterr().err
    assert kinds(out) == ["check"] * 3 + ["error"] * 20


def test_a_service_that_is_too_slow_is_an_error(tmp_path: Path) -> None:
    out = tmp_path / "r.jsonl"

    released = threading.Event()

    def slow(number: int) -> tuple[int, Any, dict[str, str]]:
        if number == 3:
            released.wait(120)
        return good(number)

    with server(slow) as address:
        assert run(address, out, "--timeout", "10") == PASS
        released.set()

    errors = [record for record in lines(out)[1:] if record["kind"] == "error"]
    assert [error["error"] for error in errors] == ["timeout"]


def test_a_service_that_never_answers_a_check_is_told_before_anything_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "r.jsonl"

    with server(lambda number: (401, {"title": "A valid key is needed", "detail": "send a key"}, {})) as address:
        assert run(address, out) == TOO_MANY_ERRORS

    assert "answers no check: http_401: 401 A valid key is needed: send a key" in capsys.readouterr().err
    assert not out.exists()


def test_results_of_another_model_are_not_added_to(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "r.jsonl"
    with server(good) as address:
        assert run(address, out, "--limit", "2") == PASS
        assert run(address, out) == USAGE
    before = out.read_bytes()

    with server(lambda number: (200, REPLY | {"model": "another"}, {})) as address:
        assert run(address, out, "--limit", "2") == USAGE

    assert "the model 'fake', now it is 'another'; choose another --out" in capsys.readouterr().err
    assert out.read_bytes() == before
