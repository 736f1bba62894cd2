"""The four dashboards: service, quality, engine, eval. `python -m monitoring write` makes the files Grafana loads."""

from monitoring import names as n
from monitoring.grafana_json import Dashboard, Panel, Query, Variable

CONDITION = '{design=~"$design",enforcement=~"$enforcement",instance=~"$instance"}'
INSTANCE = '{instance=~"$instance"}'
SERVICE_JOB = '{job="booking-assistant",instance=~"$instance"}'
RATE = "[$__rate_interval]"
QUANTILES = (0.5, 0.95, 0.99)


def rate(by: str, metric: str, select: str = CONDITION) -> str:
    return f"sum by ({by}) (rate({metric}{select}{RATE}))"


def share(by: str, metric: str, of: str, select: str = CONDITION) -> str:
    """Of all series of the metric, those that fit `of`; nothing at all counts as none."""
    held = select[:-1] + f",{of}}}"
    return f"sum by ({by}) (rate({metric}{held}{RATE})) / sum by ({by}) (rate({metric}{select}{RATE}))"


def quantile(q: float, by: str, metric: str, select: str = CONDITION) -> str:
    grouped = f"le, {by}" if by else "le"
    return f"histogram_quantile({q}, sum by ({grouped}) (rate({metric}{select}{RATE})))"


def quantiles(metric: str, select: str) -> tuple[Query, ...]:
    return tuple(Query(quantile(q, "", metric, select), f"p{q * 100:g}") for q in QUANTILES)


_OF_CHECKS = (Variable("design", n.CHECKS), Variable("enforcement", n.CHECKS), Variable("instance", n.READY))

SERVICE = Dashboard(
    "booking-service",
    "Booking assistant: service",
    "Rate, errors, latency and saturation; the way of a record from the spool to the database.",
    _OF_CHECKS,
    {
        "Now": (
            Panel("Ready replicas", (Query(f"sum({n.READY}{INSTANCE})"),), kind="stat", width=4),
            Panel("Engines up", (Query(f"sum({n.ENGINE_UP}{INSTANCE})"),), kind="stat", width=4),
            Panel("Checks in flight", (Query(f"sum({n.IN_FLIGHT}{CONDITION})"),), kind="stat", width=4),
            Panel("Checks that wait", (Query(f"sum({n.QUEUE}{INSTANCE})"),), kind="stat", width=4),
            Panel(
                "Records not yet in the database",
                (Query(f"max({n.SPOOL_OLDEST}{INSTANCE})"),),
                unit="s", kind="stat", width=4, description="Age of the oldest one.",
            ),
            Panel(
                "Records lost",
                (Query(f"sum({n.SPOOL_LOST}{INSTANCE}) + sum({n.MASKING_FAILED}{INSTANCE})"),),
                kind="stat", width=4, description="Lost or kept without their texts: must stay 0.",
            ),
        ),
        "Rate and errors": (
            Panel("Checks by outcome", (Query(rate("outcome", n.CHECKS), "{{outcome}}"),), "reqps", stacked=True),
            Panel(
                "Share of checks that failed",
                (Query(share("design", n.CHECKS, 'outcome=~"failed|timed_out"'), "{{design}}"),),
                "percentunit",
            ),
            Panel("Requests by status", (Query(rate("status", n.HTTP_COUNT, INSTANCE), "{{status}}"),), "reqps"),
            Panel(
                "Refusals by problem",
                (Query(rate("problem", n.REFUSED, INSTANCE), "{{problem}}"),),
                "reqps", description="docs/problems.md has a section for each.",
            ),
            Panel("No permit", (Query(rate("reason", n.ADMISSION_REFUSED, INSTANCE), "{{reason}}"),), "reqps"),
            Panel("Engines lost in an hour", (Query(f"sum by (reason) (increase({n.ENGINE_LOST}{INSTANCE}[1h]))", "{{reason}}"),)),
        ),
        "Latency": (
            Panel(
                "A check, by design",
                tuple(Query(quantile(q, "design", n.CHECK_BUCKET), f"{{{{design}}}} p{q * 100:g}") for q in (0.5, 0.95)),
                "s",
            ),
            Panel("Stages, p95", (Query(quantile(0.95, "stage", n.STAGE_BUCKET), "{{stage}}"),), "s"),
            Panel("Wait for a permit", quantiles(n.WAIT_BUCKET, INSTANCE), "s"),
        ),
        "Saturation": (
            Panel(
                "In flight and waiting",
                (Query(f"sum({n.IN_FLIGHT}{CONDITION})", "in flight"), Query(f"sum({n.QUEUE}{INSTANCE})", "waiting")),
            ),
            Panel(
                "CPU a check",
                (Query(f"sum(rate({n.CPU}{SERVICE_JOB}{RATE})) / sum(rate({n.CHECKS}{INSTANCE}{RATE}))", "CPU seconds"),),
                "s", description="Of the service's own process, without an embedded engine's children.",
            ),
            Panel("Memory", (Query(f"{n.MEMORY}{SERVICE_JOB}", "{{instance}}"),), "bytes"),
        ),
        "Call log": (
            Panel("Waiting for the database", (Query(f"sum by (instance) ({n.SPOOL_BYTES}{INSTANCE})", "{{instance}}"),), "bytes"),
            Panel("Oldest waiting", (Query(f"max by (instance) ({n.SPOOL_OLDEST}{INSTANCE})", "{{instance}}"),), "s"),
            Panel(
                "Written and shipped",
                (
                    Query(f"sum(rate({n.SPOOL_WRITTEN}{INSTANCE}{RATE}))", "written"),
                    Query(f"sum(rate({n.SPOOL_SHIPPED}{INSTANCE}{RATE}))", "shipped"),
                ),
                "ops",
            ),
            Panel(
                "Lost, damaged, kept without texts",
                (
                    Query(f"sum({n.SPOOL_LOST}{INSTANCE})", "records lost"),
                    Query(f"sum({n.SPOOL_DAMAGED}{INSTANCE})", "bytes damaged"),
                    Query(f"sum({n.MASKING_FAILED}{INSTANCE})", "kept without texts"),
                ),
                description="Must stay 0.",
            ),
        ),
    },
)  # fmt: skip


def _holds(measure: str) -> tuple[Query, ...]:
    select = CONDITION[:-1] + f',property="{measure}"}}'
    return (Query(share("design, enforcement", n.OUTPUTS, 'holds="true"', select), "{{design}} {{enforcement}}"),)


QUALITY = Dashboard(
    "booking-quality",
    "Booking assistant: quality",
    "What the model wrote, what was grounded, what was decided. Nothing here says that a decision is right: the eval does.",
    _OF_CHECKS,
    {
        "Output": (
            Panel("Valid", _holds("valid"), "percentunit", width=6),
            Panel("Strict JSON", _holds("strict_json"), "percentunit", width=6),
            Panel("Fields in order", _holds("field_order_ok"), "percentunit", width=6),
            Panel("Words agree with the decision", _holds("consistent"), "percentunit", width=6),
            Panel(
                "Calls cut short",
                (Query(share("kind", n.CALLS, 'finish_reason="length"'), "{{kind}}"),),
                "percentunit", width=12,
            ),
            Panel("Flags", (Query(rate("flag", n.FLAGS), "{{flag}}"),), "ops", width=12),
        ),
        "Replies": (
            Panel("Replies by template", (Query(share("design", n.NARRATIONS, 'source="template"'), "share"),), "percentunit"),
            Panel("Why a template", (Query(rate("cause", n.NARRATIONS, CONDITION[:-1] + ',source="template"}'), "{{cause}}"),), "ops"),
            Panel("Masked before it was stored", (Query(rate("kind", n.MASKED, INSTANCE), "{{kind}}"),), "ops"),
        ),
        "Facts": (
            Panel("By status", (Query(rate("status", n.FACTS), "{{status}}"),), "ops", stacked=True),
            Panel("Not verified, by fact", (Query(share("fact", n.FACTS, 'status!="verified"'), "{{fact}}"),), "percentunit"),
            Panel(
                "The model says otherwise than the text",
                (Query(share("fact", n.AGREEMENTS, 'agreement=~"overruled|disagreed"'), "{{fact}}"),),
                "percentunit",
                description="Rises when a model, a prompt or the customers' way of writing changes, before escalations do.",
            ),
        ),
        "Decisions": (
            Panel("By action", (Query(rate("action", n.DECISIONS), "{{action}}"),), "reqps", stacked=True),
            Panel("By reason", (Query(rate("reason_code", n.DECISIONS), "{{reason_code}}"),), "reqps", stacked=True),
            Panel("Left to a person", (Query(share("design", n.DECISIONS, 'action="escalate_human"'), "{{design}}"),), "percentunit"),
        ),
    },
)  # fmt: skip

ENGINE = Dashboard(
    "booking-engine",
    "Booking assistant: engine",
    "vLLM, embedded or a fleet of its own, and what the checks ask of it.",
    (Variable("instance", n.VLLM_RUNNING),),
    {
        "Load": (
            Panel("Running", (Query(f"sum by (instance) ({n.VLLM_RUNNING}{INSTANCE})", "{{instance}}"),)),
            Panel("Waiting", (Query(f"sum by (instance) ({n.VLLM_WAITING}{INSTANCE})", "{{instance}}"),)),
            Panel("KV cache in use", (Query(f"max by (instance) ({n.VLLM_KV_USAGE}{INSTANCE})", "{{instance}}"),), "percentunit"),
            Panel(
                "Prefix cache hits",
                (Query(f"sum by (instance) (rate({n.VLLM_PREFIX_HITS}{INSTANCE}{RATE})) / "
                       f"sum by (instance) (rate({n.VLLM_PREFIX_QUERIES}{INSTANCE}{RATE}))", "{{instance}}"),),
                "percentunit", description="Of prompt tokens; the shared beginning of all prompts should be hit.",
            ),
            Panel("Preemptions", (Query(rate("instance", n.VLLM_PREEMPTIONS, INSTANCE), "{{instance}}"),), "ops"),
            Panel("Finished, by reason", (Query(rate("finished_reason", n.VLLM_FINISHED, INSTANCE), "{{finished_reason}}"),), "reqps"),
        ),
        "Tokens": (
            Panel(
                "Tokens a second",
                (
                    Query(f"sum(rate({n.VLLM_PROMPT_TOKENS}{INSTANCE}{RATE}))", "read"),
                    Query(f"sum(rate({n.VLLM_GENERATION_TOKENS}{INSTANCE}{RATE}))", "written"),
                ),
                "ops", width=12,
            ),
            Panel("Tokens of checks", (Query(rate("kind, direction", n.TOKENS, INSTANCE), "{{kind}} {{direction}}"),), "ops", width=12),
        ),
        "Latency": (
            Panel("Time to the first token", quantiles(n.VLLM_FIRST_TOKEN_BUCKET, INSTANCE), "s", width=6),
            Panel("Between tokens", quantiles(n.VLLM_INTER_TOKEN_BUCKET, INSTANCE), "s", width=6),
            Panel("In vLLM's queue", quantiles(n.VLLM_QUEUE_BUCKET, INSTANCE), "s", width=6),
            Panel("A whole call", quantiles(n.VLLM_REQUEST_BUCKET, INSTANCE), "s", width=6),
        ),
    },
)  # fmt: skip

_OF_CONDITION = '{condition=~"$condition"}'


def _measure(name: str) -> tuple[Query, ...]:
    return (Query(f'{n.EVAL_SHARE}{{condition=~"$condition",measure="{name}"}}', "{{condition}}"),)


EVAL = Dashboard(
    "booking-eval",
    "Booking assistant: eval",
    "Replayed messages with known outcomes, as `python -m eval metrics` last pushed or wrote them.",
    (Variable("condition", n.EVAL_SHARE),),
    {
        "Accuracy": (
            Panel("Fully right", _measure("fully_correct"), "percentunit", width=12),
            Panel(
                "Fully right, lower end of the 95 % interval",
                (Query(f'{n.EVAL_SHARE_LOW}{{condition=~"$condition",measure="fully_correct"}}', "{{condition}}"),),
                "percentunit", width=12,
            ),
            Panel("Decision right", _measure("decision_correct"), "percentunit"),
            Panel("Valid output", _measure("valid_json"), "percentunit"),
            Panel(
                "Unsafe bookings",
                (Query(f'{n.EVAL_OUTCOMES}{{condition=~"$condition",outcome="unsafe"}}', "{{condition}}"),),
                description="Booked what should not be booked.",
            ),
        ),
        "Run": (
            Panel("Latency p95", (Query(f'{n.EVAL_LATENCY}{{condition=~"$condition",quantile="0.95"}}', "{{condition}}"),), "s"),
            Panel("Without an answer", (Query(f"{n.EVAL_ERRORS}{_OF_CONDITION}", "{{condition}}"),)),
            Panel("Age of the last eval", (Query(f"time() - max({n.EVAL_FINISHED})", "age"),), "s"),
        ),
    },
)  # fmt: skip

ALL = (SERVICE, QUALITY, ENGINE, EVAL)
