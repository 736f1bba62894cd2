"""The numbers of the policy. Money is pence."""

MINIMUM_AGE_YEARS = 18
"""Below this a request is declined. Policy clause 2."""

MAXIMUM_AGE_YEARS = 70
"""Above this a person decides: no reason code fits. Policy clause 3."""

BOOKING_LIMIT_PENCE = 10_000_00
"""Up to and including this a consultation may be booked. Policy clause 5."""

REDUCED_SCOPE_LIMIT_PENCE = 12_000_00
"""Above the booking limit, up to this, a reduced scope is offered; beyond it a request is declined. Clauses 4, 5."""


def pounds(pence: int) -> str:
    """£1,234 or £1,234.50."""
    whole, rest = divmod(pence, 100)
    return f"£{whole:,}.{rest:02d}" if rest else f"£{whole:,}"
