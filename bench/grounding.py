"""What grounding costs beside merely tokenising the same text: `python -m bench.grounding`. No model, one core.

Short messages are the labelled ones of the tests; the long ones repeat an unrelated paragraph before the request.
"""

import json
import statistics
import sys
import time
from collections.abc import Callable
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from zoneinfo import ZoneInfo

from app.pipeline.grounding import ExtractedFacts, Message, ground
from app.pipeline.grounding.text.normalise import normalise
from app.pipeline.grounding.text.tokens import tokenise

MESSAGES = Path(__file__).parent.parent / "tests" / "data" / "grounding" / "decisions.jsonl"
LONDON = ZoneInfo("Europe/London")
RECEIVED_AT = datetime(2026, 11, 29, 18, 0, tzinfo=LONDON)
FACTS = ExtractedFacts(37, (Decimal(640),), "Tuesday 8 December", "10am")
PARAGRAPH = (
    "I have been meaning to write for a while, as a friend told me about the clinic and I was not sure whether to. "
    "My knee has been sore since the spring, and the walk to the shop takes me longer than it did. "
)
REQUEST = "I'm 37 and would like the £640 visit on Tuesday 8 December at 10am please."
ROUNDS = 15


def main() -> None:
    short = [json.loads(line).get("message") for line in MESSAGES.read_text().splitlines()]
    sets = {
        "short messages": [text for text in short if text and text.strip()],
        "500 words": [PARAGRAPH * 13 + REQUEST],
        "2000 words": [PARAGRAPH * 52 + REQUEST],
    }
    sys.stdout.write("text             words  tokenise  ground   ms per 100 words   ratio\n")
    for name, texts in sets.items():
        words = sum(len(text.split()) for text in texts)
        tokenising = _seconds(texts, lambda text: tokenise(normalise(text).text))
        grounding = _seconds(texts, _ground)
        each = words / len(texts)
        sys.stdout.write(
            f"{name:15} {each:6.0f}  {tokenising / words * 1e5:8.2f}  {grounding / words * 1e5:6.2f}"
            f"                   {grounding / tokenising:6.1f}   ({grounding / len(texts) * 1e3:.2f} ms a message)\n"
        )


def _ground(text: str) -> object:
    return ground(FACTS, [Message("customer", text)], RECEIVED_AT, LONDON)


def _seconds(texts: list[str], work: Callable[[str], object]) -> float:
    """Median over the rounds, of all texts together."""
    taken = []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        for text in texts:
            work(text)
        taken.append(time.perf_counter() - started)
    return statistics.median(taken)


if __name__ == "__main__":
    main()
