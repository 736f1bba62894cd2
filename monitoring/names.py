"""The names of all metrics that panels ask for: the service's and the eval's as they declare them, vLLM's here.

vLLM renames its own from version to version; tests/e2e/test_monitoring.py looks for each of these in a live scrape.
"""

from prometheus_client import Counter, Gauge, Histogram

from app.telemetry import metrics
from eval import metrics as eval_metrics


def total(counter: Counter) -> str:
    return f"{next(iter(counter.describe())).name}_total"


def value(gauge: Gauge) -> str:
    return next(iter(gauge.describe())).name


def bucket(histogram: Histogram) -> str:
    return f"{next(iter(histogram.describe())).name}_bucket"


def count(histogram: Histogram) -> str:
    return f"{next(iter(histogram.describe())).name}_count"


READY = value(metrics.READY)
ENGINE_UP = value(metrics.ENGINE_UP)
ENGINE_LOST = total(metrics.ENGINE_LOST)
CHECKS = total(metrics.CHECKS)
CHECK_BUCKET = bucket(metrics.CHECK_SECONDS)
STAGE_BUCKET = bucket(metrics.STAGE_SECONDS)
IN_FLIGHT = value(metrics.IN_FLIGHT)
QUEUE = value(metrics.ADMISSION_QUEUE)
WAIT_BUCKET = bucket(metrics.ADMISSION_WAIT_SECONDS)
ADMISSION_REFUSED = total(metrics.ADMISSION_REFUSED)
REFUSED = total(metrics.REFUSED)
HTTP_COUNT = count(metrics.HTTP_SECONDS)
OUTPUTS = total(metrics.OUTPUTS)
NARRATIONS = total(metrics.NARRATIONS)
FACTS = total(metrics.FACTS)
AGREEMENTS = total(metrics.AGREEMENTS)
DECISIONS = total(metrics.DECISIONS)
FLAGS = total(metrics.FLAGS)
CALLS = total(metrics.CALLS_FINISHED)
TOKENS = total(metrics.TOKENS)
MASKED = total(metrics.MASKED)
MASKING_FAILED = total(metrics.MASKING_FAILED)
_CALL_LOG = {key: name for key, (name, _, _) in metrics.CALL_LOG_FAMILIES.items()}
SPOOL_BYTES = _CALL_LOG["spool_bytes"]
SPOOL_OLDEST = _CALL_LOG["oldest_unshipped_seconds"]
SPOOL_WRITTEN = _CALL_LOG["written"]
SPOOL_SHIPPED = _CALL_LOG["shipped"]
SPOOL_LOST = _CALL_LOG["lost"]
SPOOL_DAMAGED = _CALL_LOG["damaged_bytes"]
CPU = "process_cpu_seconds_total"
MEMORY = "process_resident_memory_bytes"

EVAL_SHARE = eval_metrics.SHARE
EVAL_SHARE_LOW = eval_metrics.SHARE_LOW
EVAL_OUTCOMES = eval_metrics.OUTCOMES
EVAL_ERRORS = eval_metrics.ERRORS
EVAL_LATENCY = eval_metrics.LATENCY
EVAL_FINISHED = eval_metrics.FINISHED

VLLM_RUNNING = "vllm:num_requests_running"
VLLM_WAITING = "vllm:num_requests_waiting"
VLLM_KV_USAGE = "vllm:kv_cache_usage_perc"
VLLM_PREFIX_QUERIES = "vllm:prefix_cache_queries_total"
VLLM_PREFIX_HITS = "vllm:prefix_cache_hits_total"
VLLM_PREEMPTIONS = "vllm:num_preemptions_total"
VLLM_PROMPT_TOKENS = "vllm:prompt_tokens_total"
VLLM_GENERATION_TOKENS = "vllm:generation_tokens_total"
VLLM_FIRST_TOKEN_BUCKET = "vllm:time_to_first_token_seconds_bucket"
VLLM_INTER_TOKEN_BUCKET = "vllm:inter_token_latency_seconds_bucket"
VLLM_QUEUE_BUCKET = "vllm:request_queue_time_seconds_bucket"
VLLM_REQUEST_BUCKET = "vllm:e2e_request_latency_seconds_bucket"
VLLM_FINISHED = "vllm:request_success_total"
