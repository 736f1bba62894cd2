"""Second thoughts: what customers take back, and what they put in its place."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import TypeVar

from app.pipeline.grounding.mentions import Mention
from app.pipeline.grounding.text.passage import Passage, Phrases

M = TypeVar("M", bound=Mention)  # type: ignore[type-arg]

_STRONG = Phrases(
    """
    or was it; or is it; or maybe; or perhaps; or were they; no i'm not; no i am not; i'm not really;
    only joking; just joking; jk; just kidding; only kidding; kidding; i'm lying; that was a lie; not true;
    isn't true; sister's message; brother's message; wrong person; nought missing; zero missing;
    missing a nought; missing a zero; nought too many; zero too many; i meant; i mean; meant to say;
    meant to put; no wait; wait no; wait ,; oh wait; wait a; scrap; hang on; hold on; correction; oops; whoops;
    typo; my mistake; my bad; ignore; disregard; forget; never mind; nevermind; changed my mind; change my mind;
    on second thoughts; on second thought; second thoughts; missed a nought; missed a zero; extra zero;
    extra nought; got that wrong; that was wrong; that's wrong; thats wrong; wrong number; wrong one; wrong age;
    wrong date; should be; should have been; should have said; should say; supposed to be; sorry not; sorry no;
    no sorry; no not; or rather; tell a lie; but meant; meant the; change it to; change that to; swap it to;
    swap it for; move it to; move that to; scratch that; strike that; let me correct; correct that; i misread;
    i mistyped; misread; mistyped; lied; fibbed
    """
)
_SOFT = Phrases(
    """
    actually; make it; make that; rather; sorry; really; no; nope; better
    """
)
"""They change something only where they stand between an old value and a new one."""
_AFTER_THE_NEW = Phrases(
    """
    instead; was right; is right; is correct; was correct; after all
    """
)
"""They stand after the value that counts."""
_NO_CORRECTION = Phrases(
    """
    correction surgery; correction is; ear correction; eye correction; laser correction; vision correction;
    if that is correct; if that's correct; is that right; is this right; is that correct; should be fine;
    should be ok; should be okay; should be good; should be great; should be free; should be able;
    should be there; don't forget; dont forget; won't forget; i mean it; sorry to; sorry for; sorry if;
    sorry about; hold on to; can't wait; instead of
    """
)


class Strength(Enum):
    STRONG = auto()
    SOFT = auto()
    AFTER = auto()


@dataclass(frozen=True)
class SecondThought:
    first: int
    stop: int
    strength: Strength


def find_second_thoughts(passage: Passage) -> list[SecondThought]:
    harmless = _NO_CORRECTION.positions(passage)
    found = []
    for phrases, strength in (
        (_STRONG, Strength.STRONG),
        (_SOFT, Strength.SOFT),
        (_AFTER_THE_NEW, Strength.AFTER),
    ):
        found += [
            SecondThought(span.start, span.stop, strength)
            for span in phrases.find(passage)
            if span.start not in harmless
        ]
    return sorted(found, key=lambda thought: thought.first)


def replaced_by(passage: Passage, thought: SecondThought, mentions: Sequence[M]) -> tuple[list[M], M] | None:
    """The mentions of one kind before the second thought, nearest last, and the one that takes their place."""
    sentence = passage.sentence(thought.first)
    if thought.strength is Strength.AFTER:
        before = [m for m in mentions if m.last < thought.first and passage.sentence(m.first) == sentence]
        if not before:
            return None
        new = before[-1]
        old = [m for m in mentions if m.last < new.first]
        return (old, new) if old else None
    old = [m for m in mentions if m.last < thought.first]
    reach = 1 if thought.strength is Strength.SOFT else 2
    following = [m for m in mentions if m.first >= thought.stop and passage.sentence(m.first) <= sentence + reach]
    near = [m for m in old if passage.sentence(m.first) >= sentence - reach]
    if not following or not near:
        return None
    if thought.strength is Strength.SOFT and not _is_between(passage, thought, following[0]):
        return None
    return old, following[0]


def _is_between(passage: Passage, thought: SecondThought, new: Mention) -> bool:  # type: ignore[type-arg]
    """A soft word only counts right before the new value: "no, 35", "actually 35", "I'm really 17"."""
    return new.first - thought.stop <= 5 and passage.sentence(new.first) == passage.sentence(thought.first)
