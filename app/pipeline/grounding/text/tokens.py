"""One linear pass from normalised text to words, numbers, currency signs and marks, each in its clause and sentence."""

import re
import unicodedata
from enum import StrEnum
from typing import NamedTuple

# Every alternative is free of nested repetition over the same characters, so matching is linear.
_TOKEN = re.compile(
    r"""
    (?P<newline>\n)
  | (?P<number>[0-9]+(?:[.,:/'-][0-9]+)*)
  | (?P<word>(?:gbp|usd|eur|aed|cad|aud)(?=[0-9])       # a currency code stuck to its amount
           | (?<=[0-9])t(?=[0-9][0-9]:)                 # 2026-12-08T14:30
           | [^\W\d]\w*(?:'[^\W\d]\w*)*)
  | (?P<mark>\S)
    """,
    re.VERBOSE,
)
_CLAUSE_ENDS = frozenset(',;.!?()[]{}"')
_SENTENCE_ENDS = frozenset(";!?")
_BEGINS_CLAUSE = frozenset({"but", "because"})
_CURRENCY_PICTURES = frozenset("💷💵💶💴")
_ABBREVIATIONS = frozenset(
    {"approx", "no", "nr", "nos", "ca", "c", "inc", "incl", "excl", "dr", "mr", "mrs", "ms", "a", "p", "m"}
)


class Kind(StrEnum):
    WORD = "word"
    NUMBER = "number"
    CURRENCY = "currency"
    MARK = "mark"


class Token(NamedTuple):
    kind: Kind
    text: str
    """Normalised and case-folded."""
    start: int
    """Offset in the normalised text."""
    end: int
    glued: bool
    """Nothing stands between this token and the one before."""
    sentence: int
    clause: int


def tokenise(text: str) -> list[Token]:
    tokens: list[Token] = []
    sentence = clause = previous_end = 0
    for match in _TOKEN.finditer(text):
        group = match.lastgroup
        if group == "newline":
            sentence, clause = sentence + 1, clause + 1
            continue
        start, end = match.span()
        found = match.group()
        kind = Kind.WORD if group == "word" else Kind.NUMBER if group == "number" else _mark_kind(found)
        is_picture = kind is Kind.MARK and found > "\u2000" and unicodedata.category(found) == "So"
        clause += is_picture or found in _BEGINS_CLAUSE
        tokens.append(Token(kind, found, start, end, start == previous_end and start > 0, sentence, clause))
        if kind is Kind.MARK:
            clause += is_picture or _ends_clause(text, start, end)
            sentence += _ends_sentence(text, end, tokens)
        previous_end = end
    return tokens


def _mark_kind(found: str) -> Kind:
    is_currency = found in _CURRENCY_PICTURES or unicodedata.category(found) == "Sc"
    return Kind.CURRENCY if is_currency else Kind.MARK


def _ends_clause(text: str, start: int, end: int) -> bool:
    if text[start] == "-":
        return text[max(0, start - 1) : start] in ("", " ") and text[end : end + 1] in ("", " ", "\n")
    return text[start] in _CLAUSE_ENDS


def _ends_sentence(text: str, end: int, tokens: list[Token]) -> bool:
    mark = tokens[-1].text
    if mark in _SENTENCE_ENDS:
        return True
    is_abbreviation = len(tokens) > 1 and tokens[-2].text in _ABBREVIATIONS
    return mark == "." and not is_abbreviation and not text[end : end + 1].strip()
