"""How well the scanner finds labelled mentions, per kind; `python -m tests.support.mention_scores` prints the table.

A label names the words, what they are (money, age, date, time), in which sense (component, deposit, attendee, ...) and
their value. A mention is right where it covers the words in that sense and, where the sense has one, with that value.
"""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, time
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from app.pipeline.grounding import Message
from app.pipeline.grounding.ground import survey
from app.pipeline.grounding.mentions import MoneyMention
from app.pipeline.grounding.readings import SensedMention

LABELLED = Path(__file__).parent.parent / "data" / "grounding" / "mentions.jsonl"
LONDON = ZoneInfo("Europe/London")
RECEIVED_AT = datetime(2026, 11, 29, 18, 0, tzinfo=LONDON)

Kind = tuple[str, str]
_WITH_VALUE = {
    ("money", "component"), ("money", "restated_total"), ("money", "deposit"),
    ("age", "attendee"), ("age", "other"), ("age", "birth_date"), ("age", "future"),
    ("date", "absolute"), ("date", "relative"), ("time", "time"), ("time", "relative"),
}  # fmt: skip
_UNREPORTED = ("instruction",)
"""Senses that labels leave out: such text states nothing."""


@dataclass(frozen=True)
class Score:
    wanted: int
    found: int
    right: int

    @property
    def precision(self) -> float:
        return self.right / self.found if self.found else 1.0

    @property
    def recall(self) -> float:
        return self.right / self.wanted if self.wanted else 1.0


def score_mentions(path: Path = LABELLED) -> dict[Kind, Score]:
    wanted, found, right = Counter[Kind](), Counter[Kind](), Counter[Kind]()
    for line in path.read_text().splitlines():
        labelled = json.loads(line)
        turns = labelled.get("turns") or [["customer", labelled["message"]]]
        mentions = dict(enumerate(_mentions(turns)))
        for label in labelled["mentions"]:
            kind = (label["what"], label["kind"])
            wanted[kind] += 1
            place = next((at for at, each in mentions.items() if _covers(each, label, turns)), None)
            if place is not None:
                what, mention = mentions.pop(place)
                found[what, mention.mention.kind.value] += 1
                right[kind] += _is_right(mention, label)
        found.update((what, each.mention.kind.value) for what, each in mentions.values())
    kinds = sorted(kind for kind in wanted | found if kind[1] not in _UNREPORTED)
    return {kind: Score(wanted[kind], found[kind], right[kind]) for kind in kinds}


def _mentions(turns: list[list[str]]) -> Iterator[tuple[str, SensedMention]]:
    conversation = [Message("customer" if role == "customer" else "assistant", text) for role, text in turns]
    text = survey(conversation, RECEIVED_AT, LONDON)
    readings = {"money": text.prices, "age": text.age, "date": text.date, "time": text.time}
    for what, reading in readings.items():
        for mention in reading.mentions:
            yield what, mention


def _covers(found: tuple[str, SensedMention], label: dict[str, Any], turns: list[list[str]]) -> bool:
    what, mention = found
    turn, evidence = label.get("turn", 0), mention.evidence
    start = -1
    for _ in range(label.get("occurrence", 0) + 1):
        start = turns[turn][1].index(label["text"], start + 1)
    overlaps = evidence.start < start + len(label["text"]) and evidence.end > start
    return what == label["what"] and evidence.turn == turn and overlaps


def _is_right(found: SensedMention, label: dict[str, Any]) -> bool:
    mention = found.mention
    if mention.kind.value != label["kind"]:
        return False
    if isinstance(mention, MoneyMention) and label["kind"] == "component":
        return (mention.value, mention.quantity) == (label["value"], label.get("quantity", 1))
    return (label["what"], label["kind"]) not in _WITH_VALUE or _written(mention.value) == label["value"]


def _written(value: int | date | time | None) -> int | str | None:
    if isinstance(value, time):
        return value.isoformat("minutes")
    return value.isoformat() if isinstance(value, date) else value


def table(scores: dict[Kind, Score]) -> str:
    lines = ["what   kind            labelled  found  right  precision  recall"]
    for (what, kind), score in scores.items():
        shares = f"{score.precision:9.0%}  {score.recall:6.0%}"
        lines.append(f"{what:6} {kind:15} {score.wanted:8}  {score.found:5}  {score.right:5}  {shares}")
    whole = Score(*(sum(getattr(score, name) for score in scores.values()) for name in ("wanted", "found", "right")))
    lines.append(
        f"{'all':22} {whole.wanted:8}  {whole.found:5}  {whole.right:5}  {whole.precision:9.0%}  {whole.recall:6.0%}"
    )
    return "\n".join(lines)


if __name__ == "__main__":
    print(table(score_mentions()))  # noqa: T201
