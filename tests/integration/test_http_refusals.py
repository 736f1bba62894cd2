"""What is refused before a check begins: bodies, headers, paths, each by the name of what is wrong."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.integration.clinic import Open

PROBLEM = "urn:booking-assistant:problem:"


async def test_an_id_that_nobody_has_is_not_found(open_clinic: Open) -> None:
    async with open_clinic() as clinic:
        unknown = await clinic.client.get("/consultations/01a22e68-e3ce-7b46-9b83-e7fc7886fc5d")
        malformed = await clinic.client.get("/consultations/17")

    assert (unknown.status_code, unknown.json()["type"]) == (404, PROBLEM + "not-found")
    assert malformed.status_code == 422 and malformed.json()["errors"][0]["pointer"] == "/check_id"


BAD_BODIES = [
    ({"message": ""}, "/message"),
    ({"message": " \n\t"}, "/message"),
    ({"message": "a\x00b"}, "/message"),
    ({"message": 3}, "/message"),
    ({"message": "x" * 8001}, "/message"),
    ({"message": "hi", "messages": [{"role": "customer", "content": "hi"}]}, "/"),
    ({"messages": []}, "/messages"),
    ({"messages": [{"role": "customer", "content": "hi"}, {"role": "assistant", "content": "hello"}]}, "/"),
    ({"messages": [{"role": "customer", "content": "x" * 4001}] * 2}, "/"),
    ({"messages": [{"role": "system", "content": "hi"}]}, "/messages/0/role"),
    ({"messages": [{"role": "customer", "content": "hi", "name": "x"}]}, "/messages/0/name"),
    ({"message": "hi", "age": 3}, "/age"),
    ({"message": "hi", "received_at": "tomorrow"}, "/received_at"),
    ({"message": "hi", "received_at": "2026-11-29T18:00:00"}, "/received_at"),
    ({"message": "hi", "received_at": 1764439200}, "/received_at"),
    ({"message": "hi", "received_at": "2026-02-30T18:00:00Z"}, "/received_at"),
    ({"message": "hi", "received_at": "9999-12-31T23:59:59-23:59"}, "/received_at"),
    ({"message": "hi", "timezone": "London"}, "/timezone"),
    ({"message": "hi", "timezone": "../../etc/passwd"}, "/timezone"),
    ({"message": "hi", "conversation_id": ""}, "/conversation_id"),
    ({"message": "hi", "sampling": {"seed": True}}, "/sampling/seed"),
    ({"message": "hi", "sampling": {"seed": -1}}, "/sampling/seed"),
    ({"message": "hi", "sampling": {"seed": 2**31}}, "/sampling/seed"),
    ({"message": "hi", "sampling": {"seed": 1.5}}, "/sampling/seed"),
    ({"message": "hi", "sampling": {"temperature": 3}}, "/sampling/temperature"),
    ({"message": "hi", "sampling": {"temperature": "hot"}}, "/sampling/temperature"),
]


@pytest.mark.parametrize(("body", "pointer"), BAD_BODIES, ids=[str(n) for n in range(len(BAD_BODIES))])
async def test_a_wrong_body_is_refused_by_the_name_of_its_field(open_clinic: Open, body: Any, pointer: str) -> None:
    async with open_clinic() as clinic:
        answer = await clinic.client.post("/consultations/check", json=body)

    problem = answer.json()
    assert answer.status_code == 422
    assert answer.headers["content-type"] == "application/problem+json"
    assert problem["type"] == PROBLEM + "invalid-request" and problem["request_id"]
    assert pointer in [error["pointer"] for error in problem["errors"]]
    assert "x" * 50 not in answer.text, "the customer's words are not echoed"


async def test_a_body_with_nothing_in_it_is_refused(open_clinic: Open) -> None:
    async with open_clinic() as clinic:
        answer = await clinic.client.post("/consultations/check", json={})

    assert answer.status_code == 422 and "exactly one of message and messages" in answer.json()["detail"]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"hello",
        b"{",
        b"[]",
        b"null",
        b'"text"',
        b"\xff\xfe",
        b'{"message": "\xff"}',
        b"[" * 20000,
        b'{"message": 1e}',
    ],
)
async def test_what_is_not_a_json_object_is_refused(open_clinic: Open, content: bytes) -> None:
    async with open_clinic() as clinic:
        answer = await clinic.client.post(
            "/consultations/check", content=content, headers={"Content-Type": "application/json"}
        )

    assert answer.status_code == 400 and answer.json()["type"] == PROBLEM + "not-json"


async def test_a_lone_surrogate_is_refused(open_clinic: Open) -> None:
    async with open_clinic() as clinic:
        answer = await clinic.client.post(
            "/consultations/check", content=b'{"message": "a \\ud800 b"}', headers={"Content-Type": "application/json"}
        )

    assert answer.status_code == 422 and answer.json()["errors"][0]["pointer"] == "/message"


async def test_a_megabyte_is_refused_declared_or_streamed(open_clinic: Open) -> None:
    async def stream() -> AsyncIterator[bytes]:
        for _ in range(1024):
            yield b"x" * 1024

    async with open_clinic() as clinic:
        declared = await clinic.client.post("/consultations/check", content=b"x" * 2**20)
        streamed = await clinic.client.post("/consultations/check", content=stream())

    for answer in (declared, streamed):
        assert (answer.status_code, answer.json()["type"]) == (413, PROBLEM + "body-too-large")


@pytest.mark.parametrize(
    ("name", "value"),
    [("X-Schema-Design", "6"), ("X-Schema-Design", "best"), ("X-Enforcement", "maybe"), ("Idempotency-Key", "k" * 256)],
)
async def test_a_wrong_header_is_named(open_clinic: Open, name: str, value: str) -> None:
    async with open_clinic() as clinic:
        answer = await clinic.check({name: value})

    assert (answer.status_code, answer.json()["type"]) == (400, PROBLEM + "invalid-header")
    assert answer.json()["errors"][0]["header"] == name


@pytest.mark.parametrize("seconds", ["0", "-1", "0.5", "nan", "inf", "1e3", "soon", "", "9999999"])
async def test_a_deadline_that_cannot_be_used_is_named(open_clinic: Open, seconds: str) -> None:
    async with open_clinic() as clinic:
        answer = await clinic.check({"X-Timeout-Seconds": seconds})

    assert (answer.status_code, answer.json()["errors"][0]["header"]) == (400, "X-Timeout-Seconds")


async def test_paths_and_methods_that_do_not_exist_are_problems_too(open_clinic: Open) -> None:
    async with open_clinic() as clinic:
        path = await clinic.client.get("/nothing")
        method = await clinic.client.delete("/consultations/check")

    assert (path.status_code, path.json()["type"]) == (404, PROBLEM + "not-found")
    assert (method.status_code, method.json()["type"]) == (405, PROBLEM + "method-not-allowed")
    assert "POST" in method.headers["allow"]
