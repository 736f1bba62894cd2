"""A view of a message for matching only: one spelling per character, each mapped back to where it stood."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

_LONGEST_CLUSTER = 16
"""Code points. Longer piles of combining marks are cut: sorting them is quadratic."""

_PLAIN = re.compile(r"[\x00-\x0a\x0e-\x5f\x61-\x7f]+")
"""ASCII but for the backtick and the line ends that read as something else."""

_SAME_AS = {
    **dict.fromkeys("‘’‚‛ʼ′`´＇", "'"),
    **dict.fromkeys("“”„‟″«»", '"'),
    **dict.fromkeys("−⁃﹘﹣－", "-"),
    **dict.fromkeys("\r\x0b\x0c\x85\u2028\u2029", "\n"),
    "٫": ".",
    "٬": ",",
    "⁄": "/",
}
_STRUCK_OUT = frozenset("\u0334\u0335\u0336\u0337\u0338")
_BIDI_CONTROLS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
UNREADABLE = "\ufffd"
"""Stands for what must not be read as text: struck-out, reordered or raised characters."""


@dataclass(frozen=True)
class NormalisedText:
    text: str
    starts: Sequence[int]
    """Per character of text: where its source begins in the original, in code points."""
    ends: Sequence[int]
    """Per character of text: where its source ends in the original."""


def normalise(content: str) -> NormalisedText:
    pieces: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    start = 0
    while start < len(content):
        end = _plain_end(content, start)
        if end > start:
            pieces.append(content[start:end].lower())
            starts.extend(range(start, end))
            ends.extend(range(start + 1, end + 1))
            start = end
            continue
        end = _cluster_end(content, start)
        piece = _read_cluster(content[start:end])
        pieces.append(piece)
        starts.extend([start] * len(piece))
        ends.extend([end] * len(piece))
        start = end
    return NormalisedText("".join(pieces), starts, ends)


def _plain_end(content: str, start: int) -> int:
    """End of a run of plain ASCII; its last character is left out where a mark could follow and change it."""
    run = _PLAIN.match(content, start)
    if run is None:
        return start
    return run.end() if run.end() == len(content) else run.end() - 1


def _cluster_end(content: str, start: int) -> int:
    limit = min(len(content), start + _LONGEST_CLUSTER)
    end = start + 1
    while end < limit and content[end] > "\u007f" and (_is_mark(content[end]) or _is_invisible(content[end])):
        end += 1
    return end


def _read_cluster(cluster: str) -> str:
    first = cluster[0]
    if len(cluster) == 1 and first.isascii() and first not in _SAME_AS:
        return first.lower()
    if _STRUCK_OUT.intersection(cluster) or first in _BIDI_CONTROLS:
        return UNREADABLE
    visible = "".join(character for character in cluster if not _is_invisible(character))
    if not visible:
        return ""
    return _read_base(visible[0], visible[1:])


def _read_base(base: str, marks: str) -> str:
    if base in _SAME_AS:
        return _SAME_AS[base]
    decomposition = unicodedata.decomposition(base)
    if decomposition.startswith(("<super>", "<sub>")):
        return UNREADABLE
    if decomposition.startswith("<fraction>"):
        return base
    folded = unicodedata.normalize("NFKC", base + marks).casefold()
    return "".join(_read_character(character) for character in folded)


def _read_character(character: str) -> str:
    if character.isascii():
        return character
    category = unicodedata.category(character)
    if category == "Nd":
        return str(unicodedata.decimal(character))
    return {"Pd": "-", "Zs": " "}.get(category, _SAME_AS.get(character, character))


def _is_mark(character: str) -> bool:
    return unicodedata.category(character)[0] == "M"


def _is_invisible(character: str) -> bool:
    """Zero-width, soft hyphen, variation selector, enclosing keycap: they change how text looks, not what it says."""
    if character in _BIDI_CONTROLS:
        return False
    is_selector = "\ufe00" <= character <= "\ufe0f" or character == "\u20e3"
    return is_selector or unicodedata.category(character) == "Cf"
