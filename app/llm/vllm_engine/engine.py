"""The embedded engine: vLLM's AsyncLLM behind this service's contract."""

import asyncio
import contextlib
import importlib.metadata
import importlib.util
import itertools
import logging
import multiprocessing
import signal
import threading
import time
from typing import Any
from uuid import uuid4

from app.errors import (
    CallFailed,
    EngineError,
    EngineLost,
    EngineNotReady,
    EngineOverloaded,
    PromptTooLong,
    StartFailed,
)
from app.llm.engine import ChatMessage, Generation, OutputSchema, Prompt, Sampling, TextListener
from app.llm.grammar_schema import grammar_schema
from app.llm.vllm_engine.processes import are_stopped, cpu_seconds, descendants, end_processes
from app.llm.vllm_engine.run_dir import make_run_dir, note_shared_memory, remove_left_run_dirs, remove_run_dir
from app.llm.vllm_engine.settings import VllmSettings, engine_arguments, set_environment

log = logging.getLogger(__name__)

WATCH_SECONDS = 1.0
FIRST_PASS_SECONDS = 300.0
PROBE_TOKENS = 0
"""A probe earns no allowance for reading."""
PLUGIN = "booking_assistant"


class VllmEngine:
    """Owns vLLM's processes: starts them, watches that they make progress, and leaves none behind."""

    def __init__(self, settings: VllmSettings) -> None:
        self._settings = settings
        self._llm: Any = None
        self._tokenizer: Any = None
        self._special_tokens: tuple[str, ...] = ()
        self._progress: Any = None
        self._not_ready = "the model is loading"
        self._stalled = False
        self._last_prompts: dict[str, list[int]] = {}
        self._calls: set[asyncio.Task[Generation]] = set()
        self._watcher: asyncio.Task[None] | None = None
        self._end: asyncio.Task[None] | None = None
        self._ended = threading.Event()
        self._roots: set[int] = set()
        """Process ids of the children that vLLM started from here; theirs are found when needed."""

    @property
    def model(self) -> str:
        return self._settings.model

    async def start(self) -> None:
        require_installed()
        remove_left_run_dirs()
        make_run_dir(self._settings.run_dir)
        set_environment(self._settings)
        before = _spawned()
        try:
            self._llm = await self._build_in_lasting_thread()
            self._roots = _spawned() - before
            note_shared_memory(self._settings.run_dir, self._roots)
            # The first forward pass waits for weights that are still being packed: loading, not a stall.
            async with asyncio.timeout(FIRST_PASS_SECONDS):
                await self._probe()
        except BaseException as error:
            self._roots = _spawned() - before
            if not isinstance(error, Exception):
                raise  # cancelled while loading: aclose ends the processes
            await self.aclose()
            raise StartFailed(f"vLLM could not load {self.model}: {_first_line(error)}") from error
        self._tokenizer = self._llm.get_tokenizer()
        self._special_tokens = tuple(self._tokenizer.get_added_vocab())
        self._not_ready = ""
        self._watcher = asyncio.create_task(self._watch(), name="engine-watch")

    async def compile(self, schema: OutputSchema) -> None:
        prompt = Prompt("compile", "1", (ChatMessage("user", "{}"),))
        await self.generate(prompt, schema, Sampling(max_tokens=1))

    async def generate(
        self, prompt: Prompt, schema: OutputSchema | None, sampling: Sampling, on_text: TextListener | None = None
    ) -> Generation:
        await self.check()
        token_ids = self._render(prompt)
        room = self._llm.model_config.max_model_len - sampling.max_tokens
        if len(token_ids) > room:
            raise PromptTooLong(len(token_ids), room)
        new_tokens = self._new_tokens(prompt.name, token_ids)
        call = asyncio.create_task(self._call(token_ids, schema, sampling, new_tokens, on_text))
        self._calls.add(call)
        call.add_done_callback(self._calls.discard)
        try:
            return await call
        except asyncio.CancelledError:
            if call.cancelled() and self._stalled:
                raise EngineLost("the engine stopped making progress during this call", "stalled") from None
            call.cancel()
            raise

    async def check(self) -> None:
        if self._not_ready:
            raise EngineNotReady(self._not_ready)
        if self._llm.errored:
            raise EngineLost("the engine's process has died", "died")
        if self._stalled:
            raise EngineLost("the engine makes no progress", "stalled")

    async def aclose(self) -> None:
        """Once begun it goes on, whoever stops waiting for it: the next to ask waits for the same end."""
        if self._end is None:
            self._end = asyncio.create_task(self._close(), name="engine-end")
        await asyncio.shield(self._end)

    async def _close(self) -> None:
        self._ended.set()
        self._not_ready = "the engine is closed"
        if self._watcher is not None:
            self._watcher.cancel()
        is_gentle = self._llm is not None and not self._stalled and not self._llm.errored
        if not is_gentle:
            # A stopped process hears nothing else, and a loading one would only print that it was interrupted.
            await self._end_processes(signal.SIGKILL)
        if self._llm is not None:
            with contextlib.suppress(Exception):
                await asyncio.to_thread(self._llm.shutdown, 10.0)
        await self._end_processes(signal.SIGTERM, signal.SIGKILL)
        remove_run_dir(self._settings.run_dir)

    async def _end_processes(self, *signals: signal.Signals) -> None:
        """Only what is still a child of ours: an id may belong to somebody else by now."""
        await asyncio.to_thread(end_processes, descendants(self._roots & _spawned()), signals)

    async def _build_in_lasting_thread(self) -> Any:
        """vLLM's children are killed by the kernel when the thread that started them ends: this one ends last."""
        loop = asyncio.get_running_loop()
        built: asyncio.Future[Any] = loop.create_future()

        def own() -> None:
            try:
                llm = self._build()
            except BaseException as error:  # noqa: BLE001 - handed to the awaiting task
                _hand_over(loop, built, error)
                return
            _hand_over(loop, built, llm)
            self._ended.wait()

        threading.Thread(target=own, name="engine-owner", daemon=True).start()
        return await built

    def _build(self) -> Any:
        from vllm.engine.arg_utils import AsyncEngineArgs
        from vllm.v1.engine.async_llm import AsyncLLM

        from app.llm.vllm_engine.progress import Progress, heartbeat

        self._progress = Progress(self._settings.prefill_seconds_per_token)
        arguments = AsyncEngineArgs(**engine_arguments(self._settings))
        return AsyncLLM.from_engine_args(arguments, stat_loggers=[heartbeat(self._progress)])

    def _render(self, prompt: Prompt) -> list[int]:
        """Token ids by the model's chat template. A customer cannot write the template's own marks.

        Raises CallFailed for text with lone surrogates.
        """
        messages = [{"role": m.role, "content": self._without_marks(m.content)} for m in prompt.messages]
        try:
            ids = self._tokenizer.apply_chat_template(
                messages, add_generation_prompt=True, tokenize=True, return_dict=False
            )
        except (TypeError, ValueError) as error:
            raise CallFailed(f"the prompt {prompt.name!r} is not valid Unicode") from error
        return list(ids)

    def _without_marks(self, content: str) -> str:
        for mark in self._special_tokens:
            if mark in content:
                content = content.replace(mark, f"{mark[0]} {mark[1:]}")
        return content

    def _new_tokens(self, name: str, token_ids: list[int]) -> int:
        """Tokens that the prefix cache does not hold from the last prompt of this name: what a step has to read."""
        last = self._last_prompts.get(name, [])
        self._last_prompts[name] = token_ids
        shared = sum(
            1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], zip(last, token_ids, strict=False))
        )
        return len(token_ids) - shared

    async def _probe(self) -> Generation:
        """The least that an idle engine can be asked."""
        return await self._call([0], None, Sampling(max_tokens=1), PROBE_TOKENS)

    async def _call(
        self,
        token_ids: list[int],
        schema: OutputSchema | None,
        sampling: Sampling,
        new_tokens: int,
        on_text: TextListener | None = None,
    ) -> Generation:
        from vllm.v1.engine.exceptions import EngineDeadError

        request_id = uuid4().hex
        started = time.perf_counter()
        text, completion_tokens, finish_reason = "", 0, None
        self._progress.began(request_id, new_tokens)
        try:
            parameters = _parameters(schema, sampling, in_pieces=on_text is not None)
            outputs = self._llm.generate({"prompt_token_ids": token_ids}, parameters, request_id)
            async with contextlib.aclosing(outputs):
                async for output in outputs:  # pieces where somebody listens, else the whole at once
                    piece = output.outputs[0]
                    text += piece.text
                    completion_tokens += len(piece.token_ids)
                    finish_reason = piece.finish_reason
                    if on_text is not None and piece.text:
                        on_text(piece.text)
        except EngineDeadError as error:
            raise EngineLost("the engine's process died during this call", "died") from error
        except Exception as error:
            raise _translated(error) from error
        finally:
            self._progress.ended(request_id)
        if finish_reason not in ("stop", "length", "abort"):
            raise CallFailed(f"the engine ended the call with {finish_reason!r}")
        return Generation(
            text=text,
            finish_reason=finish_reason,
            prompt_tokens=len(token_ids),
            completion_tokens=completion_tokens,
            latency_ms=(time.perf_counter() - started) * 1000,
        )

    async def _watch(self) -> None:
        """Marks a stalled engine for good, and fails the calls that wait for it."""
        from app.llm.vllm_engine.progress import PROBE_AFTER_SECONDS

        probe: asyncio.Task[Generation] | None = None
        processes = descendants(self._roots)  # once: to find them is to read all of /proc
        while True:
            await asyncio.sleep(WATCH_SECONDS)
            self._progress.looked(cpu_seconds(processes), are_stopped=are_stopped(processes))
            silent = self._progress.stalled_seconds
            if silent and not self._stalled:
                self._stalled = True
                log.error("engine.stalled", extra={"silent_seconds": round(silent, 1)})
                for call in tuple(self._calls):
                    call.cancel()
            if probe is not None and probe.done():
                probe = None
            if probe is None and self._progress.idle_seconds > PROBE_AFTER_SECONDS and not self._llm.errored:
                probe = asyncio.create_task(self._probe())
                probe.add_done_callback(_retrieve)


def _parameters(schema: OutputSchema | None, sampling: Sampling, *, in_pieces: bool) -> Any:
    from vllm import SamplingParams
    from vllm.sampling_params import RequestOutputKind, StructuredOutputsParams

    return SamplingParams(
        temperature=sampling.temperature,
        # Nothing is drawn at temperature 0, so no generator is made: on CPU a seeded one can kill the engine.
        seed=sampling.seed if sampling.temperature > 0 else None,
        max_tokens=sampling.max_tokens,
        output_kind=RequestOutputKind.DELTA if in_pieces else RequestOutputKind.FINAL_ONLY,
        structured_outputs=StructuredOutputsParams(json=grammar_schema(schema.json_schema)) if schema else None,
    )


def _translated(error: Exception) -> EngineError:
    from vllm.exceptions import MaxQueuedTokensError, QueueOverflowError

    if isinstance(error, QueueOverflowError | MaxQueuedTokensError):
        return EngineOverloaded("the engine's queue is full; try again in a few seconds")
    return CallFailed(f"the engine failed this call: {type(error).__name__}")


def require_installed() -> None:
    """Raises StartFailed without vLLM or this package's plugin.

    Without the plugin vLLM's processes would outlive a killed service, and CPUs without VNNI would crawl.
    """
    if importlib.util.find_spec("vllm") is None:
        raise StartFailed("vLLM is not installed; run `make install`, or use ENGINE=scripted")
    names = {point.name for point in importlib.metadata.entry_points(group="vllm.general_plugins")}
    if PLUGIN not in names:
        raise StartFailed("this package is not installed in its environment; run `make install`")


def _hand_over(loop: asyncio.AbstractEventLoop, built: asyncio.Future[Any], outcome: Any) -> None:
    """Settle the future from the owning thread; nobody may be left to hear it after a stop while loading."""

    def settle() -> None:
        if built.done():
            return
        if isinstance(outcome, BaseException):
            built.set_exception(outcome if isinstance(outcome, Exception) else RuntimeError(repr(outcome)))
        else:
            built.set_result(outcome)

    with contextlib.suppress(RuntimeError):  # the loop is closed
        loop.call_soon_threadsafe(settle)


def _retrieve(task: asyncio.Task[Generation]) -> None:
    if not task.cancelled():
        task.exception()


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def _spawned() -> set[int]:
    """Process ids of this process's multiprocessing children: vLLM's, and not Postgres."""
    return {child.pid for child in multiprocessing.active_children() if child.pid is not None}
