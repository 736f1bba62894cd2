"""Second thoughts that replace nothing the scanner can see: they leave open what was said around and before them."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeVar

from app.pipeline.grounding.discourse.corrections import SecondThought, Strength, replaced_by
from app.pipeline.grounding.facts import FactStatus
from app.pipeline.grounding.mentions import AgeKind, DateKind, MoneyKind, TimeKind
from app.pipeline.grounding.money import words as money_words
from app.pipeline.grounding.money.relations import named_places
from app.pipeline.grounding.readings import Reading
from app.pipeline.grounding.scan import Scan
from app.pipeline.grounding.text.passage import Phrases

V = TypeVar("V")

_NOTE = "the customer takes something back, and what replaces it is not clear"
_NOT_LIVE = frozenset(
    {
        MoneyKind.INSTRUCTION,
        AgeKind.INSTRUCTION,
        DateKind.INSTRUCTION,
        TimeKind.INSTRUCTION,
        DateKind.OTHER,
        TimeKind.OTHER,
    }
)


_CORRECTED = frozenset({MoneyKind.CORRECTED, AgeKind.CORRECTED, DateKind.CORRECTED, TimeKind.CORRECTED})


class Unsettled:
    """The sentences, and all turns before them, that an unresolved second thought may bear on."""

    def __init__(self, scans: Sequence[Scan]) -> None:
        self._last_message = -1
        self._spans: list[tuple[int, range]] = []
        for scan in scans:
            resolved = {scan.passage.sentence(t.first) for t in scan.second_thoughts if _is_resolved(scan, t)}
            for thought in scan.second_thoughts:
                sentence = scan.passage.sentence(thought.first)
                is_resolved = not resolved.isdisjoint((sentence - 1, sentence, sentence + 1))
                if thought.strength is Strength.STRONG and not is_resolved:
                    self._last_message = max(self._last_message, scan.message)
                    self._spans.append((scan.message, _around(scan, thought)))

    def weigh(self, reading: Reading[V]) -> Reading[V]:
        if not reading.is_settled or not any(self._touches(each.turn, each.start) for each in reading.evidence):
            return reading
        return replace(reading, value=None, status=FactStatus.AMBIGUOUS, note=_NOTE)

    def _touches(self, message: int, offset: int) -> bool:
        return message < self._last_message or any(message == own and offset in span for own, span in self._spans)


def _is_resolved(scan: Scan, thought: SecondThought) -> bool:
    if any(_names_an_item(scan, thought, phrases) for phrases in (money_words.DROPS, money_words.KEEPS)):
        return True
    kinds: tuple[Sequence[Any], ...] = ([*scan.ages, *scan.bare_ages], scan.money, scan.dates, scan.times)
    live = [[mention for mention in mentions if mention.kind not in _NOT_LIVE] for mentions in kinds]
    if any(replaced_by(scan.passage, thought, mentions) is not None for mentions in live):
        return True
    if scan.message == 0:
        return False
    sentence = scan.passage.sentence(thought.first)
    return any(
        mention.first >= thought.stop
        and mention.kind not in _CORRECTED
        and scan.passage.sentence(mention.first) <= sentence + 2
        for mentions in live
        for mention in mentions
    )


def _names_an_item(scan: Scan, thought: SecondThought, phrases: Phrases) -> bool:
    sentence = scan.passage.sentence(thought.first)
    return any(
        scan.passage.sentence(found.start) == sentence and named_places(scan.passage, phrases, 9)
        for found in phrases.find(scan.passage)
    )


def _around(scan: Scan, thought: SecondThought) -> range:
    """Offsets in the original text of the sentence, the one before and the one after."""
    sentence = scan.passage.sentence(thought.first)
    near = [at for at, token in enumerate(scan.passage.tokens) if abs(token.sentence - sentence) <= 1]
    first, last = scan.passage.evidence(near[0], near[0]), scan.passage.evidence(near[-1], near[-1])
    return range(first.start, last.end)
