"""Every metric of this service, declared once. Labels come from closed sets; never ids, never text."""

from collections.abc import Callable, Iterable, Mapping
from itertools import product

from prometheus_client import REGISTRY, Counter, Gauge, Histogram
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

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
ADMISSION_QUEUE = Gauge("booking_admission_queue", "Checks that wait for a permit")
ADMISSION_WAIT_SECONDS = Histogram(
    "booking_admission_wait_seconds", "Wait of admitted checks for their permit", buckets=_SECONDS
)
ADMISSION_REFUSED = Counter("booking_admission_refused_total", "Checks refused a permit", ("reason",))
ENGINE_LOST = Counter("booking_engine_lost_total", "Engines given up and started again, by why", ("reason",))
ENGINE_UP = Gauge("booking_engine_up", "0 while an engine is loaded or started again")
MASKED = Counter("booking_masked_total", "What was blotted out of stored text", ("kind",))
MASKING_FAILED = Counter("booking_masking_failed_total", "Records kept without their texts: must stay 0")
IN_FLIGHT = Gauge("booking_checks_in_flight", "Checks being worked on", _CONDITION)
REFUSED = Counter("booking_refused_total", "Requests refused before they became a check", ("problem",))
READY = Gauge("booking_ready", "1 when the service answers checks")
HTTP_SECONDS = Histogram(
    "booking_http_request_duration_seconds", "Requests by route", ("method", "route", "status"), buckets=_SECONDS
)


def begin_at_zero(counter: Counter, *labels: Iterable[str]) -> None:
    """Show every combination from the start: to a rate, a series that appears has not increased."""
    for combination in product(*labels):
        counter.labels(*combination)


class CallLogNumbers(Collector):
    """What the call log counts by itself, read when somebody asks."""

    def __init__(self) -> None:
        self._numbers: Callable[[], Mapping[str, float]] = dict

    def follow(self, numbers: Callable[[], Mapping[str, float]]) -> None:
        """From now on these are shown."""
        self._numbers = numbers

    def describe(self) -> Iterable[Metric]:
        return ()

    def collect(self) -> Iterable[Metric]:
        numbers = self._numbers()
        for key, (name, text, family) in CALL_LOG_FAMILIES.items():
            if key in numbers:
                yield family(name, text, value=numbers[key])


CALL_LOG_FAMILIES = {
    "spool_bytes": ("booking_spool_bytes", "Records that are not in the database yet", GaugeMetricFamily),
    "spool_max_bytes": ("booking_spool_max_bytes", "From here on checks are refused", GaugeMetricFamily),
    "oldest_unshipped_seconds": (
        "booking_spool_oldest_unshipped_seconds",
        "Age of the oldest record that is not in the database yet",
        GaugeMetricFamily,
    ),
    "written": ("booking_spool_written_total", "Records on this machine's disk", CounterMetricFamily),
    "shipped": ("booking_spool_shipped_total", "Records in the database", CounterMetricFamily),
    "lost": (
        "booking_spool_lost_total",
        "Records that neither disk nor database took: must stay 0",
        CounterMetricFamily,
    ),
    "damaged_bytes": (
        "booking_spool_damaged_bytes_total",
        "Damage found in spools of dead processes: must stay 0",
        CounterMetricFamily,
    ),
}

CALL_LOG = CallLogNumbers()
REGISTRY.register(CALL_LOG)
