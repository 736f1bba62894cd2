"""The results file: JSON lines, the run's provenance first, then one record a check, written as it finishes."""

import contextlib
import fcntl
import gzip
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import IO, Any

from pydantic import TypeAdapter, ValidationError

from app.pipeline.design import DesignName, Enforcement
from eval.errors import EvalError
from eval.plan import CheckKey
from eval.scenarios import Scenario, ScenarioSet, dump
from eval.score import Outcome

FORMAT = 1


@dataclass(frozen=True)
class Header:
    """What the run was made of. Two files compare only if their scenarios are the same."""

    scenario_file: str
    scenario_hash: str
    scenarios: tuple[Scenario, ...]
    service_version: str
    model: str
    policy_version: str
    policy_hash: str
    eval_commit: str
    """Of this repository; ends in -dirty if files differ from it."""
    python: str
    machine: str
    concurrency: int
    runs: int
    base_url: str

    @property
    def by_id(self) -> dict[str, Scenario]:
        return {scenario.id: scenario for scenario in self.scenarios}


@dataclass(frozen=True)
class CheckResult:
    """One answered check. Latency is what the client saw."""

    scenario: str
    group: str
    run_index: int
    design: DesignName
    enforcement: Enforcement
    seed: int
    block: int
    session: str
    """When this sitting of the run began: a block that was interrupted has checks of two."""
    started_seconds: float
    """Since the session began."""
    latency_ms: float
    outcome: Outcome
    valid_json: bool
    strict_json: bool
    field_order_ok: bool
    judged_by: str
    """eval: from the raw outputs; service: its word, where raw outputs are not shown."""
    decision_correct: bool
    fully_correct: bool
    facts_right: dict[str, bool] | None
    response_consistent: bool
    flags: list[str]
    narration_source: str
    action: str
    reason_code: str
    criteria_met: bool
    appointment: dict[str, str] | None
    response_text: str
    facts: dict[str, Any] | None
    prompt_tokens: int
    completion_tokens: int
    finish_reasons: list[str | None]
    prompt_versions: list[str]
    raw_outputs: list[str | None]
    timings_ms: dict[str, float]
    peak_gpu_memory_mib: int | None
    model: str
    service_version: str
    policy_version: str
    policy_hash: str
    consultation_id: str

    @property
    def condition(self) -> str:
        return f"{self.design}/{self.enforcement}"

    @property
    def key(self) -> CheckKey:
        return CheckKey(self.condition, self.scenario, self.run_index)


@dataclass(frozen=True)
class CheckError:
    """A check without an answer. Never counted as a wrong one."""

    scenario: str
    group: str
    run_index: int
    design: DesignName
    enforcement: Enforcement
    seed: int
    attempt: int
    """1, or 2 after --retry-errors."""
    error: str
    """connection, timeout, or http_STATUS."""
    detail: str

    @property
    def condition(self) -> str:
        return f"{self.design}/{self.enforcement}"

    @property
    def key(self) -> CheckKey:
        return CheckKey(self.condition, self.scenario, self.run_index)


@dataclass(frozen=True)
class Results:
    """A file as read: an error whose check was answered later is no longer in `errors`."""

    path: Path
    header: Header
    checks: tuple[CheckResult, ...]
    errors: tuple[CheckError, ...]
    torn: bool
    """The last line was cut off in the middle of writing and is left out."""


class ResultsWriter:
    """Appends whole lines and flushes each. Raises EvalError if the file cannot be written or another run writes it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file: IO[str] = path.open("a", encoding="utf-8")
        except OSError as error:
            raise EvalError(f"--out {path}: cannot be written: {error.strerror}") from error
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            self._file.close()
            raise EvalError(f"--out {path}: another run is writing it; wait for it, or choose another file") from error

    def header(self, header: Header) -> None:
        content = {f.name: getattr(header, f.name) for f in fields(Header)}
        self._write({"kind": "run", "format": FORMAT} | content | {"scenarios": [dump(s) for s in header.scenarios]})

    def add(self, record: CheckResult | CheckError) -> None:
        self._write({"kind": "check" if isinstance(record, CheckResult) else "error"} | asdict(record))

    def _write(self, record: Mapping[str, Any]) -> None:
        try:
            self._file.write(json.dumps(record, ensure_ascii=False) + "\n")
            self._file.flush()
        except OSError as error:
            raise EvalError(
                f"--out {self._path}: cannot be written: {error.strerror}; the results so far are kept, "
                "the same command goes on with them"
            ) from error

    def close(self) -> None:
        with contextlib.suppress(OSError):  # what a full disk did not take was told already
            self._file.close()


def read_results(path: Path) -> Results:
    """Also a gzipped file. Raises EvalError naming the line that cannot be read; only the last may be cut off."""
    try:
        data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    except (OSError, EOFError) as error:
        raise EvalError(f"{path}: cannot be read: {error}") from error
    whole, torn = data[: data.rfind(b"\n") + 1], not data.endswith(b"\n") and bool(data)
    lines = list(_objects(path, whole))
    if not lines or lines[0].get("kind") != "run" or lines[0].get("format") != FORMAT:
        raise EvalError(f"{path}: is not a results file of `python -m eval run`: its first line holds no run")
    header = _header(path, lines[0])
    checks: dict[CheckKey, CheckResult] = {}
    errors: dict[CheckKey, CheckError] = {}
    for number, line in enumerate(lines[1:], start=2):
        record = _record(path, number, line, header)
        if isinstance(record, CheckResult):
            checks[record.key] = record
        else:
            errors[record.key] = record
    left = tuple(error for key, error in errors.items() if key not in checks)
    return Results(path, header, tuple(checks.values()), left, torn)


def cut_torn_line(path: Path) -> None:
    """Remove what a killed run left of its last line, so that the next record begins a line of its own."""
    data = path.read_bytes()
    os.truncate(path, data.rfind(b"\n") + 1)


def same_run(path: Path, wanted: Header, found: Header) -> None:
    """Raises EvalError if answers of the one must not be mixed with those of the other."""
    for name, what in (
        ("scenario_hash", "scenario set"),
        ("model", "model"),
        ("service_version", "service version"),
        ("policy_hash", "policy"),
    ):
        old, new = getattr(found, name), getattr(wanted, name)
        if old != new:
            raise EvalError(
                f"{path} holds a run with the {what} {_short(old)}, now it is {_short(new)}; choose another --out"
            )


def new_header(chosen: ScenarioSet, **rest: Any) -> Header:
    return Header(scenario_file=chosen.name, scenario_hash=chosen.sha256, scenarios=chosen.scenarios, **rest)


def _short(value: str) -> str:
    return repr(value if len(value) < 60 else value[:12])


def _objects(path: Path, data: bytes) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(data.decode("utf-8", "replace").splitlines(), start=1):
        try:
            value = json.loads(line)
        except ValueError:
            value = None
        if not isinstance(value, dict):
            raise EvalError(f"{path}, line {number}: is not a JSON object; take the line out, or begin a new file")
        yield value


def _header(path: Path, line: dict[str, Any]) -> Header:
    try:
        scenarios = tuple(Scenario.model_validate(scenario) for scenario in line["scenarios"])
        return Header(**{f.name: line[f.name] for f in fields(Header)} | {"scenarios": scenarios})
    except (KeyError, TypeError, ValueError) as error:
        raise EvalError(f"{path}, line 1: the run's description is not whole: {error}") from error


def _record(path: Path, number: int, line: dict[str, Any], header: Header) -> CheckResult | CheckError:
    reader = _READERS.get(line.get("kind", ""))
    if reader is None:
        raise EvalError(f"{path}, line {number}: is neither a check nor an error; take the line out")
    try:
        record: CheckResult | CheckError = reader.validate_python(line)
    except ValidationError as error:
        problem = error.errors()[0]
        where = ".".join(str(part) for part in problem["loc"])
        raise EvalError(f"{path}, line {number}: {where}: {problem['msg']}; take the line out") from error
    if record.scenario not in header.by_id:
        raise EvalError(f"{path}, line {number}: its scenario {record.scenario!r} is not one of this run")
    return record


_READERS: dict[str, TypeAdapter[Any]] = {"check": TypeAdapter(CheckResult), "error": TypeAdapter(CheckError)}
