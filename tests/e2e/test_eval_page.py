"""The report in a real browser, on a desk and on a phone."""

from pathlib import Path

import pytest

from eval.analysis import analyze
from eval.report import write_report
from tests.e2e.browser import browser
from tests.support.eval_results import every, results


@pytest.mark.parametrize(("width", "height"), [(1280, 900), (390, 844)], ids=["desk", "phone"])
def test_the_report_fits_its_window_and_asks_for_nothing_else(tmp_path: Path, width: int, height: int) -> None:
    page_file = tmp_path / "report.html"
    made = results(tmp_path / "r.jsonl", [*every(runs=2), *every(False, "base/constrained")])
    write_report(made, analyze(made), page_file)
    asked: list[str] = []
    said: list[str] = []

    with browser() as chromium:
        page = chromium.new_page(viewport={"width": width, "height": height})
        page.on("request", lambda request: asked.append(request.url))
        page.on("console", lambda message: said.append(message.text))
        page.goto(page_file.as_uri())
        fits = page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        letters = page.evaluate(
            "Math.min(...[...document.querySelectorAll('figure svg text')].map(t => t.getBoundingClientRect().height))"
        )
        page.get_by_text("base/constrained: 25 kinds of wrong answer").click()
        page.get_by_text("band-10750").first.click()
        message = page.get_by_text("the £6,500 implants and the £4,250 sedation package").is_visible()

    assert fits
    assert letters >= 8
    assert message
    assert asked == [page_file.as_uri()]
    assert said == []
