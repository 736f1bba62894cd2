"""A reading: what the text alone says of one fact, before the model's word is asked."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from app.pipeline.grounding.facts import Evidence, FactStatus
from app.pipeline.grounding.mentions import MOST_MENTIONS, Mention
from app.pipeline.grounding.scan import Scan

V = TypeVar("V")


@dataclass(frozen=True)
class SensedMention:
    scan: Scan
    mention: Mention[Any]

    @property
    def evidence(self) -> Evidence:
        return evidence_of(self.scan, self.mention)


@dataclass(frozen=True)
class Reading(Generic[V]):
    value: V | None
    status: FactStatus
    """VERIFIED where the text settles it, else why it does not."""
    evidence: tuple[Evidence, ...] = ()
    note: str = ""
    is_plain: bool = False
    """So stated that it stands also where the model overlooked it."""
    is_computed: bool = False
    """Reckoned from what the text states: a birth date, "18 in a fortnight". Models are bad at that."""
    mentions: tuple["SensedMention", ...] = ()
    """All mentions of its kind of fact, in the sense the whole conversation gives them."""
    explained: frozenset[Any] = frozenset()
    """Values that the text mentions in another sense; a model that names one of them has mistaken the sense."""

    @property
    def is_settled(self) -> bool:
        return self.status is FactStatus.VERIFIED


def too_many(mentions: Sequence[SensedMention]) -> Reading[Any]:
    few = tuple(mentions[:MOST_MENTIONS])
    evidence = tuple(each.evidence for each in few)
    return Reading(None, FactStatus.AMBIGUOUS, evidence, "the text has too many of them", mentions=few)


def missing(explained: frozenset[Any] = frozenset()) -> Reading[Any]:
    return Reading(None, FactStatus.MISSING, (), "the text does not say", explained=explained)


def evidence_of(scan: Scan, mention: Mention[Any]) -> Evidence:
    return scan.passage.evidence(mention.first, mention.last)
