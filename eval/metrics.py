"""An eval's rates as Prometheus metrics, scraped from a file or pushed: accuracy over time, next to the service."""

from datetime import datetime, timedelta
from pathlib import Path
from urllib.error import URLError

from prometheus_client import CollectorRegistry, Gauge, generate_latest, push_to_gateway

from eval.analysis import Analysis
from eval.errors import EvalError
from eval.results import Results

SHARE = "booking_eval_share"
SHARE_LOW = "booking_eval_share_low"
SHARE_HIGH = "booking_eval_share_high"
OUTCOMES = "booking_eval_outcomes"
ERRORS = "booking_eval_errors"
LATENCY = "booking_eval_latency_seconds"
FINISHED = "booking_eval_finished_timestamp_seconds"
INFO = "booking_eval_info"

JOB = "booking-eval"
PUSH_SECONDS = 10.0


def as_metrics(results: Results, analysis: Analysis) -> CollectorRegistry:
    """Of all groups together, by condition. Raises EvalError if nothing was answered."""
    if not results.checks:
        raise EvalError(f"{results.path} holds no answered check; there is nothing to show")
    registry = CollectorRegistry()

    def gauge(name: str, text: str, *labels: str) -> Gauge:
        return Gauge(name, text, labels, registry=registry)

    share = gauge(SHARE, "Share of answered checks by property", "condition", "measure")
    low = gauge(SHARE_LOW, "Lower end of the 95 % interval of that share", "condition", "measure")
    high = gauge(SHARE_HIGH, "Upper end of the 95 % interval of that share", "condition", "measure")
    outcomes = gauge(OUTCOMES, "Answered checks by outcome", "condition", "outcome")
    errors = gauge(ERRORS, "Checks without an answer", "condition")
    latency = gauge(LATENCY, "Latency of a check", "condition", "quantile")
    for cell in analysis.cells:
        if cell.group != "all":
            continue
        for measure, rate in cell.rates.items():
            share.labels(cell.condition, measure).set(rate.share)
            low.labels(cell.condition, measure).set(rate.interval.low)
            high.labels(cell.condition, measure).set(rate.interval.high)
        for outcome, number in cell.outcomes.items():
            outcomes.labels(cell.condition, outcome).set(number)
        errors.labels(cell.condition).set(cell.errors)
        latency.labels(cell.condition, "0.5").set(cell.latency_p50_ms / 1000)
        latency.labels(cell.condition, "0.95").set(cell.latency_p95_ms / 1000)
    gauge(FINISHED, "When the last check was answered").set(_finished(results).timestamp())
    head = results.header
    names = ("model", "service_version", "policy_version", "policy_hash")
    gauge(INFO, "What was evaluated", *names).labels(*(getattr(head, name) for name in names)).set(1)
    return registry


def write_textfile(registry: CollectorRegistry, path: Path) -> None:
    """For the node exporter's textfile collector, which must never see half a file. Raises EvalError."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_name(path.name + ".partial")
        partial.write_bytes(generate_latest(registry))
        partial.replace(path)
    except OSError as error:
        raise EvalError(f"cannot write {path}: {error.strerror}") from error


def push(registry: CollectorRegistry, url: str) -> None:
    """To a Prometheus pushgateway, in place of the last run's. Raises EvalError."""
    try:
        push_to_gateway(url, job=JOB, registry=registry, timeout=PUSH_SECONDS)
    except (URLError, OSError, ValueError) as error:
        raise EvalError(f"the pushgateway at {url} did not take the results: {error}") from error


def _finished(results: Results) -> datetime:
    return max(
        datetime.fromisoformat(check.session) + timedelta(seconds=check.started_seconds, milliseconds=check.latency_ms)
        for check in results.checks
    )
