"""The chat page's files: what a browser is told about them, and that they can be left out."""

import re
from pathlib import Path
from typing import get_args

import httpx
import pytest

from app.api.access import Access
from app.api.keys import KeyRing
from app.api.page_routes import CONTENT_SECURITY_POLICY
from app.api.readiness import Readiness
from app.build import build_app
from app.pipeline.design import DesignName, Enforcement
from app.policy import Action, ReasonCode
from app.policy.decision import Outcome
from tests.integration.clinic import Clinic, Open

PAGE = Path("app/api/page")


async def get(clinic: Clinic, path: str, *, chat_page: bool = True) -> httpx.Response:
    app = build_app(clinic.checks, Readiness({}, {}), Access(KeyRing(Path("nowhere"))), chat_page=chat_page)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://clinic") as client:
        return await client.get(path)


@pytest.mark.parametrize(
    ("path", "media_type"),
    [("/", "text/html"), ("/page/page.css", "text/css"), ("/page/page.js", "text/javascript"),
     ("/page/client.js", "text/javascript")],
)  # fmt: skip
async def test_the_pages_files_say_what_a_browser_may_do(open_clinic: Open, path: str, media_type: str) -> None:
    async with open_clinic() as clinic:
        answer = await get(clinic, path)

    assert answer.status_code == 200
    assert answer.headers["content-type"] == f"{media_type}; charset=utf-8"
    assert answer.headers["content-security-policy"] == CONTENT_SECURITY_POLICY
    assert answer.headers["x-content-type-options"] == "nosniff" and answer.headers["x-frame-options"] == "DENY"


@pytest.mark.parametrize("path", ["/", "/page/page.js", "/page/../page_routes.py"])
async def test_without_the_page_there_is_nothing(open_clinic: Open, path: str) -> None:
    async with open_clinic() as clinic:
        answer = await get(clinic, path, chat_page=False)

    assert answer.status_code == 404
    assert answer.headers["content-security-policy"].startswith("default-src 'none'")


def test_the_page_knows_every_word_the_service_may_answer_with() -> None:
    script, markup = (PAGE / "page.js").read_text(), (PAGE / "index.html").read_text()

    for name in [*Action, *ReasonCode]:
        assert re.search(rf"^  {name}: ", script, re.MULTILINE), name
    for name in [*DesignName, *Enforcement]:
        assert f'<option value="{name}">' in markup, name
    assert '"decided"' in script and "decided" in get_args(Outcome)
