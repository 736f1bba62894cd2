"""Every part of the service, built from the settings; nothing is started here."""

from collections.abc import Callable
from dataclasses import asdict
from datetime import timedelta
from typing import get_args

from fastapi import FastAPI
from fastapi.middleware.cors import CORSMiddleware

import app
from app.api.access import Access
from app.api.erasure_routes import build_erasure_router
from app.api.handlers import add_handlers
from app.api.health_routes import build_health_router
from app.api.keys import KeyRing
from app.api.middleware import BodyLimit, Door, HeaderLimit, RequestContext, SecurityHeaders
from app.api.page_routes import build_page_router
from app.api.problems import KINDS
from app.api.rate_limit import RateLimit
from app.api.readiness import Readiness
from app.api.routes import CHECK_PATH, EXPOSED_HEADERS, REQUEST_HEADERS, build_check_router
from app.errors import LossReason, SettingsInvalid
from app.llm.demo_script import demo_reply
from app.llm.engine import Engine, FinishReason
from app.llm.scripted_engine import ScriptedEngine, replies_from_file
from app.llm.supervised_engine import SupervisedEngine
from app.pipeline.admission import AdmissionLimits, RefusalReason
from app.pipeline.checks import OUTPUT_PROPERTIES, CheckLimits, Checks
from app.pipeline.design import DesignName, Enforcement
from app.policy import POLICY
from app.settings import Settings
from app.store.call_log import SpooledCallLog
from app.store.postgres import Postgres
from app.store.records import CallKind, CheckOutcome
from app.store.retention import Retention, RetentionPeriods
from app.store.spool import SpoolLimits
from app.store.spool.disk import require_disk
from app.telemetry import metrics
from app.telemetry.clock import utc_now


def build_app(checks: Checks, readiness: Readiness, access: Access, *, chat_page: bool = False) -> FastAPI:
    """The HTTP application around parts that someone else starts and stops."""
    show_all_counters()
    api = FastAPI(title="Booking assistant", version=app.__version__, description=app.__doc__ or "")
    api.include_router(build_check_router(checks, access, readiness))
    api.include_router(build_health_router(access, readiness))
    api.include_router(build_erasure_router(access, checks.call_log))
    if chat_page:
        api.include_router(build_page_router())
    add_handlers(api)
    api.add_middleware(BodyLimit)  # added first, so it is innermost
    if access.origins:
        api.add_middleware(
            CORSMiddleware,
            allow_origins=access.origins,
            allow_methods=["GET", "POST", "DELETE"],
            allow_headers=["Authorization", "Content-Type", *REQUEST_HEADERS],
            expose_headers=EXPOSED_HEADERS,
        )
    api.add_middleware(Door, path=CHECK_PATH, require_room=checks.admission.require_room)
    api.add_middleware(HeaderLimit)
    api.add_middleware(SecurityHeaders)
    api.add_middleware(RequestContext)
    return api


def show_all_counters() -> None:
    """Before anything is counted, so that a first failure is seen as one."""
    conditions = (DesignName, Enforcement)
    metrics.begin_at_zero(metrics.CHECKS, *conditions, get_args(CheckOutcome))
    metrics.begin_at_zero(metrics.OUTPUTS, *conditions, OUTPUT_PROPERTIES, ("true", "false"))
    metrics.begin_at_zero(metrics.CALLS_FINISHED, get_args(CallKind), get_args(FinishReason), *conditions)
    metrics.begin_at_zero(metrics.REFUSED, (kind.name for kind in KINDS))
    metrics.begin_at_zero(metrics.ADMISSION_REFUSED, get_args(RefusalReason))
    metrics.begin_at_zero(metrics.ENGINE_LOST, get_args(LossReason))


def build_access(settings: Settings) -> Access:
    """Raises SettingsInvalid where others than this machine could come in without a key."""
    keys = KeyRing(settings.key_file)
    if not settings.is_loopback and not keys.has_a_valid_key:
        raise SettingsInvalid(
            f"HOST {settings.host} is reachable from other machines and there is no key: make one with "
            "`python -m app.keys create NAME --scopes check`, or use HOST=127.0.0.1"
        )
    return Access(keys, RateLimit(settings.rate_limit_per_minute), settings.origins)


def build_call_log(settings: Settings, postgres: Postgres) -> SpooledCallLog:
    """Not yet started. Raises StartFailed where it could not be durable."""
    if not settings.allow_volatile_spool:
        require_disk(settings.spool_folder)
    call_log = SpooledCallLog(
        postgres, settings.spool_folder, SpoolLimits(max_bytes=settings.spool_max_mib * 1024 * 1024)
    )
    metrics.CALL_LOG.follow(lambda: asdict(call_log.stats))
    return call_log


def build_retention(settings: Settings, postgres: Postgres) -> Retention:
    decisions = settings.retention_decisions_days
    periods = RetentionPeriods(
        contents=timedelta(days=settings.retention_contents_days),
        decisions=timedelta(days=decisions) if decisions else None,
    )
    return Retention(postgres, settings.spool_folder, periods, utc_now)


def build_checks(settings: Settings, engine: Engine, call_log: SpooledCallLog) -> Checks:
    limits = CheckLimits(
        check_timeout_seconds=settings.check_timeout_seconds,
        narration_timeout_seconds=settings.narration_timeout_seconds,
        admission=AdmissionLimits(settings.max_in_flight, settings.max_queued, settings.max_wait_seconds),
        mask_stored_text=settings.mask_stored_text,
    )
    return Checks(engine, call_log, POLICY, limits, settings.narration)


def build_engine(settings: Settings) -> SupervisedEngine:
    """The engine of ENGINE, not yet started; its weights are on this machine when this returns. Raises StartFailed."""

    def count(reason: str) -> None:
        metrics.ENGINE_LOST.labels(reason).inc()

    engine = SupervisedEngine(_engine_factory(settings), count)
    metrics.ENGINE_UP.set_function(lambda: engine.is_up)
    return engine


def _engine_factory(settings: Settings) -> Callable[[], Engine]:
    if settings.engine == "scripted":
        reply = replies_from_file(settings.script_file) if settings.script_file else demo_reply
        return lambda: ScriptedEngine(reply, settings.script_latency_seconds)
    if settings.engine == "openai":
        return _openai_factory(settings)
    from app.llm.hardware import detect_device
    from app.llm.vllm_engine.engine import VllmEngine, require_installed
    from app.llm.vllm_engine.run_dir import new_run_dir
    from app.llm.vllm_engine.settings import VllmSettings
    from app.llm.weights import ensure_weights

    device = detect_device()
    require_installed()
    tuned = settings.engine_profile == "tuned"
    weights = ensure_weights(settings.model, device, settings.cache_dir, "int8" if tuned else "bfloat16")
    vllm_settings = VllmSettings(
        weights.folder, weights.name, device, new_run_dir(), max_running=settings.engine_batch, tuned=tuned
    )
    return lambda: VllmEngine(vllm_settings)


def _openai_factory(settings: Settings) -> Callable[[], Engine]:
    """Raises SettingsInvalid."""
    from app.llm.openai_engine.engine import OpenAIEngine, OpenAISettings

    if not settings.openai_urls:
        raise SettingsInvalid("ENGINE=openai needs OPENAI_BASE_URL, e.g. http://127.0.0.1:8001/v1")
    if settings.model == "auto":
        raise SettingsInvalid("ENGINE=openai needs MODEL, the name under which the servers offer it")
    key = settings.openai_api_key
    openai_settings = OpenAISettings(settings.openai_urls, settings.model, key.get_secret_value() if key else None)
    return lambda: OpenAIEngine(openai_settings)
