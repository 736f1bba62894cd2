"""One target a process: `python -m bench.fuzz.targets NAME CORPUS [libFuzzer options]`. Needs `pip install atheris`."""

import sys
from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from uuid import UUID
from zoneinfo import ZoneInfo

import atheris

with atheris.instrument_imports(include=["app"]):
    from pydantic import ValidationError

    from app.api.schemas import CheckIn
    from app.llm.engine import Generation
    from app.pipeline.consistency import inconsistencies
    from app.pipeline.designs import ALL_CALLS
    from app.pipeline.grounding import ExtractedFacts, FactStatus, Message, ground
    from app.pipeline.parse import parse_output
    from app.policy import POLICY, Action, decide
    from app.store.masking import mask
    from app.store.record_json import from_json_bytes, to_json_bytes
    from app.store.spool.frames import Frame, FrameKind, encode, scan

RECEIVED_AT = datetime(2026, 12, 1, 12, tzinfo=UTC)
LONDON = ZoneInfo("Europe/London")
FIELDS = ("received_at", "timezone", "conversation_id", "messages", "unknown")


def request(data: bytes) -> None:
    """Any body is accepted whole or refused; nothing else happens."""
    provider = atheris.FuzzedDataProvider(data)
    body: dict[str, object] = {
        name: provider.ConsumeUnicode(60) for name in FIELDS if provider.ConsumeIntInRange(0, 2) == 0
    }
    body["message"] = provider.ConsumeUnicode(300)
    if provider.ConsumeBool():
        body["sampling"] = {"seed": provider.ConsumeInt(5), "temperature": provider.ConsumeFloat()}
    for ask in (lambda: CheckIn.model_validate(body), lambda: CheckIn.model_validate_json(provider.ConsumeBytes(2000))):
        try:
            accepted = ask()
        except ValidationError:
            continue
        assert (accepted.message is None) != (accepted.messages is None)
        assert 2000 <= (accepted.received_at or RECEIVED_AT).year < 2100
        assert accepted.model_dump_json()


def output(data: bytes) -> None:
    """Any text of a model is parsed or flagged, for every design."""
    provider = atheris.FuzzedDataProvider(data)
    call = ALL_CALLS[provider.ConsumeIntInRange(0, len(ALL_CALLS) - 1)]
    text = provider.ConsumeUnicode(4096)
    parsed = parse_output(Generation(text, "stop", 1, 1, 1.0), call.schema)
    assert (parsed.value is None) == (parsed.flag is not None)


def grounding(data: bytes) -> None:
    """Any conversation and any facts of a model: nothing is raised, and nothing verified that the text does not say."""
    provider = atheris.FuzzedDataProvider(data)
    facts = ExtractedFacts(
        customer_age=provider.ConsumeIntInRange(-1, 200) if provider.ConsumeBool() else None,
        price_components=tuple(
            Decimal(provider.ConsumeIntInRange(0, 2_000_000)) / 100 for _ in range(provider.ConsumeIntInRange(0, 4))
        ),
        requested_date=provider.ConsumeUnicodeNoSurrogates(30) if provider.ConsumeBool() else None,
        requested_time=provider.ConsumeUnicodeNoSurrogates(20) if provider.ConsumeBool() else None,
    )
    messages = [Message("customer", provider.ConsumeUnicodeNoSurrogates(400))]
    if provider.ConsumeBool():
        messages += [
            Message("assistant", provider.ConsumeUnicodeNoSurrogates(200)),
            Message("customer", provider.ConsumeUnicodeNoSurrogates(200)),
        ]
    grounded = ground(facts, tuple(messages), RECEIVED_AT, LONDON)
    for fact in (grounded.customer_age, grounded.total_pence, grounded.requested_date, grounded.requested_time):
        if fact.status is FactStatus.VERIFIED:
            assert fact.evidence, "a verified fact stands somewhere in the text"
        for span in fact.evidence:
            assert 0 <= span.start < span.end <= len(messages[span.turn].content)
    decision = decide(grounded.to_policy_facts(RECEIVED_AT, LONDON), POLICY)
    if decision.action is Action.BOOK_APPOINTMENT:
        assert any(character.isnumeric() or character.isalpha() for character in messages[0].content)


def consistency(data: bytes) -> None:
    provider = atheris.FuzzedDataProvider(data)
    action = list(Action)[provider.ConsumeIntInRange(0, len(Action) - 1)]
    told = provider.ConsumeUnicodeNoSurrogates(200)
    inconsistencies(action, provider.ConsumeBool(), provider.ConsumeUnicodeNoSurrogates(700), told)


def masking(data: bytes) -> None:
    text = atheris.FuzzedDataProvider(data).ConsumeUnicodeNoSurrogates(2000)
    assert len(mask(text).text) == len(text)


def spool(data: bytes) -> None:
    """Whatever stands in a segment: what was appended behind it is found, and nothing is made up."""
    whole = encode(Frame(FrameKind.RECORD, 7, b"whole"))
    found = [frame for frame, _, _ in scan(data + whole)]
    swallowed = [frame for frame in found if whole in frame.payload]
    assert swallowed or found[-1].payload == b"whole"
    for frame, start, end in scan(data):
        assert encode(frame) == data[start:end]


def record(data: bytes) -> None:
    try:
        kept = from_json_bytes(data)
    except (ValueError, RecursionError):
        return
    assert isinstance(kept.id, UUID) and from_json_bytes(to_json_bytes(kept)) == kept


TARGETS: dict[str, Callable[[bytes], None]] = {
    target.__name__: target for target in (request, output, grounding, consistency, masking, spool, record)
}

if __name__ == "__main__":
    chosen = TARGETS[sys.argv[1]]
    atheris.Setup([sys.argv[0], *sys.argv[2:]], chosen)
    atheris.Fuzz()
