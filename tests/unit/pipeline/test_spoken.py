"""What may be shown of a reply that is still being written."""

import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.pipeline.design import MAX_RESPONSE_CHARACTERS
from app.pipeline.spoken import SpokenReply, text_so_far

TEXTS = st.text(
    alphabet=st.one_of(st.sampled_from(' .!?"\\/\n\t\u2019\U0001f600x'), st.characters(exclude_categories=["Cs"]))
)


class Reader:
    def __init__(self) -> None:
        self.shown = ""
        self.every_sight: list[str] = []

    def say(self, text: str, replaces: bool) -> None:
        self.shown = text if replaces else self.shown + text
        self.every_sight.append(self.shown)


def cut(text: str, places: list[int]) -> list[str]:
    at = sorted({0, len(text), *(place % (len(text) + 1) for place in places)})
    return [text[a:b] for a, b in itertools.pairwise(at)]


def speak(raw: str, final: str, places: list[int], agrees: bool = True) -> Reader:
    reader = Reader()
    spoken = SpokenReply(lambda text: agrees, reader.say)
    for piece in cut(raw, places):
        spoken.hear(piece)
    spoken.settle(final)
    return reader


@given(text=TEXTS, places=st.lists(st.integers(0, 10_000), max_size=30), ascii_only=st.booleans())
def test_however_it_is_cut_the_reader_ends_with_the_reply_and_saw_only_its_beginnings(
    text: str, places: list[int], ascii_only: bool
) -> None:
    final = text.strip()

    reader = speak(json.dumps({"response_text": text}, ensure_ascii=ascii_only), final, places)

    assert reader.shown == final
    assert all(final.startswith(sight) for sight in reader.every_sight)


@given(raw=st.text(), places=st.lists(st.integers(0, 10_000), max_size=30))
def test_whatever_the_model_writes_the_reader_ends_with_what_is_sent(raw: str, places: list[int]) -> None:
    assert speak('{"response_text": "' + raw, "What is sent.", places).shown == "What is sent."


def test_only_whole_sentences_are_shown() -> None:
    reader = Reader()
    spoken = SpokenReply(lambda text: True, reader.say)

    spoken.hear('{"response_text":"Thank you. We have')

    assert reader.shown == "Thank you."


def test_from_the_first_sentence_that_disagrees_nothing_more_is_shown_and_the_template_takes_over() -> None:
    reader = Reader()
    spoken = SpokenReply(lambda text: "booked" not in text, reader.say)

    spoken.hear('{"response_text":"Thank you. You are booked. See you soon. Bye')
    assert reader.shown == "Thank you."
    spoken.settle("A member of our team will be in touch.")

    assert reader.every_sight == ["Thank you.", "A member of our team will be in touch."]


def test_more_than_a_reply_may_hold_is_not_shown() -> None:
    reader = Reader()
    spoken = SpokenReply(lambda text: True, reader.say)

    spoken.hear('{"response_text":"' + "Too long. " * 200)

    assert MAX_RESPONSE_CHARACTERS - len("Too long. ") < len(reader.shown) <= MAX_RESPONSE_CHARACTERS


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("", ""),
        ('{"response_te', ""),
        ('{"response_text": ', ""),
        ('{"response_text": "a\\', "a"),
        ('{"response_text": "a\\u00', "a"),
        ('{"response_text": "a\\u00e9', "aé"),
        ('{"response_text": "a\\ud83d', "a"),
        ('{"response_text": "a\\ud83d\\ude00', "a😀"),
        ('{"response_text": "a\\nb"}', "a\nb"),
        ('{"response_text": "a\nb', "a\nb"),
        ('{"response_text": "a" , "more": "b"}', "a"),
    ],
)
def test_the_text_so_far(raw: str, text: str) -> None:
    assert text_so_far(raw) == text
