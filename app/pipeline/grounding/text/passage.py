"""One message of a conversation, tokenised and indexed, and tables of phrases to look for in it."""

from collections.abc import KeysView, Sequence
from functools import cached_property

from app.pipeline.grounding.facts import Evidence
from app.pipeline.grounding.language.glossaries import Glossary, find_glossary, into_english, with_plain_hours
from app.pipeline.grounding.text.normalise import NormalisedText, normalise
from app.pipeline.grounding.text.tokens import Kind, Token, tokenise

_CLOSING_MARKS = frozenset(",;.!?)")


class Passage:
    """Positions outside it read as the empty word, so that looking around is always safe."""

    def __init__(self, message: int, content: str, like: "Passage | None" = None) -> None:
        """like: a passage in whose language this one is, too short to tell by itself."""
        self.message = message
        self.content = content
        self.normalised: NormalisedText = normalise(content)
        tokens = tokenise(self.normalised.text)
        self.glossary: Glossary | None = like.glossary if like else find_glossary(tokens)
        self.tokens: list[Token] = into_english(tokens, self.glossary) if self.glossary else with_plain_hours(tokens)
        self.words: list[str] = [token.text for token in self.tokens]
        self.numbers: list[int] = [at for at, token in enumerate(self.tokens) if token.kind is Kind.NUMBER]
        """Positions of the number tokens."""
        self._count = len(self.words)
        self.places: dict[str, list[int]] = {}
        """Word -> the positions where it stands."""
        for position, word in enumerate(self.words):
            self.places.setdefault(word, []).append(position)

    def word(self, position: int) -> str:
        return self.words[position] if 0 <= position < self._count else ""

    def is_kind(self, position: int, kind: Kind) -> bool:
        return 0 <= position < self._count and self.tokens[position].kind is kind

    def is_number(self, position: int) -> bool:
        return self.is_kind(position, Kind.NUMBER)

    def is_word(self, position: int) -> bool:
        return self.is_kind(position, Kind.WORD)

    def is_currency(self, position: int) -> bool:
        return self.is_kind(position, Kind.CURRENCY)

    def is_glued(self, position: int) -> bool:
        """Whether the token at position touches the one before."""
        return 0 < position < self._count and self.tokens[position].glued

    def is_signed(self, position: int) -> bool:
        """Whether a minus stands before the number or amount at position."""
        return self.word(position - 1) == "-" and self.is_glued(position) and not self.is_glued(position - 1)

    def sentence(self, position: int) -> int:
        return self.tokens[position].sentence

    def clause(self, position: int) -> int:
        return self.tokens[position].clause

    def same_clause(self, one: int, other: int) -> bool:
        inside = 0 <= one < self._count and 0 <= other < self._count
        return inside and self.tokens[one].clause == self.tokens[other].clause

    def before(self, position: int, count: int) -> list[str]:
        """Up to count tokens before position, nearest first, within its clause."""
        words: list[str] = []
        clause = self.tokens[position].clause
        for at in range(position - 1, max(-1, position - 1 - count), -1):
            if self.tokens[at].clause != clause:
                break
            words.append(self.words[at])
        return words

    def after(self, position: int, count: int) -> list[str]:
        """Up to count tokens after position, nearest first, within its clause."""
        words: list[str] = []
        clause = self.tokens[position].clause
        for at in range(position + 1, min(self._count, position + 1 + count)):
            if self.tokens[at].clause != clause:
                break
            words.append(self.words[at])
        return words

    def stands_alone(self, first: int, last: int) -> bool:
        """Whether these tokens are a clause of their own."""
        is_last = not self.same_clause(first, last + 1) or self.word(last + 1) in _CLOSING_MARKS
        return not self.same_clause(first, first - 1) and is_last

    def stands_first(self, position: int) -> bool:
        """Whether the token begins its clause."""
        return not self.same_clause(position, position - 1)

    def evidence(self, first: int, last: int) -> Evidence:
        start = self.normalised.starts[self.tokens[first].start]
        end = self.normalised.ends[self.tokens[last].end - 1]
        return Evidence(self.message, start, end, self.content[start:end])

    @property
    def all_words(self) -> KeysView[str]:
        return self.places.keys()

    @cached_property
    def phrases(self) -> dict["Phrases", list[range]]:
        """Of every table, where its phrases stand."""
        return _find_phrases(self)

    @cached_property
    def sentence_words(self) -> dict[int, set[str]]:
        words: dict[int, set[str]] = {}
        for token in self.tokens:
            words.setdefault(token.sentence, set()).add(token.text)
        return words

    @cached_property
    def clause_words(self) -> dict[int, set[str]]:
        words: dict[int, set[str]] = {}
        for token in self.tokens:
            words.setdefault(token.clause, set()).add(token.text)
        return words


class Phrases:
    """A table of phrases, found as whole words in a row within one sentence, commas between them ignored.

    All tables share one tree of words, so that a passage is read once for all of them.
    """

    def __init__(self, text: str) -> None:
        """Separated by semicolons."""
        for phrase in text.split(";"):
            _TREE.add(tuple(phrase.split()), self)

    def find(self, passage: Passage) -> Sequence[range]:
        """The positions of each phrase found, in reading order."""
        return passage.phrases.get(self, ())

    def stand_in(self, passage: Passage) -> bool:
        return self in passage.phrases

    def positions(self, passage: Passage) -> set[int]:
        """Every position that belongs to one of them."""
        return {at for found in self.find(passage) for at in found}

    def end_before(self, passage: Passage, position: int) -> bool:
        """Whether one of them stands right before position."""
        return any(found.stop == position for found in self.find(passage))

    def begin_at(self, passage: Passage, position: int) -> range | None:
        """The longest one that starts at position, in the sentence of the token before it."""
        if 0 < position < len(passage.tokens) and passage.sentence(position) != passage.sentence(position - 1):
            return None
        return max((found for found in self.find(passage) if found.start == position), key=len, default=None)


class _Tree:
    """Words on the way to the tables whose phrase ends here."""

    def __init__(self) -> None:
        self.next: dict[str, _Tree] = {}
        self.tables: list[Phrases] = []

    def add(self, words: tuple[str, ...], table: Phrases) -> None:
        if not words:
            return
        node = self
        for word in words:
            node = node.next.setdefault(word, _Tree())
        node.tables.append(table)


_TREE = _Tree()


def _find_phrases(passage: Passage) -> dict[Phrases, list[range]]:
    found: dict[Phrases, list[range]] = {}
    words, tokens, roots = passage.words, passage.tokens, _TREE.next
    for first, word in enumerate(words):
        root = roots.get(word)
        if root is None:
            continue
        sentence = tokens[first].sentence
        open_ends = [(root, first + 1)]
        while open_ends:
            node, stop = open_ends.pop()
            for table in node.tables:
                found.setdefault(table, []).append(range(first, stop))
            if not node.next or stop >= len(words) or tokens[stop].sentence != sentence:
                continue
            if (following := node.next.get(words[stop])) is not None:
                open_ends.append((following, stop + 1))
            if words[stop] == "," and stop + 1 < len(words) and tokens[stop + 1].sentence == sentence:
                following = node.next.get(words[stop + 1])
                if following is not None:
                    open_ends.append((following, stop + 2))
    return found


def word_set(words: str) -> frozenset[str]:
    """A table of single words, written as one text."""
    return frozenset(words.split())


def whole_number(text: str) -> int | None:
    """A short run of digits as a number; anything longer names something rather than counting it."""
    return int(text) if text.isdecimal() and len(text) <= 9 else None
