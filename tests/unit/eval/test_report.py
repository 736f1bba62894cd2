"""The page: whole without anything from outside, and nothing of a customer or a model acts in it."""

import re
from html.parser import HTMLParser
from pathlib import Path

from eval.analysis import analyze
from eval.report import render
from eval.scenarios import OWN, load
from tests.support.eval_results import check, every, header, results


class Tags(HTMLParser):
    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []
        self.addresses: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        self.addresses += [value or "" for name, value in attrs if name in ("src", "href", "xlink:href", "action")]


def test_the_page_stands_alone(tmp_path: Path) -> None:
    made = results(tmp_path / "r.jsonl", [*every(runs=2), *every(False, "base/unconstrained")])

    page = render(made, analyze(made))

    tags = Tags(page)
    assert not {"script", "link", "img", "iframe", "form"} & set(tags.seen)
    assert all(address.startswith("#") for address in tags.addresses)
    assert not re.search(r"@import|url\((?!#)", page)
    assert tags.seen.count("svg") == 3
    assert "base/unconstrained" in page and "100.0%" in page


def test_a_model_cannot_write_into_the_page(tmp_path: Path) -> None:
    evil = '<script>alert(1)</script><img src="http://example.invalid">'
    made = results(
        tmp_path / "r.jsonl",
        [*every(), check("band-10750", 1, right=False, raw_outputs=[evil, None], flags=[evil], response_text=evil)],
    )

    page = render(made, analyze(made))

    assert "<script" not in page and "<img" not in page
    assert "&lt;script&gt;alert(1)" in page
    assert "not shown to this key" in page


def test_equal_wrong_answers_are_shown_once_with_their_number(tmp_path: Path) -> None:
    wrong = [check("band-10750", run, right=False) for run in range(4)]
    made = results(tmp_path / "r.jsonl", [*every()[:10], *wrong, check("band-10750", 4)])

    page = render(made, analyze(made))

    assert "4 of 5" in page
    assert page.count("<blockquote>") == 1
    assert "offer_alternative, over_limit" in page


def test_a_run_without_totals_above_the_limit_has_no_picture_of_them(tmp_path: Path) -> None:
    made = results(tmp_path / "r.jsonl", [check("eligible-1")], header(load(OWN, contains="eligible")))

    assert Tags(render(made, analyze(made))).seen.count("svg") == 2
