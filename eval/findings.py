"""How designs 1 to 4 go wrong: counts over the raw outputs of a results file, behind the reading in docs/results/.

python -m eval.findings docs/results/eval-default-model.jsonl.gz
"""

import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from eval.errors import EvalError
from eval.results import CheckResult, Results, read_results
from eval.scenarios import Scenario

LIMIT, REDUCED = 10_000, 12_000
SUMS = ("over_sum", "band")
_UNEVALUATED_SUM = re.compile(r'"total_requested_value":\s*\d+(?:\.\d+)?\s*\+')
_THOUSANDS_COMMA = re.compile(r'"total_requested_value":\s*\d{1,3},\d{3}\b')

Output = tuple[CheckResult, Scenario, dict[str, Any]]
"""A check, what is known of it, and the object that its model wrote."""


def main(path: Path) -> None:
    results = read_results(path)
    for design in ("base", "reasoned", "tiered", "table"):
        for group in SUMS:
            chosen = _above_limit(_outputs(results, design, (group,)))
            met = _count(chosen, lambda output: output["eligibility"]["criteria_met"])
            booked = _count(chosen, lambda output: output["action"] == "book_appointment")
            print(f"{design}, {group}, total above the limit: criteria_met {met}, booked {booked} of {len(chosen)}")
    _reasoned(_outputs(results, "reasoned", SUMS))
    _table(_outputs(results, "table", None))
    not_json = [c for c in results.checks if c.design == "table" and not c.valid_json]
    for pattern, what in ((_UNEVALUATED_SUM, "an unevaluated sum"), (_THOUSANDS_COMMA, "a comma in the total")):
        found = sum(bool(pattern.search(check.raw_outputs[0] or "")) for check in not_json)
        print(f"table: {found} of {len(not_json)} invalid outputs hold {what}")
    flags = Counter(flag for check in results.checks if check.design != "pipeline" for flag in check.flags)
    print(f"flags of designs 1 to 4: {dict(flags.most_common())}")
    narrations = Counter(check.narration_source for check in results.checks if check.design == "pipeline")
    print(f"the pipeline's replies are worded by: {dict(narrations)}")
    missed = Counter(
        (check.scenario, field)
        for check in results.checks
        for field, right in (check.facts_right or {}).items()
        if not right
    )
    print(f"facts not known: {dict(missed)}")


def _reasoned(outputs: list[Output]) -> None:
    """Whether the calculation names the right sum, and whether the band then fits it."""
    with_sum = [
        o for o in outputs if f"{o[1].total:,}" in o[2]["calculation"] or str(o[1].total) in o[2]["calculation"]
    ]
    banded = sum(output["within_limit_banding"] == _band(scenario) for _, scenario, output in with_sum)
    print(f"reasoned: right sum written in {len(with_sum)} of {len(outputs)}, then the right band in {banded}")


def _table(outputs: list[Output]) -> None:
    """Whether the fields of the table fit the message, and each other."""
    claims: dict[str, Callable[[Scenario, dict[str, Any]], bool]] = {
        "age as in the message": lambda s, o: o["customer_age"] == s.facts.customer_age,
        "total as in the message": lambda s, o: o["total_requested_value"] == s.total,
        "total_at_most_10000 against its own total": lambda s, o: (
            o["total_at_most_10000"] != (o["total_requested_value"] <= LIMIT)
        ),
        "age_within_18_to_70 against its own age": lambda s, o: (
            o["age_within_18_to_70"] != (18 <= o["customer_age"] <= 70)
        ),
        "action against its own flags": lambda s, o: (
            (o["action"] == "book_appointment") != (o["age_within_18_to_70"] and o["total_at_most_10000"])
        ),
    }
    for claim, holds in claims.items():
        print(f"table: {claim} in {sum(holds(s, o) for _, s, o in outputs)} of {len(outputs)}")
    between = [o for _, s, o in outputs if LIMIT < s.total <= REDUCED]
    equal = sum(o["total_at_most_10000"] == o["total_at_most_12000"] for o in between)
    print(f"table: the two total flags equal in {equal} of {len(between)} where they should differ")


def _outputs(results: Results, design: str, groups: Iterable[str] | None) -> list[Output]:
    """Only what parses: fences and chatter forgiven, a schema not asked for."""
    chosen = [c for c in results.checks if c.design == design and (groups is None or c.group in groups)]
    found = [(check, results.header.by_id[check.scenario], _object(check.raw_outputs)) for check in chosen]
    return [(check, scenario, output) for check, scenario, output in found if output is not None]


def _object(raw_outputs: list[str | None]) -> dict[str, Any] | None:
    try:
        raw = raw_outputs[0] or ""
        value = json.JSONDecoder().raw_decode(raw, raw.index("{"))[0]
    except (ValueError, IndexError):
        return None
    return value if isinstance(value, dict) else None


def _above_limit(outputs: list[Output]) -> list[Output]:
    return [output for output in outputs if output[1].total > LIMIT]


def _count(outputs: list[Output], holds: Callable[[dict[str, Any]], bool]) -> int:
    return sum(holds(output) for _, _, output in outputs)


def _band(scenario: Scenario) -> str:
    if scenario.total <= LIMIT:
        return "within_limit"
    return "reduced_scope_band" if scenario.total <= REDUCED else "over_limit"


if __name__ == "__main__":
    try:
        main(Path(sys.argv[1]))
    except IndexError:
        sys.exit("usage: python -m eval.findings RESULTS")
    except EvalError as error:
        sys.exit(f"eval: {error}")
