"""One event, one line."""

import json
import logging
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from app.telemetry.logs import set_up_logs

NAMES = (None, "app", "alembic")


@pytest.fixture(autouse=True)
def loggers_as_before() -> Iterator[None]:
    root = logging.getLogger()
    handlers, levels = list(root.handlers), [logging.getLogger(name).level for name in NAMES]
    yield
    root.handlers = handlers
    for name, level in zip(NAMES, levels, strict=True):
        logging.getLogger(name).setLevel(level)


def lines(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in capsys.readouterr().err.splitlines()]


def test_a_line_is_json_with_the_event_and_its_fields(capsys: pytest.CaptureFixture[str]) -> None:
    set_up_logs("info")

    logging.getLogger("app.pipeline.checks").info("check.finished", extra={"check_id": "c-1", "milliseconds": 12.5})

    (line,) = lines(capsys)
    assert line.pop("asctime")
    assert line == {
        "levelname": "INFO",
        "name": "app.pipeline.checks",
        "message": "check.finished",
        "check_id": "c-1",
        "milliseconds": 12.5,
    }


def test_a_traceback_stays_on_its_line(capsys: pytest.CaptureFixture[str]) -> None:
    set_up_logs("info")

    try:
        raise ValueError("first\nsecond")
    except ValueError:
        logging.getLogger("app").exception("request.failed")

    (line,) = lines(capsys)
    assert line["message"] == "request.failed" and "ValueError: first\nsecond" in line["exc_info"]


def test_setting_up_twice_does_not_say_everything_twice(capsys: pytest.CaptureFixture[str]) -> None:
    set_up_logs("info")
    set_up_logs("info")

    logging.getLogger("app").warning("service.draining")

    assert [line["message"] for line in lines(capsys)] == ["service.draining"]
    assert len(logging.getLogger().handlers) == 1


def test_the_level_is_of_this_services_own_log(capsys: pytest.CaptureFixture[str]) -> None:
    set_up_logs("debug")

    logging.getLogger("app.llm").debug("model.loaded")
    logging.getLogger("httpx").info("a request of a library")
    logging.getLogger("httpx").warning("a worry of a library")

    assert [line["message"] for line in lines(capsys)] == ["model.loaded", "a worry of a library"]


def test_below_the_level_nothing_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    set_up_logs("error")

    logging.getLogger("app").warning("service.drain_incomplete")

    assert lines(capsys) == []


def test_at_a_terminal_the_fields_follow_the_event(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    set_up_logs("info")

    logging.getLogger("app").info("check.finished", extra={"outcome": "completed", "error": None})

    (line,) = capsys.readouterr().err.splitlines()
    assert line.endswith(" I check.finished outcome=completed")
