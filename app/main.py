"""Runs the service: starts what build.py makes, in order, and ends it in the reverse order."""

import asyncio
import contextlib
import logging
import os
import signal
import socket
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field

import uvicorn
import uvloop
from fastapi import FastAPI

from app.api.access import Access
from app.api.readiness import Readiness
from app.build import build_access, build_app, build_call_log, build_checks, build_engine, build_retention
from app.errors import EngineError, ServiceError, StartFailed
from app.llm.supervised_engine import SupervisedEngine
from app.pipeline.checks import Checks
from app.settings import Settings
from app.store.call_log import SpooledCallLog
from app.store.embedded_postgres import EmbeddedPostgres
from app.store.migrate import migrate
from app.store.postgres import Postgres
from app.telemetry.clock import utc_now

log = logging.getLogger(__name__)

DATABASE_WATCH_SECONDS = 1.0
BACKLOG = 128
RECORD_SECONDS = 6.0
"""A write is given up after 5."""


@dataclass
class Service:
    """One running service: what `serve` needs and what ends with it."""

    settings: Settings
    listener: socket.socket
    engine: SupervisedEngine
    call_log: SpooledCallLog
    database: EmbeddedPostgres | None
    stopping: asyncio.Event = field(default_factory=asyncio.Event)


def run(settings: Settings) -> None:
    """Serve until a signal ends it. Raises StartFailed if it cannot begin.

    Must run in the main thread: the kernel ends the embedded database with the thread that started it.
    """
    access = build_access(settings)
    with listening(settings.host, settings.port) as listener:
        engine = build_engine(settings)
        database = None if settings.database_url else EmbeddedPostgres(settings.data_dir)
        loading = False
        try:
            url = database.start() if database else _given_url(settings)
            migrate(url, utc_now().date())
            with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
                loading = runner.run(_serve(settings, access, listener, engine, url, database))
        finally:
            if database:
                database.stop()
        if loading:
            # vLLM may be starting a process in a thread that cannot be interrupted. Python would wait for that process
            # at exit, and it ends when we do.
            sys.stdout.flush()
            os._exit(0)


@contextlib.contextmanager
def listening(host: str, port: int) -> Iterator[socket.socket]:
    """The address is taken first, so that a taken port costs a second and not a download."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # The protocol is named: asyncio turns Nagle's delay off, which costs 40 ms a reply, only for what says it is TCP.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(BACKLOG)  # a port can be bound twice, but listened to once
    except OSError as error:
        listener.close()
        raise StartFailed(f"cannot listen on {host}:{port}: {error.strerror}; stop what uses it or set PORT") from error
    with listener:
        yield listener


def _given_url(settings: Settings) -> str:
    assert settings.database_url is not None
    return settings.database_url.get_secret_value()


async def _serve(
    settings: Settings,
    access: Access,
    listener: socket.socket,
    engine: SupervisedEngine,
    url: str,
    database: EmbeddedPostgres | None,
) -> bool:
    """True if it was stopped while an engine was loading."""
    postgres = Postgres(url)
    service = Service(settings, listener, engine, build_call_log(settings, postgres), database)
    await service.call_log.start()
    checks = build_checks(settings, engine, service.call_log)
    readiness = Readiness(
        {"engine": engine.check, "call_log": service.call_log.check}, {"database": service.call_log.check_database}
    )
    server = _Server(build_app(checks, readiness, access, chat_page=settings.chat_page))
    _stop_on_signals(service)
    serving = asyncio.create_task(server.serve(sockets=[listener]), name="http")
    starting = asyncio.create_task(_make_ready(service, checks, readiness), name="start")
    watching = asyncio.create_task(_keep_database_alive(database), name="database-watch")
    forgetting = asyncio.create_task(build_retention(settings, postgres).keep_going(), name="retention")
    stopping = asyncio.create_task(service.stopping.wait(), name="stop")
    try:
        await asyncio.wait({serving, starting, stopping}, return_when=asyncio.FIRST_COMPLETED)
        if starting.done() and not starting.exception():
            await asyncio.wait({serving, stopping}, return_when=asyncio.FIRST_COMPLETED)
        loading = not starting.done() or engine.is_restarting
        await _drain(service, checks, readiness, server, serving)
        if starting.done():
            starting.result()
        return loading
    finally:
        helpers = {starting, watching, forgetting, stopping}
        for task in helpers:
            task.cancel()
        await asyncio.wait(helpers)
        await engine.aclose()
        await service.call_log.aclose()


async def _make_ready(service: Service, checks: Checks, readiness: Readiness) -> None:
    """Raises StartFailed."""
    try:
        await service.engine.start()
        await checks.compile_grammars()
    except EngineError as error:
        raise StartFailed(f"the engine does not answer while it is being prepared: {error}") from error
    if service.stopping.is_set():
        return
    readiness.open()
    host, port = service.listener.getsockname()[:2]
    url = f"http://{f'[{host}]' if ':' in host else host}:{port}"
    log.info("service.ready", extra={"url": url, "model": service.engine.model})
    with_key, with_page = service.settings.key_file.exists(), service.settings.chat_page
    print(_banner(url, service.engine.model, with_key=with_key, with_page=with_page), flush=True)


def _banner(url: str, model: str, *, with_key: bool, with_page: bool) -> str:
    message = "Hi, I am 34 and would like the £2,400 course and the £150 check-up on 14 December 2027 at 10am."
    key = "    -H 'Authorization: Bearer YOUR-KEY' \\\n" if with_key else ""
    page = f"Chat page: {url}/   " if with_page else ""
    return (
        f"\nThe booking assistant is ready at {url} ({model}). Try:\n\n"
        f"  curl -s {url}/consultations/check -H 'Content-Type: application/json' \\\n"
        f"{key}"
        f'    -d \'{{"message": "{message}"}}\'\n\n'
        f"{page}API documentation: {url}/docs   health: {url}/readyz   metrics: {url}/metrics   Ctrl-C stops it.\n"
    )


async def _keep_database_alive(database: EmbeddedPostgres | None) -> None:
    while database is not None:
        await asyncio.sleep(DATABASE_WATCH_SECONDS)
        try:
            database.restart_if_dead()
        except (ServiceError, OSError) as error:
            log.error("database.not_restarted", extra={"reason": str(error)})


async def _drain(
    service: Service, checks: Checks, readiness: Readiness, server: uvicorn.Server, serving: asyncio.Task[None]
) -> None:
    """Who comes before a load balancer has noticed is served, who comes later gets a 503; checks in flight go on."""
    readiness.leave("the service is stopping")
    log.info("service.draining")
    await asyncio.sleep(service.settings.stop_notice_seconds)
    readiness.hold_back("the service is stopping")
    try:
        async with asyncio.timeout(service.settings.drain_seconds):
            await checks.admission.idle()
    except TimeoutError:
        log.warning("service.drain_incomplete", extra={"seconds": service.settings.drain_seconds})
    server.should_exit = True
    await serving
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(RECORD_SECONDS):
            await checks.admission.idle()  # checks that were cancelled write their records


def _stop_on_signals(service: Service) -> None:
    loop = asyncio.get_running_loop()

    def stop() -> None:
        if service.stopping.is_set():
            # A second signal is impatience. The kernel and the parent watch end engine and database with this process.
            os._exit(130)
        service.stopping.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop)


class _Server(uvicorn.Server):
    """uvicorn without its own signal handling, which closes the socket before anything is drained."""

    def __init__(self, api: FastAPI) -> None:
        super().__init__(
            uvicorn.Config(api, log_config=None, access_log=False, server_header=False, timeout_graceful_shutdown=5)
        )

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield
