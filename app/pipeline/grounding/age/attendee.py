"""Who attends, and how old that person is today."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from app.pipeline.grounding.age import words
from app.pipeline.grounding.age.cues import SOMEBODY, UNCLEAR, WRITER
from app.pipeline.grounding.discourse.corrections import replaced_by
from app.pipeline.grounding.facts import Evidence, FactStatus
from app.pipeline.grounding.mentions import MOST_MENTIONS, AgeKind, AgeMention
from app.pipeline.grounding.readings import Reading, SensedMention, evidence_of, missing, too_many
from app.pipeline.grounding.scan import Scan
from app.pipeline.grounding.text.passage import Passage

Questions = Mapping[int, Passage]
"""Message -> what the assistant said right before it."""

_NOT_CLEAR = "it is not clear whose age counts"
_SEVERAL = "the text gives several ages"
_BARE = "the only unexplained number, in a clause of its own"

_SPEAKS = words.FIRST_PERSON - {"my", "we", "we're"}
"""The writer as the one who acts: "my son is 13" alone does not make the writer the one attending."""

_COUNTED = frozenset({AgeKind.ATTENDEE, AgeKind.FUTURE, AgeKind.BIRTH_DATE})
_HARMLESS_BEFORE = frozenset({"with", "from", "by", "like", "than", "via", "through", "as", "unlike", "thanks"})
_HARMLESS_AFTER = frozenset({"wedding", "recommendation", "birthday", "advice", "friend", "car"})
_ACQUAINTANCES = frozenset({"friend", "mate", "colleague", "neighbour", "boss", "pal"})
_KIN = frozenset().union(*words.SAME_PERSON[2:6])
_VOCATIVES = frozenset({"mate", "pal", "boss", "lady", "man", "girl", "boy"})
""" "for the lot, mate"."""
_DETERMINERS = frozenset({"my", "our", "his", "her", "their", "a", "best", "old", "this"})
_DRIVES = frozenset(
    {
        "driving",
        "drives",
        "dropping",
        "collecting",
        "bringing",
        "paying",
        "waiting",
        "coming with",
        "drive",
        "drop",
        "collect",
        "bring",
        "pay",
        "wait",
        "pick",
        "accompany",
        "lift",
        "come",
        "join",
        "sit",
    }
)


@dataclass(frozen=True)
class _Located:
    scan: Scan
    mention: AgeMention
    owner: str
    """The pronoun's person, where one was named before."""

    @property
    def evidence(self) -> Evidence:
        return evidence_of(self.scan, self.mention)


def read_age(scans: Sequence[Scan], assistant: Sequence[Scan]) -> Reading[int]:
    spoken = [SensedMention(scan, mention) for scan in scans for mention in scan.ages]
    if len(spoken) > MOST_MENTIONS:
        return too_many(spoken)
    located = _corrected(scans, _located(scans))
    asked = {scan.message + 1: scan.passage for scan in assistant}
    named = _named_in_answer(scans, asked)
    attendee = (named or _attendee(scans, located, bool(assistant))) if located else None
    reading = _read(scans, asked, located, attendee)
    bare = [
        (scan, mention)
        for scan in scans
        for mention in scan.bare_ages
        if evidence_of(scan, mention) in reading.evidence
    ]
    mentions = [SensedMention(each.scan, _sensed(each, attendee)) for each in located]
    return replace(reading, mentions=(*mentions, *(SensedMention(scan, mention) for scan, mention in bare)))


def _sensed(each: "_Located", attendee: str | None) -> AgeMention:
    is_other = attendee is not None and each.owner not in (attendee, SOMEBODY)
    return each.mention.of_kind(AgeKind.OTHER) if is_other and each.mention.kind in _COUNTED else each.mention


def _read(scans: Sequence[Scan], asked: Questions, located: Sequence["_Located"], attendee: str | None) -> Reading[int]:
    if not located:
        return _read_bare(scans, asked)
    explained = frozenset(_other_values(located)) | {int(number) for scan in scans for number in scan.dictated}
    if attendee is None:
        return Reading(None, FactStatus.AMBIGUOUS, _evidence(located), _NOT_CLEAR, explained=explained)
    own = [each for each in located if each.owner in (attendee, SOMEBODY)]
    reading = _value(own, explained)
    if reading.status is not FactStatus.MISSING:
        return _against_bare(reading, scans)
    bare = _read_bare(scans, asked)
    if bare.is_settled:
        return bare
    if attendee == WRITER and any(each.mention.kind in _COUNTED for each in located):
        return Reading(None, FactStatus.AMBIGUOUS, _evidence(located), _NOT_CLEAR, explained=explained)
    return missing(explained)


def _located(scans: Sequence[Scan]) -> list[_Located]:
    found: list[_Located] = []
    people: list[str] = []
    for scan in scans:
        at = 0
        for mention in _spoken(scan, bool(found)):
            people += _people_between(scan.passage, at, mention.last + 1)
            at = mention.last + 1
            found.append(_Located(scan, mention, _person(mention.owner, people)))
        people += _people_between(scan.passage, at, len(scan.passage.words))
    return found


def _spoken(scan: Scan, is_age_known: bool) -> list[AgeMention]:
    """The ages of a message; with a second thought in it, also a bare number that replaces one: "no sorry, 39"."""
    live = any(mention.kind in _COUNTED for mention in scan.ages)
    replacing = scan.bare_ages if scan.second_thoughts and (is_age_known or live) else ()
    return sorted([*scan.ages, *replacing], key=lambda mention: mention.first)


def _people_between(passage: Passage, start: int, stop: int) -> list[str]:
    return [word for at in range(start, stop) if (word := passage.word(at).removesuffix("'s")) in words.PEOPLE]


def _person(owner: str, people: Sequence[str]) -> str:
    """The last person named before that a pronoun can stand for."""
    gender = words.PRONOUNS.get(owner)
    if gender is None:
        return owner
    fitting = {
        "female": words.PEOPLE_FEMALE | words.PEOPLE_EITHER,
        "male": words.PEOPLE_MALE | words.PEOPLE_EITHER,
        "either": words.PEOPLE,
    }[gender]
    return next((person for person in reversed(people) if person in fitting), owner)


def _corrected(scans: Sequence[Scan], located: list[_Located]) -> list[_Located]:
    taken_back: set[tuple[int, int]] = set()
    for scan in scans:
        own = [each for each in located if each.scan is scan and each.mention.kind is not AgeKind.INSTRUCTION]
        for thought in scan.second_thoughts:
            mentions = [each.mention for each in own]
            replaced = replaced_by(scan.passage, thought, mentions)
            if replaced is None:
                continue
            old, new = replaced
            owner = next(each.owner for each in own if each.mention is new)
            taken_back.update(
                (scan.message, each.mention.first)
                for each in own
                if each.mention in old and (each.owner == owner or SOMEBODY in (each.owner, owner))
            )
    return [
        _Located(each.scan, each.mention.of_kind(AgeKind.CORRECTED), each.owner)
        if (each.scan.message, each.mention.first) in taken_back
        else each
        for each in located
    ]


def _other_values(located: Sequence[_Located]) -> set[int]:
    """Ages that are somebody else's, or not today's."""
    values = set()
    for each in located:
        value = each.mention.value
        if value is None:
            continue
        values.add(value)
        if each.mention.kind is AgeKind.FUTURE:
            values.add(value + 1)
    return values


def _attendee(scans: Sequence[Scan], located: Sequence[_Located], is_dialogue: bool) -> str | None:
    """The writer, or a person by the word for them; None where it cannot be told.

    is_dialogue: the assistant has spoken to the writer, so that one who is only spoken of does not attend by default.
    """
    passages = [scan.passage for scan in scans]
    if any(words.BOTH_ATTEND.stand_in(passage) for passage in passages):
        return None
    owners = {each.owner for each in located if each.mention.kind in _COUNTED}
    if UNCLEAR in owners:
        return None
    writer = any(words.WRITER_ATTENDS.stand_in(passage) for passage in passages) and not any(
        words.NOT_THE_WRITER.stand_in(passage) for passage in passages
    )
    others = _attending(scans)
    if len(others) > 1 or (others and writer):
        return None
    if others:
        return _named_alike(others.pop(), owners)
    if any(words.NOT_THE_WRITER.stand_in(passage) for passage in passages):
        strangers = owners - {WRITER, SOMEBODY, "doctor"}
        return strangers.pop() if len(strangers) == 1 else (SOMEBODY if owners == {SOMEBODY} else None)
    if writer:
        return WRITER
    return _by_default(passages, owners, is_dialogue)


def _is_determined(passage: Passage) -> bool:
    """ "my mum", "his nan": spoken of as somebody, not spoken to or for."""
    return any(
        passage.word(position - 1) in _DETERMINERS
        for word in passage.all_words
        if word.removesuffix("'s") in _KIN
        for position in passage.places[word]
    )


def _named_in_answer(scans: Sequence[Scan], asked: Questions) -> str | None:
    """ "Which of you will be coming?" - "Mum will", "me"."""
    for scan in reversed(scans):
        if scan.message not in asked or not words.WHO_QUESTIONS.stand_in(asked[scan.message]):
            continue
        first = [scan.passage.word(at).removesuffix("'s") for at in range(4)]
        if first[0] in ("me", "myself"):
            return WRITER
        return next((word for word in first if word in words.PEOPLE), None)
    return None


def _by_default(passages: Sequence[Passage], owners: set[str], is_dialogue: bool) -> str | None:
    """Nobody is said to attend: the writer does, unless only somebody else is spoken of."""
    companions = {
        person
        for person in owners
        if person in _ACQUAINTANCES or (person in words.PEOPLE and not _matters_anywhere(passages, person))
    }
    others = owners - {WRITER, SOMEBODY, "doctor"} - companions
    speaks = is_dialogue or any(_speaks(passage) for passage in passages)
    if others & _KIN and not any(_is_determined(passage) for passage in passages):
        return None  # "Mum, 34, agrees"
    if others:
        return others.pop() if len(others) == 1 and WRITER not in owners and not speaks else None
    involves_other = any(_involves_other(passage) for passage in passages)
    return None if involves_other and WRITER in owners else WRITER


def _speaks(passage: Passage) -> bool:
    """Of themselves: "I", "me", "my knee", but not "my son"."""
    return not _SPEAKS.isdisjoint(passage.all_words) or any(
        passage.word(position + 1).removesuffix("'s") not in words.PEOPLE for position in passage.places.get("my", ())
    )


def _matters_anywhere(passages: Sequence[Passage], person: str) -> bool:
    return any(
        _matters(passage, position)
        for passage in passages
        for word in (person, person + "'s")
        for position in passage.places.get(word, ())
    )


def _named_alike(person: str, owners: set[str]) -> str:
    """One person under two words: a pronoun that was not resolved, "my lad" and "my son"."""
    if person in owners:
        return person
    synonyms = next((group for group in words.SAME_PERSON if person in group), frozenset({person}))
    alike = {owner for owner in owners if owner in synonyms or owner in words.PRONOUNS}
    return alike.pop() if len(alike) == 1 else person


def _attending(scans: Sequence[Scan]) -> set[str]:
    """People of whom the text says that they attend."""
    found: set[str] = set()
    people: list[str] = []
    for scan in scans:
        passage = scan.passage
        for position in _person_positions(passage):
            word = passage.word(position)
            person = word.removesuffix("'s").removesuffix("'ll").removesuffix("'d")
            if person in words.PEOPLE:
                people.append(person)
            if _attends(passage, position, person):
                found.add(_person(person, people))
    return found


def _person_positions(passage: Passage) -> list[int]:
    found: list[int] = []
    for word in passage.all_words:
        base = word.removesuffix("'s").removesuffix("'ll").removesuffix("'d")
        if base in words.PEOPLE or base in ("she", "he"):
            found += passage.places[word]
    return sorted(found)


def _attends(passage: Passage, position: int, person: str) -> bool:
    word = passage.word(position)
    if person in words.PEOPLE:
        before = passage.before(position, 3)
        is_vocative = person in _VOCATIVES and before[:1] and before[0] not in _DETERMINERS
        is_led = not words.LEADS_TO_ATTENDEE.isdisjoint(before) and not is_vocative
        is_possessive = word.endswith("'s") and passage.is_word(position + 1) and passage.word(position + 1) not in (
            "the", "coming", "attending", "having", "after", "a", "an", "not", "in", "had", "been",
        )  # fmt: skip
        if is_led and not words.INFORMANTS.intersection(passage.after(position, 2)) and not is_possessive:
            return True
    rest = word.removeprefix(person)
    if rest == "'s":
        says = {"the": ("one", "patient"), "coming": (), "attending": (), "having": (), "after": ()}
        follows = passage.word(position + 1)
        return follows in says and (not says[follows] or passage.word(position + 2) in says[follows])
    if rest == "'d":
        return passage.word(position + 1) in ("like", "be", "love")
    at = position + 1
    while passage.word(at) in (",", "who", "also", "really", "now", "just", "definitely") and at - position < 3:
        at += 1
    if passage.word(position - 1) in ("can", "could", "would", "will") or passage.word(position - 2) in (
        "can",
        "could",
    ):
        return passage.word(at) in ("come", "have", "see", "be", "attend", "get")
    found = words.ATTENDS_AFTER.begin_at(passage, at)
    return found is not None and passage.word(found.start) not in ("come", "have", "be", "need", "want")


def _involves_other(passage: Passage) -> bool:
    """A relative is spoken of, and not only as one who recommended the clinic or comes along."""
    relatives = (
        words.PEOPLE
        - {"friend", "mate", "colleague", "neighbour", "boss", "client", "patient", "pal"}
        - words.STRANGERS
    )
    return any(
        _matters(passage, position)
        for word in passage.all_words
        if word.removesuffix("'s") in relatives | words.PLURAL_PEOPLE
        for position in passage.places[word]
    )


def _matters(passage: Passage, position: int) -> bool:
    after = [passage.word(position + step) for step in range(1, 10) if passage.is_word(position + step)]
    if words.INFORMANTS.intersection(after[:3]) or _DRIVES.intersection(after):
        return False
    if passage.word(position).endswith("'s") and after and after[0] in _HARMLESS_AFTER | {"old", "place", "house"}:
        return False
    return _HARMLESS_BEFORE.isdisjoint(passage.before(position, 2))


def _value(own: Sequence[_Located], explained: frozenset[int]) -> Reading[int]:
    """One age out of those of the attendee. The latest turn counts."""
    evidence = _evidence(own)
    if any(each.mention.kind is AgeKind.IMPOSSIBLE for each in own):
        return Reading(None, FactStatus.IMPOSSIBLE, evidence, "nobody has such an age", explained=explained)
    counted = [each for each in own if each.mention.kind in _COUNTED]
    doubtful = [each for each in own if each.mention.kind in (AgeKind.UNCLEAR, AgeKind.RANGE)]
    unknown = next((each for each in counted if each.mention.value is None), None)
    if unknown is not None:
        counted = [each for each in counted if each.mention.value is not None]
        doubtful = doubtful if counted else [*doubtful, unknown]
    if any(each.mention.kind is AgeKind.UNCLEAR for each in doubtful) or (doubtful and not counted):
        first = doubtful[0].mention
        return Reading(None, FactStatus.AMBIGUOUS, evidence, first.note, explained=explained)
    if not counted:
        return missing(explained)
    latest = max(each.scan.message for each in counted)
    born = {each.mention.value for each in counted if each.mention.kind is AgeKind.BIRTH_DATE}
    values = {each.mention.value for each in counted if each.scan.message == latest} | born
    if len(values) > 1:
        status = FactStatus.CONFLICTING if born else FactStatus.AMBIGUOUS
        return Reading(None, status, evidence, _SEVERAL, explained=explained)
    chosen = tuple(each.evidence for each in counted if each.mention.value in values)
    note = next((each.mention.note for each in counted if each.mention.note), "the text states it")
    is_computed = any(each.mention.kind in (AgeKind.BIRTH_DATE, AgeKind.FUTURE) for each in counted)
    return Reading(
        values.pop(), FactStatus.VERIFIED, chosen, note, is_plain=True, is_computed=is_computed, explained=explained
    )


def _against_bare(reading: Reading[int], scans: Sequence[Scan]) -> Reading[int]:
    """A bare number in a clause of its own may be a second age."""
    for scan in scans:
        for bare in scan.bare_ages:
            if bare.value != reading.value and reading.is_settled and not _is_list_number(scan, bare):
                return Reading(None, FactStatus.AMBIGUOUS, reading.evidence, _SEVERAL, explained=reading.explained)
    return reading


def _is_list_number(scan: Scan, bare: AgeMention) -> bool:
    """ "1." and "2)" number a list."""
    return scan.passage.word(bare.last + 1) in (".", ")") and (bare.value or 0) <= 9


def _read_bare(scans: Sequence[Scan], asked: Questions) -> Reading[int]:
    """A number alone: certain as the answer to a question for the age, else only together with the model."""
    answers = [
        (scan, bare)
        for scan in scans
        for bare in scan.bare_ages[:1]
        if scan.message in asked and words.AGE_QUESTIONS.stand_in(asked[scan.message])
    ]
    bare_ages = answers[-1:] or [
        (scan, bare) for scan in scans for bare in scan.bare_ages if not _is_list_number(scan, bare)
    ]
    if not bare_ages:
        return missing()
    evidence = tuple(evidence_of(scan, bare) for scan, bare in bare_ages)
    if len({bare.value for _, bare in bare_ages}) > 1:
        return Reading(None, FactStatus.AMBIGUOUS, evidence, _SEVERAL)
    passages = [scan.passage for scan in scans]
    doubtful = any(
        words.BOTH_ATTEND.stand_in(p)
        or (words.NOT_THE_WRITER.stand_in(p) and not answers)
        or (_involves_other(p) and not answers)
        for p in passages
    )
    if doubtful:
        return Reading(None, FactStatus.AMBIGUOUS, evidence, _NOT_CLEAR)
    return Reading(bare_ages[0][1].value, FactStatus.VERIFIED, evidence, _BARE, is_plain=bool(answers))


def _evidence(located: Sequence[_Located]) -> tuple[Evidence, ...]:
    return tuple(each.evidence for each in located)
