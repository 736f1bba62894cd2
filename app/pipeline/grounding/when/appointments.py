"""The day and the hour asked for, over all turns: the latest statement counts, and an accepted suggestion is one."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from typing import Any, Generic, TypeVar

from app.pipeline.grounding.discourse.corrections import Strength, replaced_by
from app.pipeline.grounding.facts import Evidence, FactStatus
from app.pipeline.grounding.mentions import MOST_MENTIONS, DateKind, Mention, TimeKind, TimeMention
from app.pipeline.grounding.readings import Reading, SensedMention, evidence_of, missing, too_many
from app.pipeline.grounding.scan import Scan
from app.pipeline.grounding.text.numerals import read_ordinal
from app.pipeline.grounding.text.passage import Passage, Phrases
from app.pipeline.grounding.when import words
from app.pipeline.grounding.when.context import NOT_ASKED

When = TypeVar("When", date, time)

DAY_OF_MOMENT = "the day of the moment named"

_SEVERAL = "the text names several"
_OTHER_APPOINTMENT = "the words are about changing an appointment, or about none"
_SUGGESTED = "the assistant suggested another one afterwards, and it is not clear that the customer accepted it"
_LOOSE_NUMBER = "a later turn has an unexplained number that may replace it"
_LONGEST_REFUSAL = 5
_WITHDRAWN_WITHIN = 4
"""Sentences."""
_WITHDRAWN = "the customer may have taken it back afterwards"
_LARGEST_DAY_OR_HOUR = 31

_ACCEPTS = Phrases(
    """
    yes; yes please; yep; yeah; yup; ok; okay; sure; perfect; great; lovely; brilliant; fine; that's fine;
    thats fine; that works; that suits; that would be; that'd be; that is fine; that is perfect; that's perfect;
    that's great; sounds good; sounds great; sounds perfect; works for me; go ahead; please do; correct;
    that's right; that's it; exactly; ideal; wonderful
    """
)
_REFUSES = frozenset(
    {"no", "not", "can't", "cant", "cannot", "but", "instead", "rather", "won't", "nope", "unfortunately", "unless"}
)
_LIVE_DATES = frozenset({DateKind.ABSOLUTE, DateKind.RELATIVE, DateKind.PAST})
_LIVE_TIMES = frozenset({TimeKind.TIME, TimeKind.RELATIVE})
_OTHERS = frozenset({DateKind.OTHER, TimeKind.OTHER})
_UNSETTLED = frozenset({DateKind.AMBIGUOUS, DateKind.IMPOSSIBLE, TimeKind.AMBIGUOUS})


@dataclass(frozen=True)
class _Located(Generic[When]):
    scan: Scan
    mention: Mention[When]
    kind: Any

    @property
    def evidence(self) -> Evidence:
        return evidence_of(self.scan, self.mention)


def read_date(scans: Sequence[Scan], assistant: Sequence[Scan], now: datetime) -> Reading[date]:
    located = [_Located(scan, mention, mention.kind) for scan in scans for mention in scan.dates]
    if len(located) > MOST_MENTIONS:
        return too_many(_sensed(located))
    located = _corrected(scans, located, DateKind.CORRECTED)
    offered = [
        _Located(scan, mention, DateKind.ABSOLUTE)
        for scan in assistant
        for mention in scan.dates
        if mention.kind is not DateKind.OTHER and mention.first != mention.last
    ]
    located = [_referring(each, [*offered, *located]) for each in located]
    reading = _read(located, scans, assistant, _LIVE_DATES, lambda scan: scan.dates)
    if reading.status is FactStatus.MISSING:
        reading = _day_of_moment(scans, now, reading)
    return replace(reading, mentions=_sensed(located))


def read_time(scans: Sequence[Scan], assistant: Sequence[Scan]) -> Reading[time]:
    located = [_Located(scan, mention, mention.kind) for scan in scans for mention in scan.times]
    if len(located) > MOST_MENTIONS:
        return too_many(_sensed(located))
    located = _corrected(scans, located, TimeKind.CORRECTED)
    reading = _read(located, scans, assistant, _LIVE_TIMES, lambda scan: scan.times)
    return replace(reading, mentions=_sensed(located))


def _sensed(located: Sequence["_Located[Any]"]) -> tuple[SensedMention, ...]:
    return tuple(SensedMention(each.scan, replace(each.mention, kind=each.kind)) for each in located)


def _day_of_moment(scans: Sequence[Scan], now: datetime, otherwise: Reading[date]) -> Reading[date]:
    """ "in half an hour" names a day as well."""
    for scan in reversed(scans):
        for mention in scan.times:
            if mention.kind is TimeKind.RELATIVE and mention.day_offset is not None:
                day = now.date() + timedelta(days=mention.day_offset)
                return Reading(day, FactStatus.VERIFIED, (evidence_of(scan, mention),), DAY_OF_MOMENT, is_plain=True)
    return otherwise


def _corrected(scans: Sequence[Scan], located: list[_Located[When]], corrected: Any) -> list[_Located[When]]:
    taken_back: set[tuple[int, int]] = set()
    for scan in scans:
        own = [each for each in located if each.scan is scan and each.kind in _LIVE_DATES | _LIVE_TIMES | _UNSETTLED]
        for thought in scan.second_thoughts:
            replaced = replaced_by(scan.passage, thought, [each.mention for each in own])
            if replaced is None or replaced[1].value is None:
                continue
            if thought.strength is Strength.SOFT and len(replaced[0]) > 1:
                continue
            taken_back.update((scan.message, mention.first) for mention in replaced[0])
    return [
        _Located(each.scan, each.mention, corrected) if (each.scan.message, each.mention.first) in taken_back else each
        for each in located
    ]


def _referring(each: _Located[date], located: Sequence[_Located[date]]) -> _Located[date]:
    """A weekday or "the 8th" of a later turn that fits a day named before means that day again."""
    value = each.mention.value
    if each.kind is not DateKind.RELATIVE or value is None or each.mention.last - each.mention.first > 1:
        return each
    word = each.scan.passage.word(each.mention.last)
    if word not in words.WEEKDAYS:
        return each
    if each.scan.passage.word(each.mention.first - 1) == "the":
        return _of_the_same_week(each, located)
    for other in located:
        day = other.mention.value
        is_earlier = (other.scan.message, other.mention.first) < (each.scan.message, each.mention.first)
        if is_earlier and other.kind is DateKind.ABSOLUTE and day is not None and day.weekday() == value.weekday():
            return _Located(each.scan, replace(each.mention, value=day), each.kind)
    return each


def _of_the_same_week(each: _Located[date], located: Sequence[_Located[date]]) -> _Located[date]:
    """ "the Thursday", said of a day taken back: the Thursday of that week."""
    before = [
        o
        for o in located
        if o.kind is DateKind.CORRECTED and o.mention.value is not None and o.scan.message <= each.scan.message
    ]
    if not before or before[-1].mention.value is None:
        return each
    old = before[-1].mention.value
    day = old + timedelta(days=words.WEEKDAYS[each.scan.passage.word(each.mention.last)] - old.weekday())
    return _Located(each.scan, replace(each.mention, value=day), each.kind)


def _read(
    located: Sequence[_Located[When]],
    scans: Sequence[Scan],
    assistant: Sequence[Scan],
    live: frozenset[Any],
    mentions: Any,
) -> Reading[When]:
    explained = frozenset(
        each.mention.value for each in located if each.mention.value is not None and each.kind not in live
    )
    speaking = [each for each in located if each.kind in live or each.kind in _UNSETTLED]
    latest = max((each.scan.message for each in speaking), default=-1)
    accepted = _accepted(scans, assistant, latest, mentions, live)
    if accepted is not None:
        return accepted
    current = [each for each in speaking if each.scan.message == latest]
    if not current:
        return missing(explained)
    explained |= {
        each.mention.value for each in speaking if each.scan.message < latest and each.mention.value is not None
    }
    evidence = tuple(each.evidence for each in current)
    doubt = _doubt(current, live) or _doubt_of_dialogue(scans, assistant, current, latest, mentions, located)
    if doubt is not None:
        return Reading(None, doubt[0], evidence, doubt[1], explained=explained)
    settled = _without_past([each for each in current if each.kind in live])
    return Reading(
        settled[0].mention.value,
        FactStatus.VERIFIED,
        tuple(each.evidence for each in settled),
        "the text states it",
        is_plain=True,
        explained=explained - {settled[0].mention.value},
    )


def _doubt(current: Sequence[_Located[When]], live: frozenset[Any]) -> tuple[FactStatus, str] | None:
    settled = _without_past([each for each in current if each.kind in live])
    values = {each.mention.value for each in settled}
    loose = [each for each in current if each.kind not in live]
    serious = [each for each in loose if not (settled and _only_narrows(each, settled))]
    if serious:
        first = serious[0]
        status = FactStatus.IMPOSSIBLE if first.kind is DateKind.IMPOSSIBLE else FactStatus.AMBIGUOUS
        return status, first.mention.note
    return (FactStatus.AMBIGUOUS, _SEVERAL) if len(values) > 1 else None


def _without_past(settled: list[_Located[When]]) -> list[_Located[When]]:
    """A day gone by is asked for only where no other is."""
    return [each for each in settled if each.kind is not DateKind.PAST] or settled


def _only_narrows(each: _Located[When], settled: Sequence[_Located[When]]) -> bool:
    """ "tomorrow morning at 10:30", "next week, Tuesday 8 December": the vaguer word says nothing else."""
    if each.mention.note == NOT_ASKED:  # "I'll pay that tonight. Tuesday 8 December please"
        return any(other.mention.first > each.mention.last for other in settled)
    if isinstance(each.mention, TimeMention):
        part = each.scan.passage.word(each.mention.first)
        return part in words.DAY_PARTS and all(
            isinstance(other.mention.value, time) and other.mention.value.hour in words.DAY_PARTS[part]
            for other in settled
        )
    vague = each.scan.passage.word(each.mention.last)
    return (vague in ("week", "month", "fortnight") or vague in words.MONTHS) and all(
        other.kind is DateKind.ABSOLUTE for other in settled
    )


def _doubt_of_dialogue(
    scans: Sequence[Scan],
    assistant: Sequence[Scan],
    current: Sequence[_Located[When]],
    latest: int,
    mentions: Any,
    speaking: Sequence[_Located[When]],
) -> tuple[FactStatus, str] | None:
    if any(words.OPEN_ANYWHERE.stand_in(scan.passage) for scan in scans):
        return FactStatus.AMBIGUOUS, _OTHER_APPOINTMENT
    said = {each.mention.value for each in current}
    suggested = [mention.value for scan in assistant if scan.message > latest for mention in mentions(scan)]
    if any(value not in said for value in suggested):
        return FactStatus.AMBIGUOUS, _SUGGESTED
    if any(each.kind in _OTHERS and each.mention.value in said and _is_later(each, current) for each in speaking):
        return FactStatus.AMBIGUOUS, _WITHDRAWN
    if any(_has_loose_number(scan) for scan in scans if scan.message > latest):
        return FactStatus.AMBIGUOUS, _LOOSE_NUMBER
    if _is_denied(current, speaking):
        return FactStatus.AMBIGUOUS, _WITHDRAWN
    last = max(each.mention.last for each in current)
    for scan in scans:
        if scan.message < latest:
            continue
        start = last if scan.message == latest else 0
        if any(
            found.start >= start and _is_near(scan, found, start) and not _is_restated(scan, found.stop)
            for found in words.WITHDRAWS.find(scan.passage)
        ):
            return FactStatus.AMBIGUOUS, _WITHDRAWN
        if scan.message > latest and (_is_negated(scan) or _is_plain_no(scan)):
            return FactStatus.AMBIGUOUS, _WITHDRAWN
    return None


def _is_later(each: "_Located[Any]", current: Sequence["_Located[Any]"]) -> bool:
    last = max((other.scan.message, other.mention.last) for other in current)
    return (each.scan.message, each.mention.first) > last


def _is_near(scan: Scan, found: range, start: int) -> bool:
    """Words pages after the request are about something else."""
    return scan.passage.sentence(found.start) - scan.passage.sentence(start) <= _WITHDRAWN_WITHIN


def _is_denied(current: Sequence["_Located[Any]"], every: Sequence["_Located[Any]"]) -> bool:
    """ "Wednesday 9 December. Sorry, not Wednesday." """
    days = {each.mention.value.weekday() for each in current if isinstance(each.mention.value, date)}
    return any(
        each.kind is DateKind.CORRECTED
        and isinstance(each.mention.value, date)
        and each.mention.value.weekday() in days
        and _is_later(each, current)
        for each in every
    )


def _is_restated(scan: Scan, position: int) -> bool:
    """Another day is named afterwards."""
    return any(mention.first >= position and mention.kind in _LIVE_DATES for mention in scan.dates)


def _is_negated(scan: Scan) -> bool:
    """A later turn says no to something that is not an age or a price."""
    passage = scan.passage
    wanting = words.NEGATED_BUT_WANTING.positions(passage)
    spoken_of = {passage.clause(mention.first) for mention in (*scan.ages, *scan.money)}
    return any(
        position not in wanting and passage.clause(position) not in spoken_of
        for word in words.NEGATED & passage.all_words
        for position in passage.places[word]
    )


def _is_plain_no(scan: Scan) -> bool:
    """ "No.", "nope, sorry": a refusal that says nothing else."""
    says_more = any((scan.ages, scan.money, scan.bare_ages)) or len(scan.passage.words) > _LONGEST_REFUSAL
    return scan.passage.word(0) in ("no", "nope", "nah") and not says_more


def _has_loose_number(scan: Scan) -> bool:
    bare = {age.first for age in scan.bare_ages}
    return any(
        numeral.whole is not None
        and numeral.whole <= _LARGEST_DAY_OR_HOUR
        and numeral.first not in bare
        and not numeral.in_words
        for numeral in scan.strays
    )


def _accepted(
    scans: Sequence[Scan], assistant: Sequence[Scan], latest: int, mentions: Any, live: frozenset[Any]
) -> Reading[Any] | None:
    """The one value of the assistant's question that a customer's "yes" or "the second one" picks."""
    for scan in reversed(scans):
        if scan.message <= latest:
            return None
        question = next((each for each in reversed(assistant) if each.message < scan.message), None)
        if question is None:
            continue
        values = _offered(question, mentions(question))
        if not values:
            continue
        span = _picks(scan.passage, len(values))
        if span is None:
            continue
        place, first, last = span
        evidence = (scan.passage.evidence(first, last),)
        earlier = {m.value for each in scans for m in mentions(each)}
        others = frozenset({*values, *earlier} - {values[place], None})
        note = "accepted from the assistant's question"
        return Reading(values[place], FactStatus.VERIFIED, evidence, note, is_plain=True, explained=others)
    return None


def _offered(question: Scan, mentions: Sequence[Mention[Any]]) -> list[Any]:
    """The days, or hours, that the assistant names as free, each once."""
    passage = question.passage
    unavailable = {
        passage.sentence(at) for word in words.UNAVAILABLE & passage.all_words for at in passage.places[word]
    }
    free = [m for m in mentions if m.kind not in _OTHERS and passage.sentence(m.first) not in unavailable]
    return list(dict.fromkeys(m.value for m in free if m.value is not None))


def _picks(passage: Passage, count: int) -> tuple[int, int, int] | None:
    """Which of the assistant's values the message picks, and the tokens that do."""
    if count == 1:
        found = _ACCEPTS.begin_at(passage, 0)
        is_clear = found is not None and _REFUSES.isdisjoint(passage.all_words)
        return (0, found.start, found.stop - 1) if found is not None and is_clear else None
    if not _REFUSES.isdisjoint(passage.all_words):
        return None
    for position in range(min(8, len(passage.words))):
        ordinal = read_ordinal(passage, position)
        word = passage.word(position)
        if ordinal is not None and passage.word(ordinal[1] + 1) in ("one", "date", "option", "please", "", ",", "."):
            return (ordinal[0] - 1, position, ordinal[1]) if ordinal[0] <= count else None
        if count == 2 and word in ("former", "latter", "earlier", "later"):
            return (int(word in ("latter", "later")), position, position)
    return None
