"""Every error has a kind, every kind a status and a section in docs/problems.md."""

import json
import re
from pathlib import Path

import pytest

from app import errors
from app.api.problems import INTERNAL, KINDS, NOT_READY, TYPE_PREFIX, UNAUTHORIZED, Kind, kind_of, problem_response
from app.errors import ServiceError, SettingsInvalid, StartFailed

DOCUMENT = (Path(__file__).parents[3] / "docs" / "problems.md").read_text("utf-8")
SECTIONS = dict(re.findall(r"^## ([a-z-]+)\n\n(.*?)(?=^## |\Z)", DOCUMENT, re.MULTILINE | re.DOTALL))

ERRORS = [thing for thing in vars(errors).values() if isinstance(thing, type) and issubclass(thing, ServiceError)]
BEFORE_ANYBODY_CALLS = (SettingsInvalid, StartFailed)


def kind_name(error: type[ServiceError]) -> str:
    return kind_of(error.__new__(error)).name


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (errors.EngineError, "engine-failed"),
        (errors.EngineNotReady, "not-ready"),
        (errors.EngineOverloaded, "overloaded"),
        (errors.PromptTooLong, "message-too-long"),
        (errors.CallFailed, "engine-failed"),
        (errors.DeadlineExceeded, "deadline-exceeded"),
        (errors.StoreUnavailable, "store-unavailable"),
        (errors.CheckNotFound, "not-found"),
    ],
)
def test_an_error_becomes_the_kind_that_a_caller_can_act_on(error: type[ServiceError], kind: str) -> None:
    assert kind_name(error) == kind


def test_only_errors_of_the_start_are_internal() -> None:
    internal = {error for error in ERRORS if kind_name(error) == INTERNAL.name}

    assert internal == {ServiceError, *(error for error in ERRORS if issubclass(error, BEFORE_ANYBODY_CALLS))}


def test_no_two_kinds_share_a_name() -> None:
    assert len({kind.name for kind in KINDS}) == len(KINDS)


def test_the_document_has_one_section_for_every_kind_and_no_other() -> None:
    headings = re.findall(r"^## (.*)$", DOCUMENT, re.MULTILINE)

    assert headings == [kind.name for kind in KINDS]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_a_section_states_status_title_and_wait(kind: Kind) -> None:
    wait = f" Retry-After: {kind.retry_after_seconds}." if kind.retry_after_seconds else ""

    assert SECTIONS[kind.name].splitlines()[0] == f"**{kind.status}.** {kind.title}.{wait}"


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_a_section_says_what_to_do_and_whether_a_record_exists(kind: Kind) -> None:
    assert re.search(r"^Do: \S", SECTIONS[kind.name], re.MULTILINE)
    assert re.search(r"^Record: \S", SECTIONS[kind.name], re.MULTILINE)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_a_kind_that_may_pass_says_when_to_try_again_and_no_other_does(kind: Kind) -> None:
    assert (kind.retry_after_seconds is not None) == (kind.status in (409, 429, 502, 503, 504))


def test_a_problem_says_what_is_wrong_and_where() -> None:
    response = problem_response(NOT_READY, "the model is loading", "r-1", [{"pointer": "/a", "detail": "b"}])

    assert response.status_code == 503
    assert response.headers["content-type"] == "application/problem+json"
    assert response.headers["retry-after"] == "10"
    assert json.loads(bytes(response.body)) == {
        "type": f"{TYPE_PREFIX}not-ready",
        "title": "The service is not ready",
        "status": 503,
        "detail": "the model is loading",
        "request_id": "r-1",
        "retry_after_seconds": 10,
        "errors": [{"pointer": "/a", "detail": "b"}],
    }


def test_a_caller_without_a_key_is_told_the_scheme() -> None:
    response = problem_response(UNAUTHORIZED, "send a key", "r-1")

    assert response.headers["www-authenticate"] == "Bearer"
    assert "errors" not in json.loads(bytes(response.body))
