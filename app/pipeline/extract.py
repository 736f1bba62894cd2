"""Call 1: the model reads facts out of the conversation. It is not asked to decide or to add up."""

from decimal import Decimal

from app.llm.engine import Engine
from app.pipeline.designs import EXTRACT
from app.pipeline.grounding import ExtractedFacts
from app.pipeline.parse import ParsedOutput, parse_output
from app.pipeline.run_log import RunLog

NOTHING_EXTRACTED = ExtractedFacts(customer_age=None, price_components=(), requested_date=None, requested_time=None)


async def extract(engine: Engine, log: RunLog) -> tuple[ExtractedFacts, ParsedOutput]:
    """Facts as the model states them; none if its output cannot be used, so that a person decides."""
    with log.timed("extract"):
        generation = await log.ask(engine, "extract", EXTRACT, log.request.customer_text)
        output = parse_output(generation, EXTRACT.schema)
    if output.value is None:
        log.flags.append(f"extract_{output.flag}")
        return NOTHING_EXTRACTED, output
    facts = output.value
    return (
        ExtractedFacts(
            customer_age=None if facts["customer_age"] is None else int(facts["customer_age"]),
            price_components=tuple(Decimal(price) for price in facts["price_components"]),
            requested_date=facts["requested_date"],
            requested_time=facts["requested_time"],
        ),
        output,
    )
