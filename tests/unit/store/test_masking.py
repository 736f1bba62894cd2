"""What is blotted out of stored text, and what never is."""

import json
import time
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.store.masking import BLOT, mask, mask_record, without_contents
from tests.integration.records import a_call, a_record

DATA = Path(__file__).parents[2] / "data" / "grounding"


@pytest.mark.parametrize(
    ("text", "secret", "kind"),
    [
        ("card 4111 1111 1111 1111 please", "4111 1111 1111 1111", "card"),
        ("card 4111-1111-1111-1111.", "4111-1111-1111-1111", "card"),
        ("5500005555555559", "5500005555555559", "card"),
        ("write to jane.neil+x@mail.example.co.uk!", "jane.neil+x@mail.example.co.uk", "email"),
        ("IBAN GB82 WEST 1234 5698 7654 32", "GB82 WEST 1234 5698 7654 32", "iban"),
        ("iban gb82west12345698765432", "gb82west12345698765432", "iban"),
        ("ring 07700 900123 today", "07700 900123", "phone"),
        ("ring 020 7946 0018", "020 7946 0018", "phone"),
        ("ring +44 7700 900 123 or so", "+44 7700 900 123", "phone"),
        ("0044 7700 900123", "0044 7700 900123", "phone"),
        ("my NHS number is 943 476 5919", "943 476 5919", "nhs_number"),
        ("NI: QQ 12 34 56 C", "QQ 12 34 56 C", "ni_number"),
        ("sort code 20-00-00, 55779911", "20-00-00, 55779911", "bank_account"),
    ],
)
def test_what_identifies_a_person_is_blotted_out(text: str, secret: str, kind: str) -> None:
    masked = mask(text)

    assert masked.text == text.replace(secret, BLOT * len(secret))
    assert [found for _, _, found in masked.spans] == [kind]


@pytest.mark.parametrize(
    "text",
    [
        "I am 34, the £2,400 course and £150, 14 December 2027 at 10am",
        "4111 1111 1111 1112 is no card, its check digit is wrong",
        "£4111111111111111",
        "2026-12-10 14:30, 10/12/2026, 10.12.2026",
        "943 476 5918",
        "order AB123456C7, ref 12-34",
        "a total of 10000000 pence or 1,234,567.89",
        "between 0900 and 1700",
        "@home, me@, x@y",
    ],
)
def test_ordinary_text_is_left_alone(text: str) -> None:
    assert mask(text).text == text


def test_evidence_is_never_blotted_out() -> None:
    text = "pay 4111111111111111 now"

    assert mask(text, keep=[(4, 6)]).text == text


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=300))
def test_the_text_keeps_its_length_and_what_is_readable_stays_as_it_was(text: str) -> None:
    masked = mask(text)

    assert len(masked.text) == len(text)
    assert all(new in (old, BLOT) for new, old in zip(masked.text, text, strict=True))


def test_our_own_messages_lose_nothing_but_numbers_that_identify() -> None:
    lines = (DATA / "mentions.jsonl").read_text("utf-8").splitlines()
    entries = [json.loads(line) for line in lines]
    texts = [text for entry in entries for _, text in entry.get("turns") or [("customer", entry["message"])]]

    touched = [(kind, text[start:end]) for text in texts for start, end, kind in mask(text).spans]

    assert len(texts) > 300 and all(texts)
    assert len(touched) < 20
    assert {kind for kind, _ in touched} <= {"phone", "card", "email", "iban", "nhs_number"}, touched


@pytest.mark.parametrize(
    "unit", ["1", "1 ", "1-", "a@", "a.", "AB12", "AB12 ", "0", "07 ", "+4 ", "(0", "4111 ", "@.", "20-00-00 "]
)
def test_no_text_is_slow_to_mask(unit: str) -> None:
    """A regular expression that blows up takes hours for this; these take milliseconds."""
    text = (unit * 8000)[:8000]

    clock = time.process_time()
    mask(text)

    assert time.process_time() - clock < 30


def test_all_texts_of_a_record_are_masked_and_its_evidence_is_not() -> None:
    secret = "07700 900123"
    record = a_record(
        messages=({"role": "customer", "content": f"I am 42, ring {secret}"},),
        facts={"customer_age": {"value": 42, "status": "verified", "evidence": [{"turn": 0, "start": 5, "end": 7}]}},
        response_text=f"We will ring {secret}",
        calls=(a_call(raw_output=f'{{"phone": "{secret}"}}'),),
    )

    masked, found = mask_record(record)

    assert secret not in repr(masked)
    assert masked.messages[0]["content"][5:7] == "42"
    assert found == {"phone": 3}
    assert without_contents(masked) == without_contents(record)


def test_what_cannot_be_masked_is_kept_without_its_words() -> None:
    record = a_record()

    kept = without_contents(record)

    assert (kept.messages, kept.response_text, kept.calls[0].raw_output) == ((), None, None)
    assert replace(kept, messages=record.messages, response_text=record.response_text, calls=record.calls) == record
