"""Whether the words around make a day or an hour the one asked for, another one, or leave it open."""

from collections.abc import Set
from dataclasses import replace
from typing import TypeVar

from app.pipeline.grounding.mentions import DateKind, DateMention, TimeKind, TimeMention
from app.pipeline.grounding.text.numerals import NUMBER_WORDS
from app.pipeline.grounding.text.passage import Passage, whole_number
from app.pipeline.grounding.text.tokens import Kind
from app.pipeline.grounding.when import words

When = TypeVar("When", DateMention, TimeMention)

_REACH_BEFORE = 3
_REACH_AFTER = 3
_TAIL_REACH = 12
_ZONE_REACH = 3
"""Tokens after an hour: "10am New York time"."""
_JOIN_REACH = 4
"""Tokens between a day and the hour that goes with it."""

_OPEN = "the words around leave the day or the hour open"
NOT_ASKED = "nothing around it shows that this day or hour is asked for"
_ODD = "the rest of the clause may say that it does not suit"
_NOT_REQUESTED = "the words around say that it is another day or hour than the one asked for"
_OTHER_ZONE = "the hour may be of another clock than the clinic's"
_CONTRADICTION = "the part of the day contradicts the hour"
_JOINERS = frozenset({",", "at", "@", "from", "on", "(", "-", "around", "for", "the", "."})

_LIVE = frozenset({DateKind.ABSOLUTE, DateKind.RELATIVE, DateKind.PAST, TimeKind.TIME, TimeKind.RELATIVE})


class WhenContext:
    """The words of one passage that bear on its days and hours."""

    def __init__(self, passage: Passage, taken: Set[int]) -> None:
        """taken: positions that are a price, an age, a day, an hour or a number of something."""
        self._passage = passage
        self._taken = taken
        harmless = words.HARMLESS.positions(passage)
        self._other_clauses = {
            passage.clause(found.start)
            for found in words.OTHER_IN_CLAUSE.find(passage)
            if found.start not in harmless and (found.stop - 1) not in harmless
        }
        self._open_sentences = {
            passage.sentence(found.start)
            for found in words.OPEN_IN_SENTENCE.find(passage)
            if found.start not in harmless
        }
        wanting = words.NEGATED_BUT_WANTING.positions(passage)
        self._negated_clauses = {
            passage.clause(position)
            for word in passage.all_words
            if word in words.NEGATED or word.endswith("n't")
            for position in passage.places[word]
            if position not in wanting
        }
        self._wanted = words.MEANS_WANTED.positions(passage)
        self._day_parts = _day_parts(passage)
        self._asked: dict[int, bool] = {}

    def weigh_dates(self, mentions: list[DateMention]) -> list[DateMention]:
        starts, ends = {mention.first for mention in mentions}, {mention.last for mention in mentions}
        return [self._weighed(mention, starts, ends, DateKind) for mention in mentions]

    def weigh_times(self, mentions: list[TimeMention], dates: list[DateMention]) -> list[TimeMention]:
        starts, ends = {mention.first for mention in mentions}, {mention.last for mention in mentions}
        weighed = [self._weighed(mention, starts, ends, TimeKind) for mention in mentions]
        return [self._with_its_day(self._on_this_clock(mention), dates) for mention in weighed]

    def _weighed(self, mention: When, starts: set[int], ends: set[int], kinds: type[DateKind] | type[TimeKind]) -> When:
        passage = self._passage
        clause = passage.clause(mention.first)
        if passage.word(mention.first - 1) == "not":
            return replace(mention, kind=kinds.CORRECTED, note=_NOT_REQUESTED)
        if clause in self._other_clauses or clause in self._negated_clauses:
            return replace(mention, kind=kinds.OTHER, note=_NOT_REQUESTED)
        if mention.kind not in _LIVE:
            return mention
        if self._is_open(mention, starts, ends) or passage.sentence(mention.first) in self._open_sentences:
            return replace(mention, kind=kinds.AMBIGUOUS, note=_OPEN)
        if not self._is_asked(mention):
            return replace(mention, kind=kinds.AMBIGUOUS, note=NOT_ASKED)
        if self._is_doubted_after(mention.last):
            return replace(mention, kind=kinds.AMBIGUOUS, note=_ODD)
        return mention

    def _is_open(self, mention: DateMention | TimeMention, starts: set[int], ends: set[int]) -> bool:
        passage, before_at, after_at = self._passage, mention.first - 1, mention.last + 1
        for distance, word in enumerate(passage.before(mention.first, _REACH_BEFORE), start=1):
            is_near = word in words.OPENS_BEFORE and (distance == 1 or word not in words.OPENS_NEXT_TO)
            if is_near and mention.first - distance not in self._wanted:
                return True
            if mention.first - distance in self._taken:
                break
        if words.OPENS_AFTER.intersection(passage.after(mention.last, _REACH_AFTER)):
            return True
        if passage.word(after_at) in words.SPAN_LINKS and self._is_when(after_at + 1, starts):
            return True
        follows_another = passage.word(before_at) in words.SPAN_LINKS and before_at - 1 in ends
        if follows_another and passage.same_clause(before_at, mention.first):
            return True
        is_stuck = passage.word(after_at) in ("-", "+") and passage.is_glued(after_at)
        return is_stuck or self._continues_before(mention, before_at)

    def _is_when(self, position: int, starts: set[int]) -> bool:
        """Whether another day or hour begins here, marked or not."""
        at = position + (self._passage.word(position) in ("on", "at", "the"))
        number = whole_number(self._passage.word(at))
        is_bare = number is not None and number <= 31 and not self._passage.is_word(at + 1) and at not in self._taken
        return position in starts or at in starts or is_bare

    def _continues_before(self, mention: DateMention | TimeMention, before_at: int) -> bool:
        """ "twenty to four pm", "two ten pm", "10 10 am": the mention is the end of a longer one."""
        if not isinstance(mention, TimeMention) or before_at in self._taken:
            return False
        word = self._passage.word(before_at)
        number = whole_number(word)
        has_number = self._passage.is_number(before_at) and number is not None and number < 100
        same_clause = self._passage.same_clause(mention.first, before_at)
        return same_clause and (word in ("to", "past", "of", "-") or word in NUMBER_WORDS | {"one"} or has_number)

    def _is_asked(self, mention: DateMention | TimeMention) -> bool:
        """A clause that says more of a day or hour than its name must show that it is asked for."""
        clause = self._passage.clause(mention.first)
        if clause not in self._asked:
            said = [
                token.text
                for at, token in enumerate(self._passage.tokens)
                if token.clause == clause and at not in self._taken and token.kind is Kind.WORD
            ]
            self._asked[clause] = words.NEUTRAL.issuperset(said) or not words.ASKS.isdisjoint(said)
        return self._asked[clause]

    def _is_doubted_after(self, last: int) -> bool:
        """Whether the rest of the clause says that it may not suit."""
        tokens = self._passage.tokens
        for position in range(last + 1, min(len(tokens), last + 1 + _TAIL_REACH)):
            token = tokens[position]
            if token.clause != tokens[last].clause or token.text in words.BEGINS_ANOTHER_THOUGHT:
                return False
            if token.text in words.DOUBTS_AFTER:
                return True
        return False

    def _on_this_clock(self, mention: TimeMention) -> TimeMention:
        if mention.kind is not TimeKind.TIME or mention.value is None:
            return mention
        parts = self._day_parts.get(self._passage.sentence(mention.first), set())
        if any(mention.value.hour not in words.DAY_PARTS[part] for part in parts):
            return mention.of_kind(TimeKind.AMBIGUOUS, _CONTRADICTION)
        if words.ZONES.intersection(self._passage.after(mention.last, _ZONE_REACH)):
            return mention.of_kind(TimeKind.AMBIGUOUS, _OTHER_ZONE)
        return mention

    def _with_its_day(self, mention: TimeMention, dates: list[DateMention]) -> TimeMention:
        """An hour right beside a day that is not asked for goes with that day."""
        if mention.kind is not TimeKind.TIME:
            return mention
        for day in dates:
            if day.kind is DateKind.OTHER and _are_joined(self._passage, day, mention):
                return mention.of_kind(TimeKind.OTHER, _NOT_REQUESTED)
        return mention


def _are_joined(passage: Passage, one: DateMention, other: TimeMention) -> bool:
    first, last = (one, other) if one.last < other.first else (other, one)
    between = range(first.last + 1, last.first)
    return len(between) <= _JOIN_REACH and all(passage.word(at) in _JOINERS for at in between)


def _day_parts(passage: Passage) -> dict[int, set[str]]:
    """Sentence -> the parts of the day it names, greetings left out."""
    parts: dict[int, set[str]] = {}
    for word in words.DAY_PARTS.keys() & passage.all_words:
        for position in passage.places[word]:
            is_opening = position == 0 and passage.word(1) in (",", "!", ".", "all") and not passage.is_number(2)
            is_greeting = passage.word(position - 1) == "good" or is_opening
            if not is_greeting:
                parts.setdefault(passage.sentence(position), set()).add(word)
    return parts
