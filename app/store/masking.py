"""What is blotted out of stored text: numbers and addresses that identify a person and decide nothing.

Masked text is as long as the text, so that evidence offsets stay right, and evidence itself is never masked.
"""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from app.store.records import CheckRecord

BLOT = "█"

Span = tuple[int, int]
"""Code points, the end exclusive."""


@dataclass(frozen=True)
class _Rule:
    kind: str
    pattern: re.Pattern[str]
    """Without nested repetition: linear in the text."""
    is_real: Callable[[str], bool]
    """Of the digits and letters found."""


def _digits(text: str) -> list[int]:
    return [int(character) for character in text if character.isdecimal()]


def _is_card(text: str) -> bool:
    digits = _digits(text)
    doubled = [d if n % 2 == 0 else sum(divmod(2 * d, 10)) for n, d in enumerate(reversed(digits))]
    return 13 <= len(digits) <= 19 and len(set(digits)) > 1 and sum(doubled) % 10 == 0


def _is_iban(text: str) -> bool:
    letters = re.sub(r"[^0-9A-Z]", "", text.upper())
    if not 15 <= len(letters) <= 34:
        return False
    moved = letters[4:] + letters[:4]
    return int("".join(str(int(character, 36)) for character in moved)) % 97 == 1


def _is_nhs_number(text: str) -> bool:
    digits = _digits(text)
    check = 11 - sum(weight * digit for weight, digit in zip(range(10, 1, -1), digits, strict=False)) % 11
    return len(digits) == 10 and check % 11 == digits[9]


def _is_phone(text: str) -> bool:
    return 10 <= len(_digits(text)) <= 15


def _always(text: str) -> bool:
    return True


# Not after a currency sign, a letter or another digit: an amount, a reference, a part of something longer.
_ALONE = r"(?<![\w£$€#.,])"

RULES = (
    _Rule("email", re.compile(r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}"), _always),
    _Rule("iban", re.compile(_ALONE + r"[A-Za-z]{2}\d\d(?:\w{11,30}|(?: \w{4}){2,7}(?: \w{1,3})?)(?!\w)"), _is_iban),
    _Rule("card", re.compile(_ALONE + r"\d(?:[ -]?\d){12,18}(?![\w])"), _is_card),
    _Rule("phone", re.compile(_ALONE + r"(?:\+|00)\d(?:[ ().-]{0,2}\d){8,13}(?!\w)"), _is_phone),
    _Rule("phone", re.compile(_ALONE + r"\(?0\d{2,4}\)?(?:[ -]?\d){6,8}(?!\w)"), _is_phone),
    _Rule("nhs_number", re.compile(_ALONE + r"\d{3}[ -]?\d{3}[ -]?\d{4}(?!\w)"), _is_nhs_number),
    _Rule("ni_number", re.compile(r"(?<!\w)[A-Za-z]{2} ?\d{2} ?\d{2} ?\d{2} ?[A-Da-d](?!\w)"), _always),
    _Rule("bank_account", re.compile(_ALONE + r"\d\d-\d\d-\d\d[ ,]{1,3}\d{8}(?!\w)"), _always),
)


_WORTH_A_LOOK = re.compile(r"@|\d(?:[ ().,-]{0,3}\d){5}")
"""Every rule needs an @ or six digits that stand together; most messages have neither."""


@dataclass(frozen=True)
class Masked:
    text: str
    spans: tuple[tuple[int, int, str], ...]
    """Start, end and kind of what was blotted out, in code points."""


def mask(text: str, keep: Sequence[Span] = ()) -> Masked:
    """`keep` stays readable: evidence for a decision."""
    characters = list(text)
    if not _WORTH_A_LOOK.search(text):
        return Masked(text, ())
    taken: list[Span] = list(keep)
    spans: list[tuple[int, int, str]] = []
    for rule in RULES:
        for found in rule.pattern.finditer(text):
            start, end = found.span()
            if not any(start < other and first < end for first, other in taken) and rule.is_real(found.group()):
                spans.append((start, end, rule.kind))
                taken.append((start, end))
                characters[start:end] = BLOT * (end - start)
    return Masked("".join(characters), tuple(sorted(spans)))


def mask_record(record: CheckRecord) -> tuple[CheckRecord, Counter[str]]:
    """The record with its texts masked, and how often each kind was found."""
    found: Counter[str] = Counter()

    def masked(text: str | None, keep: Sequence[Span] = ()) -> str | None:
        if text is None:
            return None
        result = mask(text, keep)
        found.update(kind for _, _, kind in result.spans)
        return result.text

    evidence = _evidence(record.facts or {})
    messages = tuple(
        message | {"content": masked(message["content"], evidence.get(turn, ())) or ""}
        for turn, message in enumerate(record.messages)
    )
    calls = tuple(replace(call, raw_output=masked(call.raw_output)) for call in record.calls)
    safe = replace(record, messages=messages, response_text=masked(record.response_text), calls=calls)
    return safe, found


def without_contents(record: CheckRecord) -> CheckRecord:
    """For a record that could not be masked: what was decided is kept, what was said is not."""
    calls = tuple(replace(call, raw_output=None) for call in record.calls)
    return replace(record, messages=(), response_text=None, calls=calls)


def _evidence(facts: dict[str, Any]) -> dict[int, list[Span]]:
    """By turn of the conversation."""
    spans: dict[int, list[Span]] = {}
    for fact in facts.values():
        for span in fact["evidence"]:
            spans.setdefault(span["turn"], []).append((span["start"], span["end"]))
    return spans
