"""Plan, ask, score, write: every check of a run, in blocks, each record on disk before the next is begun."""

import asyncio
import contextlib
import itertools
import platform
import sys
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

from app.policy import Action
from eval import gpu, provenance
from eval.errors import Unreachable
from eval.plan import Block, CheckKey, Condition, PlannedCheck, blocks, smoke_blocks
from eval.progress import Progress
from eval.results import CheckError, CheckResult, ResultsWriter, cut_torn_line, new_header, read_results, same_run
from eval.scenarios import Scenario, ScenarioSet
from eval.score import Outcome, facts_right, fully_correct, outcome
from eval.service import About, Answer, NoAnswer, Service
from eval.validity import Validity, judge

T = TypeVar("T")

GIVE_UP_AFTER = 20
"""Checks in a row without an answer: the service is gone, and asking on would only fill the file with errors."""


@dataclass(frozen=True)
class RunOptions:
    out: Path
    conditions: tuple[Condition, ...]
    runs: int
    base_url: str
    api_key: str | None
    concurrency: int = 32
    warmup: int = 10
    runs_per_block: int | None = None
    """Default: blocks of at least twice the concurrency."""
    smoke: bool = False
    retry_errors: bool = False
    timeout_seconds: float = 900.0


async def run(options: RunOptions, chosen: ScenarioSet) -> None:
    """Runs what the file does not hold yet. Raises EvalError, Unreachable."""
    planned = _plan(options, chosen.scenarios)
    connections = options.concurrency + 4
    async with Service(options.base_url, options.api_key, options.timeout_seconds, connections) as service:
        await service.require_ready()
        with_words = next((s for s in chosen.scenarios if not _blank(s)), chosen.scenarios[0])
        about = await service.about(options.conditions[0], with_words.body(seed=0))
        with contextlib.closing(ResultsWriter(options.out)) as writer:
            session = _open(options, chosen, about, writer)
            left = [_without(block, session.done) for block in planned]
            total = sum(len(block.checks) for block in planned)
            session.begin(total, total - sum(len(block.checks) for block in left))
            try:
                await _run_blocks(service, [block for block in left if block.checks], session)
            finally:
                session.progress.close()


def _plan(options: RunOptions, scenarios: Sequence[Scenario]) -> list[Block]:
    if options.smoke:
        return list(smoke_blocks(options.conditions, scenarios))
    per_block = options.runs_per_block or max(1, -(-2 * options.concurrency // len(scenarios)))
    return list(blocks(options.conditions, scenarios, options.runs, per_block))


class _Session:
    """One sitting: what was there before, and what is written now."""

    def __init__(
        self,
        options: RunOptions,
        writer: ResultsWriter,
        earlier: Iterable[CheckResult] = (),
        failed: Mapping[CheckKey, int] | None = None,
    ) -> None:
        failed = failed or {}
        self.options = options
        self.writer = writer
        self.name = datetime.now(UTC).isoformat(timespec="seconds")  # noqa: TID251 - the edge: when this run began
        self.began = time.perf_counter()
        self.earlier = tuple(earlier)
        self.attempts = dict(failed)
        """Attempts so far by check without an answer."""
        self.done = {check.key for check in self.earlier}
        self.done |= {key for key, attempt in failed.items() if not options.retry_errors or attempt > 1}
        self.failures_in_a_row = 0
        local = urlsplit(options.base_url).hostname in ("127.0.0.1", "localhost", "::1")
        self._gpu_memory: Callable[[], int] | None = gpu.memory_reader() if local else None
        self._peak_mib = 0

    def begin(self, total: int, done: int) -> None:
        self.progress = Progress(total, done)
        for check in self.earlier:
            self.progress.seen(check.condition, check.fully_correct)

    def peak_gpu_memory_mib(self) -> int | None:
        if self._gpu_memory is None:
            return None
        self._peak_mib = max(self._peak_mib, self._gpu_memory())
        return self._peak_mib


def _open(options: RunOptions, chosen: ScenarioSet, about: About, writer: ResultsWriter) -> _Session:
    header = new_header(
        chosen,
        service_version=about.service_version,
        model=about.model,
        policy_version=about.policy_version,
        policy_hash=about.policy_hash,
        eval_commit=provenance.commit(),
        python=platform.python_version(),
        machine=provenance.machine(),
        concurrency=options.concurrency,
        runs=options.runs,
        base_url=options.base_url,
    )
    if not options.out.stat().st_size:
        writer.header(header)
        return _Session(options, writer)
    found = read_results(options.out)
    same_run(options.out, header, found.header)
    if found.torn:
        cut_torn_line(options.out)
        print(f"{options.out}: the last line was half written; its check runs again", file=sys.stderr)
    return _Session(options, writer, found.checks, {error.key: error.attempt for error in found.errors})


def _without(block: Block, done: set[CheckKey]) -> Block:
    return Block(block.index, block.condition, tuple(check for check in block.checks if check.key not in done))


async def _run_blocks(service: Service, left: Sequence[Block], session: _Session) -> None:
    warm: set[Condition] = set()
    for block in left:
        if block.condition not in warm:
            await _warm_up(service, block, session.options)
            warm.add(block.condition)
        await _all(block.checks, session.options.concurrency, partial(_one, service, block, session))


async def _warm_up(service: Service, block: Block, options: RunOptions) -> None:
    """Discarded: prompts enter the prefix cache, grammars the cache of the engine."""
    scenarios = [check.scenario for check in block.checks]
    some = itertools.islice(itertools.cycle(scenarios), options.warmup)

    async def discard(scenario: Scenario) -> None:
        with contextlib.suppress(NoAnswer):  # the checks that count will say so
            await service.check(block.condition, scenario.body(seed=0))

    await _all(tuple(some), options.concurrency, discard)


async def _all(items: Sequence[T], concurrency: int, work: Callable[[T], Awaitable[None]]) -> None:
    """At most `concurrency` at once, in order; the first failure ends the rest."""
    waiting = iter(items)

    async def worker() -> None:
        for item in waiting:
            await work(item)

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(min(concurrency, len(items))):
                group.create_task(worker())
    except ExceptionGroup as failures:
        raise failures.exceptions[0] from None


async def _one(service: Service, block: Block, session: _Session, check: PlannedCheck) -> None:
    started = time.perf_counter() - session.began
    try:
        answer = await service.check(check.condition, check.scenario.body(check.seed))
        record = _record(answer, block, check, session, started)
    except NoAnswer as error:
        if not _rightly_refused(check.scenario, error):
            _note_error(check, error, session)
            return
        record = _refusal(block, check, session, started, error)
    session.failures_in_a_row = 0
    session.writer.add(record)
    session.progress.answered(record.condition, record.fully_correct)


def _note_error(check: PlannedCheck, error: NoAnswer, session: _Session) -> None:
    attempt = session.attempts.get(check.key, 0) + 1
    session.writer.add(CheckError(**_identity(check), attempt=attempt, error=error.error, detail=error.detail))
    session.progress.failed(str(check.condition))
    session.failures_in_a_row += 1
    if session.failures_in_a_row >= GIVE_UP_AFTER:
        raise Unreachable(
            f"{GIVE_UP_AFTER} checks in a row got no answer, the last: {error.error}: {error.detail}. What was "
            f"answered is kept in {session.options.out}; see to the service, then the same command with "
            "--retry-errors goes on"
        )


def _identity(check: PlannedCheck) -> dict[str, Any]:
    return {
        "scenario": check.scenario.id,
        "group": check.scenario.group,
        "run_index": check.run_index,
        "design": check.condition.design,
        "enforcement": check.condition.enforcement,
        "seed": check.seed,
    }


def _record(answer: Answer, block: Block, check: PlannedCheck, session: _Session, started: float) -> CheckResult:
    """Raises NoAnswer if the reply is not one of POST /consultations/check."""
    try:
        return CheckResult(
            **_identity(check),
            **_placed(block, session, started),
            **_judged(check.scenario, answer),
            latency_ms=round(answer.latency_ms, 3),
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise NoAnswer("unexpected_reply", f"{type(error).__name__}: {error}") from error


def _placed(block: Block, session: _Session, started: float) -> dict[str, Any]:
    return {
        "block": block.index,
        "session": session.name,
        "started_seconds": round(started, 3),
        "peak_gpu_memory_mib": session.peak_gpu_memory_mib(),
    }


def _judged(scenario: Scenario, answer: Answer) -> dict[str, Any]:
    reply, calls = answer.reply, answer.calls
    judged = judge(calls)
    validity = judged or Validity(reply["valid"], reply["strict_json"], reply["field_order_ok"])
    return {
        "outcome": outcome(scenario, reply),
        "valid_json": validity.valid_json,
        "strict_json": validity.strict_json,
        "field_order_ok": validity.field_order_ok,
        "judged_by": "eval" if judged else "service",
        "decision_correct": reply["action"] == scenario.action,
        "fully_correct": fully_correct(scenario, reply),
        "facts_right": facts_right(scenario, reply),
        "response_consistent": reply["consistent"],
        "flags": reply["flags"],
        "narration_source": reply["narration_source"],
        "action": reply["action"],
        "reason_code": reply["eligibility"]["reason_code"],
        "criteria_met": reply["eligibility"]["criteria_met"],
        "appointment": reply["appointment"],
        "response_text": reply["response_text"],
        "facts": reply["facts"],
        "prompt_tokens": reply["usage"]["prompt_tokens"],
        "completion_tokens": reply["usage"]["completion_tokens"],
        "finish_reasons": [call["finish_reason"] for call in calls],
        "prompt_versions": [call["prompt_version"] for call in calls],
        "raw_outputs": [call["raw_output"] for call in calls],
        "timings_ms": reply["timings_ms"],
        "model": reply["model"],
        "service_version": answer.service_version,
        "policy_version": reply["policy"]["version"],
        "policy_hash": reply["policy"]["hash"],
        "consultation_id": reply["id"],
    }


def _rightly_refused(scenario: Scenario, error: NoAnswer) -> bool:
    """A message without a word may be refused instead of answered."""
    return error.error.startswith("http_4") and _blank(scenario)


def _blank(scenario: Scenario) -> bool:
    return not any(turn.content.strip() for turn in scenario.turns)


def _refusal(block: Block, check: PlannedCheck, session: _Session, started: float, error: NoAnswer) -> CheckResult:
    return CheckResult(
        **_identity(check),
        **_placed(block, session, started),
        latency_ms=round((time.perf_counter() - session.began - started) * 1000, 3),
        outcome=Outcome.RIGHT,
        valid_json=True,
        strict_json=True,
        field_order_ok=True,
        judged_by="service",
        decision_correct=check.scenario.action is Action.ESCALATE_HUMAN,
        fully_correct=check.scenario.action is Action.ESCALATE_HUMAN,
        facts_right=None,
        response_consistent=True,
        flags=["refused"],
        narration_source="none",
        action="refused",
        reason_code=error.error,
        criteria_met=False,
        appointment=None,
        response_text=error.detail,
        facts=None,
        prompt_tokens=0,
        completion_tokens=0,
        finish_reasons=[],
        prompt_versions=[],
        raw_outputs=[],
        timings_ms={},
        model="",
        service_version="",
        policy_version="",
        policy_hash="",
        consultation_id="",
    )
