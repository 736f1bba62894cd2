"""An amount asked for with its quantity, and a reason to leave a total open."""

from dataclasses import dataclass

from app.pipeline.grounding.facts import Evidence, FactStatus
from app.pipeline.grounding.mentions import MoneyMention
from app.pipeline.grounding.readings import evidence_of
from app.pipeline.grounding.scan import Scan


@dataclass(frozen=True)
class Doubt:
    status: FactStatus
    note: str


@dataclass(frozen=True)
class Line:
    """An amount asked for, and how many of it."""

    scan: Scan
    mention: MoneyMention

    @property
    def pence(self) -> int:
        return self.mention.value or 0

    @property
    def quantity(self) -> int:
        return self.mention.quantity or 1

    @property
    def total(self) -> int:
        return self.pence * self.quantity

    @property
    def evidence(self) -> Evidence:
        return evidence_of(self.scan, self.mention)
