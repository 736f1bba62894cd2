"""Whatever a model writes can be stored and comes back as it was."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.store.storable import from_json, from_text, to_json, to_text

any_text = st.text(st.characters(exclude_categories=()) | st.sampled_from("\x00\ud800\udfff\u241b0123"))
any_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | any_text,
    lambda inner: st.lists(inner) | st.dictionaries(any_text, inner),
)


@given(any_text)
def test_text_comes_back_as_it_was(text: str) -> None:
    assert from_text(to_text(text)) == text


@given(any_text)
def test_stored_text_holds_nothing_that_postgres_refuses(text: str) -> None:
    assert not re.search("[\x00\ud800-\udfff]", to_text(text))


@given(any_json)
def test_json_comes_back_as_it_was(value: object) -> None:
    assert from_json(to_json(value)) == value


@given(any_json)
def test_stored_json_is_strict_json(value: object) -> None:
    json.dumps(to_json(value), allow_nan=False, ensure_ascii=False).encode()


def test_ordinary_text_is_stored_as_it_is() -> None:
    assert to_text('{"a": "\\u0000 £ 😀"}\n') == '{"a": "\\u0000 £ 😀"}\n'


@pytest.mark.parametrize(
    ("odd", "stored"), [("a\x00", "a␛0000"), ("\ud83d", "␛d83d"), ("␛0000", "␛241b0000"), ("␛inf", "␛241binf")]
)
def test_an_odd_character_is_visible(odd: str, stored: str) -> None:
    assert to_text(odd) == stored
