"""Every metric of this service, declared once. Labels come from closed sets; never ids, never text."""

from prometheus_client import Counter, Gauge, Histogram

_CONDITION = ("design", "enforcement")
_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 80, 160)

CHECKS = Counter("booking_checks_total", "Checks ended, by how", (*_CONDITION, "outcome"))
DECISIONS = Counter("booking_decisions_total", "Decisions answered", (*_CONDITION, "action", "reason_code"))
CHECK_SECONDS = Histogram("booking_check_duration_seconds", "A whole check", _CONDITION, buckets=_SECONDS)
STAGE_SECONDS = Histogram(
    "booking_stage_duration_seconds", "A stage of a check", ("stage", *_CONDITION), buckets=_SECONDS
)
OUTPUTS = Counter(
    "booking_outputs_total",
    "Answered checks by a property of the model's output",
    (*_CONDITION, "property", "holds"),
)
FLAGS = Counter("booking_flags_total", "Flags raised on answered checks", (*_CONDITION, "flag"))
NARRATIONS = Counter("booking_narrations_total", "Pipeline replies by who wrote them", ("source", "cause", *_CONDITION))
FACTS = Counter("booking_facts_total", "Grounded facts by status", ("fact", "status", *_CONDITION))
AGREEMENTS = Counter(
    "booking_fact_agreements_total",
    "Grounded facts by how the model agreed with the text",
    ("fact", "agreement", *_CONDITION),
)
CALLS_FINISHED = Counter("booking_llm_calls_total", "Model calls that answered", ("kind", "finish_reason", *_CONDITION))
TOKENS = Counter("booking_llm_tokens_total", "Tokens read and written", ("kind", "direction", *_CONDITION))
IN_FLIGHT = Gauge("booking_checks_in_flight", "Checks being worked on", _CONDITION)
REFUSED = Counter("booking_refused_total", "Requests refused before they became a check", ("problem",))
READY = Gauge("booking_ready", "1 when the service answers checks")
HTTP_SECONDS = Histogram(
    "booking_http_request_duration_seconds", "Requests by route", ("method", "route", "status"), buckets=_SECONDS
)
