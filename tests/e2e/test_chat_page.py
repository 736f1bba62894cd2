"""The chat page in a real browser, as its visitors use it."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from app.api.key_file import create_key
from app.telemetry.clock import utc_now
from tests.e2e.browser import browser
from tests.e2e.service import MESSAGE, Running, free_port, service, wait_until
from tests.e2e.test_disconnects import client, ended, wait_until_in_flight

SLOW = {"SCRIPT_LATENCY_SECONDS": "2"}
SERIOUS = ("serious", "critical")


@contextmanager
def opened(running: Running, width: int = 1280, height: int = 860, scheme: str = "light") -> Iterator[Page]:
    """The page; it must not say anything in the console nor ask anybody else for anything."""
    own, asked, said = str(running.client.base_url), [], []
    with browser() as chromium:
        page = chromium.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)  # type: ignore[arg-type]
        page.set_default_timeout(60_000)
        page.on("request", lambda request: asked.append(request.url))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.goto(own)
        yield page
        page.close()
    assert {url for url in asked if not url.startswith((own, "data:"))} == set()
    assert said == []


def ask(page: Page, text: str) -> None:
    page.get_by_label("Your message").fill(text)
    page.keyboard.press("Enter")


def words(page: Page) -> str:
    return page.locator(".turn.assistant .words").last.inner_text()


def marked(page: Page) -> list[tuple[str | None, str]]:
    """Highlighted evidence: kind and words, without their tags."""
    found = page.eval_on_selector_all("mark", "all => all.map(one => [one.className, one.firstChild.data])")
    return [(kind, text) for kind, text in found]


@pytest.mark.parametrize(
    ("width", "height", "scheme"),
    [(1280, 860, "light"), (1280, 860, "dark"), (390, 844, "light"), (390, 844, "dark")],
    ids=["desk", "desk-dark", "phone", "phone-dark"],
)
def test_a_customer_sees_what_was_understood_and_decided_before_the_words(
    data_dir: Path, width: int, height: int, scheme: str
) -> None:
    with service(data_dir, **SLOW) as running, opened(running, width, height, scheme) as page:
        empty = Axe().run(page)
        page.get_by_role("button", name="Hi, I am 34").click()
        page.keyboard.press("Enter")
        decision = page.locator("#decision strong")
        expect(decision).to_have_text("Booked: Tuesday, 14 December 2027, 10:00")
        words_then = words(page)
        evidence = marked(page)
        expect(page.locator("#ending")).to_be_visible()
        full = Axe().run(page)
        fits = page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")

        assert words_then == ""
        assert words(page) == "Thank you for your message. This reply was written by a script."
        assert evidence == [
            ("age", "I am 34"),
            ("price", "£2,400"),
            ("price", "£150"),
            ("date", "14 December 2027"),
            ("time", "10am"),
        ]
        assert page.locator("#trace li").count() == 9
        assert page.locator("#trace li.decided").inner_text().startswith("▶ decided")
        assert json.loads(page.locator("#json").text_content() or "")["action"] == "book_appointment"
        assert [v for run in (empty, full) for v in run.response["violations"] if v["impact"] in SERIOUS] == []
        assert fits


def test_escape_cancels_and_the_message_can_be_asked_again(data_dir: Path) -> None:
    with service(data_dir, **SLOW) as running, opened(running) as page:
        ask(page, MESSAGE)
        expect(page.locator("#decision strong")).to_be_visible()
        page.keyboard.press("Escape")
        expect(page.locator(".turn.wrong")).to_contain_text("Cancelled before it was answered.")
        wait_until(lambda: "cancelled" in ended(running).values(), 30)
        assert page.locator("#result").is_hidden() and marked(page) == []

        page.get_by_role("button", name="Try again").click()

        expect(page.locator("#ending")).to_be_visible()
        assert page.locator(".turn.customer").count() == 1 and page.locator(".turn.wrong").count() == 0


def test_a_lost_server_is_waited_for_and_the_check_answered_once(data_dir: Path) -> None:
    port = str(free_port())
    with service(data_dir, **SLOW, PORT=port) as running, opened(running) as page:
        ask(page, MESSAGE)
        expect(page.locator("#decision strong")).to_be_visible()
        running.process.kill()
        running.ended()
        expect(page.locator(".turn.assistant .words")).to_contain_text("Trying again in")
        assert page.locator("#decision").is_hidden(), "what was told before is void"

        with service(data_dir, PORT=port) as back:
            expect(page.locator("#ending")).to_be_visible()

            assert words(page) == "Thank you for your message. This reply was written by a script."
            assert page.locator(".turn").count() == 2
            assert list(ended(back).values()).count("completed") == 1


def test_a_service_that_stays_away_is_said_to_be_away(data_dir: Path) -> None:
    with service(data_dir) as running, opened(running) as page:
        page.clock.install()
        running.process.kill()
        running.ended()
        ask(page, MESSAGE)
        for _ in range(5):
            page.clock.fast_forward(40_000)
            page.wait_for_timeout(300)

        expect(page.locator(".turn.wrong")).to_contain_text("The service cannot be reached")
        expect(page.locator("#health")).to_have_text("the service cannot be reached")


def test_a_busy_service_is_asked_again_after_the_time_it_names(data_dir: Path) -> None:
    busy = {"MAX_IN_FLIGHT": "1", "MAX_QUEUED": "0", "SCRIPT_LATENCY_SECONDS": "1"}
    with service(data_dir, **busy) as running, opened(running) as page:
        with client(running):
            wait_until_in_flight(running)
            ask(page, MESSAGE)

            expect(page.locator(".turn.assistant .words")).to_contain_text("Trying again in")

        expect(page.locator("#ending")).to_be_visible()


def test_where_the_service_has_keys_the_page_asks_for_one(data_dir: Path) -> None:
    data_dir.mkdir(parents=True)
    key = create_key(data_dir / "keys.json", "page", ["check"], utc_now())
    with service(data_dir) as running, opened(running) as page:
        ask(page, MESSAGE)
        expect(page.locator(".turn.wrong")).to_contain_text("A valid key is needed")
        expect(page.get_by_label("Key", exact=True)).to_be_focused()

        page.keyboard.type(key)
        page.get_by_role("button", name="Try again").click()

        expect(page.locator("#ending")).to_be_visible()


def test_a_second_message_goes_on_with_the_conversation_and_evidence_is_marked_in_its_turn(data_dir: Path) -> None:
    with service(data_dir) as running, opened(running) as page:
        ask(page, "😀 I'd like the £2,400 course on 14 December 2027 at 10am.")
        expect(page.locator("#decision")).to_contain_text("Not known: customer age")
        expect(page.locator("#ending")).to_be_visible()
        ask(page, "I am 34.")
        expect(page.locator("#decision strong")).to_contain_text("Booked")
        expect(page.locator("#ending")).to_be_visible()

        assert marked(page) == [("price", "£2,400"), ("date", "14 December 2027"), ("time", "10am"), ("age", "I am 34")]
        page.get_by_role("button", name="New conversation").click()
        assert page.locator(".turn").count() == 0 and page.locator("#result").is_hidden()


def test_what_a_customer_writes_stays_text(data_dir: Path) -> None:
    text = "<img src=x onerror=document.title='gone'> <b>I am 34</b>, £2,400, 14 December 2027 at 10am"
    with service(data_dir) as running, opened(running) as page:
        ask(page, text)
        expect(page.locator("#ending")).to_be_visible()

        assert page.title() == "Booking assistant"
        assert page.locator("img").count() == page.locator("#log b").count() == 0
        assert page.locator(".turn.customer .words").inner_text().startswith("<img src=x")


def test_a_design_in_which_the_model_decides_can_be_chosen(data_dir: Path) -> None:
    with service(data_dir) as running, opened(running) as page:
        page.get_by_text("How it is decided").click()
        page.get_by_label("Design").select_option("table")
        page.get_by_label("Enforcement").select_option("unconstrained")
        ask(page, MESSAGE)
        expect(page.locator("#ending")).to_be_visible()

        assert "A person decides" in page.locator("#decision").inner_text()
        assert "the model decides by itself" in page.locator("#facts").inner_text()
        assert "scripted, table, unconstrained" in page.locator("#output").inner_text()
