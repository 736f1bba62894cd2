"""The policy in words, for models that decide themselves: one constant, the same in every design that carries it."""

from app.policy.limits import (
    BOOKING_LIMIT_PENCE,
    MAXIMUM_AGE_YEARS,
    MINIMUM_AGE_YEARS,
    REDUCED_SCOPE_LIMIT_PENCE,
    pounds,
)

POLICY_TEXT = f"""Policy, in this order; the first line that applies decides:
1. The customer's age or the total price cannot be determined: escalate_human, reason insufficient_info.
2. The customer is under {MINIMUM_AGE_YEARS}: decline, reason under_age.
3. The customer is over {MAXIMUM_AGE_YEARS}: escalate_human, reason insufficient_info.
4. The total of all requested services is above {pounds(REDUCED_SCOPE_LIMIT_PENCE)}: decline, reason over_limit.
5. The total is above {pounds(BOOKING_LIMIT_PENCE)}, up to {pounds(REDUCED_SCOPE_LIMIT_PENCE)}: offer_alternative \
(a reduced-scope consultation), reason over_limit.
6. The date or the time is missing, impossible or past: escalate_human, reason insufficient_info.
7. Otherwise: book_appointment, reason eligible, with the requested date and time.
criteria_met is true only for line 7. appointment is null except for line 7."""
