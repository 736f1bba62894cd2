"""A reply as it is generated: what may be shown of it so far, whole sentences that agree with the decision."""

import json
import re
from collections.abc import Callable

from app.pipeline.design import MAX_RESPONSE_CHARACTERS

Say = Callable[[str, bool], None]
"""Takes a piece of the reply, and whether it stands in place of everything said before."""

Agrees = Callable[[str], bool]
"""Whether a reply that began like this would agree with the decision."""

_TEXT_BEGINS = re.compile(r'"response_text"\s*:\s*"')
_WHOLE_CHARACTERS = re.compile(r'(?:[^"\\]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*')
_SENTENCE_ENDS = re.compile(r"[.!?\u2026][\"')\]\u201d\u2019]*(?=\s)")


class SpokenReply:
    """Says sentences as they become whole, as long as all of them together agree with the decision.

    Whatever was said, `settle` leaves the listener with the final text: said on to its end, or said in its place.
    """

    def __init__(self, agrees: Agrees, say: Say) -> None:
        self._agrees = agrees
        self._say = say
        self._raw = ""
        self._said = ""
        self._stopped = False

    def hear(self, piece: str) -> None:
        """The next piece of the model's JSON output."""
        self._raw += piece
        if self._stopped:
            return
        text = text_so_far(self._raw)
        for end in _sentence_ends(text):
            if end > len(self._said) and not self._stopped:
                self._say_if_it_agrees(text[:end])

    def _say_if_it_agrees(self, sentences: str) -> None:
        if len(sentences) > MAX_RESPONSE_CHARACTERS or not self._agrees(sentences):
            self._stopped = True
            return
        self._say(sentences[len(self._said) :], False)
        self._said = sentences

    def settle(self, text: str) -> None:
        """`text` is the reply as it is sent and kept."""
        if not text.startswith(self._said):
            self._say(text, True)
        elif len(text) > len(self._said):
            self._say(text[len(self._said) :], False)
        self._said = text


def text_so_far(raw: str) -> str:
    """The beginning of `response_text` in JSON that is still being written; empty before it begins."""
    begins = _TEXT_BEGINS.search(raw)
    if begins is None:
        return ""
    whole = _WHOLE_CHARACTERS.match(raw, begins.end())
    assert whole is not None, "it also matches nothing"
    text = str(json.loads(f'"{whole[0]}"', strict=False))
    # Half of a surrogate pair: its other half is still to come.
    return (text[:-1] if text and "\ud800" <= text[-1] <= "\udbff" else text).lstrip()


def _sentence_ends(text: str) -> list[int]:
    return [match.end() for match in _SENTENCE_ENDS.finditer(text)]
