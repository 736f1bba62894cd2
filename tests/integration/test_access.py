"""Nobody gets in who should not: keys, scopes, rates, origins, sizes."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from app.api.access import Access
from app.api.key_file import create_key, revoke_key
from app.api.keys import KeyRing
from app.api.rate_limit import RateLimit
from tests.integration.clinic import Open
from tests.support.replies import MESSAGE

PROBLEM = "urn:booking-assistant:problem:"
NOW = datetime(2026, 12, 1, tzinfo=UTC)
ORIGIN = "https://chat.example"


@pytest.fixture
def key(tmp_path: Path) -> Callable[..., dict[str, str]]:
    """Makes a key with these scopes; returns the header that carries it."""

    def made(*scopes: str) -> dict[str, str]:
        return {"Authorization": f"Bearer {create_key(tmp_path / 'keys.json', '+'.join(scopes), scopes, NOW)}"}

    return made


def access(tmp_path: Path, rate: int = 0) -> Access:
    return Access(KeyRing(tmp_path / "keys.json"), RateLimit(rate), [ORIGIN])


REQUESTS = {
    "check": ("POST", "/consultations/check", {"message": MESSAGE}),
    "read": ("GET", "/consultations/018f0000-0000-7000-8000-000000000000", None),
    "erase": ("DELETE", "/consultations/018f0000-0000-7000-8000-000000000000/content", None),
    "metrics": ("GET", "/metrics", None),
}


@pytest.mark.parametrize("needed", REQUESTS)
@pytest.mark.parametrize("scope", ["check", "read", "eval", "erase", "metrics"])
async def test_a_key_opens_its_own_scope_and_no_other(
    open_clinic: Open, tmp_path: Path, key: Callable[..., dict[str, str]], needed: str, scope: str
) -> None:
    header = key(scope)
    method, path, body = REQUESTS[needed]
    async with open_clinic(access=access(tmp_path)) as clinic:
        answer = await clinic.client.request(method, path, json=body, headers=header)

    assert (answer.status_code in (200, 404)) == (needed == scope)
    if needed != scope:
        assert (answer.status_code, answer.json()["type"]) == (403, PROBLEM + "forbidden")


@pytest.mark.parametrize("needed", REQUESTS)
async def test_without_a_valid_key_nothing_is_told(
    open_clinic: Open, tmp_path: Path, key: Callable[..., dict[str, str]], needed: str
) -> None:
    key("check")
    method, path, _ = REQUESTS[needed]
    async with open_clinic(access=access(tmp_path)) as clinic:
        for headers in ({}, {"Authorization": "Bearer stranger"}):
            answer = await clinic.client.request(method, path, json={"unknown": 1}, headers=headers)
            assert (answer.status_code, answer.json()["type"]) == (401, PROBLEM + "unauthorized")
            assert answer.headers["www-authenticate"] == "Bearer"


async def test_health_is_open_to_everybody(
    open_clinic: Open, tmp_path: Path, key: Callable[..., dict[str, str]]
) -> None:
    key("check")
    async with open_clinic(access=access(tmp_path)) as clinic:
        answers = [await clinic.client.get(path) for path in ("/livez", "/readyz", "/docs", "/openapi.json")]

    assert [answer.status_code for answer in answers] == [200, 200, 200, 200]


@pytest.mark.parametrize("sampling", [{"seed": 1}, {"temperature": 0.5}, {"seed": 0, "temperature": 0.0}])
async def test_only_the_eval_may_set_sampling(
    open_clinic: Open, tmp_path: Path, key: Callable[..., dict[str, str]], sampling: dict[str, float]
) -> None:
    chat, evaluation = key("check"), key("check", "eval")
    async with open_clinic(access=access(tmp_path)) as clinic:
        refused = await clinic.check(chat, sampling=sampling)
        plain = await clinic.check(chat, sampling={})
        allowed = await clinic.check(evaluation, sampling=sampling)

    assert (refused.status_code, plain.status_code, allowed.status_code) == (403, 200, 200)
    assert "'eval'" in refused.json()["detail"]


async def test_a_key_that_is_revoked_stops_opening_a_running_service(
    open_clinic: Open, tmp_path: Path, key: Callable[..., dict[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.api.keys.LOOK_SECONDS", 0.0)
    header = key("check")
    async with open_clinic(access=access(tmp_path)) as clinic:
        before = await clinic.check(header)
        revoke_key(tmp_path / "keys.json", "check", NOW)
        after = await clinic.check(header)

    assert (before.status_code, after.status_code) == (200, 401)


async def test_a_key_that_asks_too_often_is_told_when_to_come_back(
    open_clinic: Open, tmp_path: Path, key: Callable[..., dict[str, str]]
) -> None:
    eager, other = key("check"), key("check", "read")
    async with open_clinic(access=access(tmp_path, rate=2)) as clinic:
        answers = [await clinic.check(eager) for _ in range(3)]
        calm = await clinic.check(other)

    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert answers[2].json()["type"] == PROBLEM + "rate-limited"
    assert 1 <= int(answers[2].headers["retry-after"]) <= 60
    assert calm.status_code == 200


async def test_a_page_of_a_known_origin_may_ask_and_read(open_clinic: Open, tmp_path: Path) -> None:
    asked = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "idempotency-key"}
    async with open_clinic(access=access(tmp_path)) as clinic:
        allowed = await clinic.client.options("/consultations/check", headers={"Origin": ORIGIN} | asked)
        answer = await clinic.check({"Origin": ORIGIN})
        stranger = await clinic.client.options(
            "/consultations/check", headers={"Origin": "https://evil.example"} | asked
        )
        unread = await clinic.check({"Origin": "https://evil.example"})

    assert allowed.headers["access-control-allow-origin"] == ORIGIN
    assert answer.headers["access-control-allow-origin"] == ORIGIN
    assert "Idempotent-Replayed" in answer.headers["access-control-expose-headers"]
    assert "access-control-allow-origin" not in stranger.headers
    assert "access-control-allow-origin" not in unread.headers


@pytest.mark.parametrize(
    "headers", [{f"X-Header-{n}": "x" for n in range(70)}, {"X-Long": "x" * 20_000}], ids=["many", "long"]
)
async def test_headers_that_no_caller_needs_are_refused(open_clinic: Open, headers: dict[str, str]) -> None:
    async with open_clinic() as clinic:
        answer = await clinic.check(headers)

    assert (answer.status_code, answer.json()["type"]) == (431, PROBLEM + "headers-too-large")


async def test_every_answer_tells_a_browser_to_be_careful(open_clinic: Open) -> None:
    async with open_clinic() as clinic:
        answers = [
            await clinic.check(),
            await clinic.check(message=""),
            await clinic.client.get("/nothing"),
            await clinic.check({"X-Long": "x" * 20_000}),
            await clinic.client.post("/consultations/check", content=b"x" * 300_000),
        ]

    for answer in answers:
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["content-security-policy"].startswith("default-src 'none'")
        assert answer.headers["cache-control"] == "no-store"
