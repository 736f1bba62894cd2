from datetime import date, time

import pytest

from eval.normalise import read_date, read_time

RECEIVED_ON = date(2026, 11, 30)


@pytest.mark.parametrize(
    "text",
    [
        "2027-03-09", "9 March 2027", "Tuesday 9 March 2027", "Tuesday, 9 March 2027", "9th March 2027", "9 Mar 2027",
        "the 9th of March 2027",
        "March 9, 2027", "March 9th 2027", "09/03/2027", "9.3.2027", "Tue 9 Mar 2027", "9 march",
        " Tuesday  9 March ", "2027-03-09T00:00:00", "9-Mar-2027",
    ],
)  # fmt: skip
def test_one_day_in_many_forms(text: str) -> None:
    assert read_date(text, RECEIVED_ON) == date(2027, 3, 9)


@pytest.mark.parametrize(
    "text",
    ["", "tomorrow", "9 Mars 2027", "31 April 2027", "2027-13-01", "9 March 2027 or 10 March 2027", "March 2027"],
)
def test_what_is_not_one_day_is_none(text: str) -> None:
    assert read_date(text, RECEIVED_ON) is None


def test_a_day_without_a_year_is_the_next_such_day() -> None:
    assert read_date("1 December", RECEIVED_ON) == date(2026, 12, 1)
    assert read_date("29 November", RECEIVED_ON) == date(2027, 11, 29)
    assert read_date("29 February", date(2027, 3, 1)) == date(2028, 2, 29)


@pytest.mark.parametrize("text", ["14:30", "2:30pm", "2.30 pm", "14.30", "2:30 PM", "14:30:00", "2:30\u202fp.m."])
def test_one_time_in_many_forms(text: str) -> None:
    assert read_time(text) == time(14, 30)


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("12am", time(0)),
        ("12pm", time(12)),
        ("noon", time(12)),
        ("9am", time(9)),
        ("09:00", time(9)),
        ("0:05", time(0, 5)),
    ],
)
def test_the_edges_of_the_clock(text: str, known: time) -> None:
    assert read_time(text) == known


@pytest.mark.parametrize("text", ["", "9", "25:00", "14:60", "13pm", "0am", "2:30pm or 3pm", "half two"])
def test_what_is_not_one_time_is_none(text: str) -> None:
    assert read_time(text) is None
