"""Environment -> Settings: every knob with its type, unit, default and reason, in one place."""

import difflib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, SecretStr, ValidationError, field_validator, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from app.errors import SettingsInvalid

TYPO_SIMILARITY = 0.86
"""DATABASE_ULR is DATABASE_URL misspelt (0.91); underscores do not count."""

TYPO_MIN_LETTERS = 6
"""Shorter names are too near to what other programs use: PORTS and MODE are nobody's slip."""


def _cache_home() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "booking-assistant"


class Settings(BaseSettings):
    """Read from environment variables of the same name in capitals, then from `.env` in the working directory."""

    model_config = SettingsConfigDict(env_file=".env", env_ignore_empty=True, extra="forbid", frozen=True)

    host: str = "127.0.0.1"
    """Address to listen on. Anything but loopback needs API_KEYS."""
    port: Annotated[int, Field(ge=0, le=65535)] = 8000
    """TCP port; 0 takes a free one."""
    data_dir: Path = Path("data")
    """Folder of the embedded database; made if missing."""
    cache_dir: Path = Field(default_factory=_cache_home)
    """Folder of model weights, shared by all clones; several GB."""
    engine: Literal["vllm", "scripted"] = "vllm"
    """Who answers: an embedded vLLM, or a script that needs neither vLLM nor weights."""
    model: str = "auto"
    """A name from app/llm/models.py, a folder of weights or a .gguf file; auto is by hardware."""
    engine_batch: Annotated[int, Field(ge=1, le=256)] = 16
    """Sequences the embedded engine decodes together."""
    engine_profile: Literal["tuned", "vllm-defaults"] = "tuned"
    """vllm-defaults serves bfloat16 weights with vLLM's own settings on CPU: what bench/ compares with."""
    database_url: SecretStr | None = None
    """postgresql://user:password@host/name; unset starts an embedded Postgres in DATA_DIR."""
    spool_dir: Path | None = None
    """Folder on a real disk where records wait for the database; unset: spool in DATA_DIR."""
    spool_max_mib: Annotated[int, Field(ge=32, le=1024 * 1024)] = 1024
    """Records that wait; beyond it checks are refused until the database takes some. A thousand checks are about 4."""
    allow_volatile_spool: bool = False
    """Start although SPOOL_DIR is in memory or a container's own layer: what waits goes with it."""
    narration: Literal["model", "template"] = "model"
    """Who words the pipeline's replies; template saves the second call."""
    check_timeout_seconds: Annotated[float, Field(gt=0, le=3600)] = 120.0
    """A whole check, both calls included; then the caller gets a 504 and the record says timed_out."""
    narration_timeout_seconds: Annotated[float, Field(gt=0, le=3600)] = 60.0
    """The second call; then the template answers."""
    max_in_flight: Annotated[int, Field(ge=1, le=10_000)] = 32
    """Checks worked on at once."""
    max_queued: Annotated[int, Field(ge=0, le=10_000)] = 32
    """Checks that may wait to be worked on; more are refused with a 503 at once."""
    max_wait_seconds: Annotated[float, Field(gt=0, le=60)] = 1.0
    """How long they wait; then they are refused with a 503."""
    drain_seconds: Annotated[float, Field(ge=0, le=3600)] = 60.0
    """How long a stop waits for checks in flight; a second signal stops at once."""
    script_file: Path | None = None
    """ENGINE=scripted: a JSON file of replies by prompt name; unset reads plainly written facts."""
    script_latency_seconds: Annotated[float, Field(ge=0, le=600)] = 0.0
    """ENGINE=scripted: seconds before each reply."""
    api_keys: SecretStr | None = None
    """name:scopes:sha256 of the key, comma separated; scopes are check, read, raw joined by +. Unset: open."""
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    """Of this service's own log, one JSON object a line on stderr where that is not a terminal."""

    @field_validator("data_dir", "cache_dir", "script_file", "spool_dir")
    @classmethod
    def _absolute(cls, path: Path | None) -> Path | None:
        try:
            return path.expanduser().absolute() if path else None
        except RuntimeError:
            raise ValueError("the home folder of that user is not known; give a path without ~") from None

    @model_validator(mode="after")
    def _keys_beyond_loopback(self) -> "Settings":
        if self.host not in ("127.0.0.1", "::1", "localhost") and not _holds_a_key(self.api_keys):
            raise ValueError(f"HOST {self.host} is reachable from other machines: set API_KEYS, or use HOST=127.0.0.1")
        return self


def read_settings() -> Settings:
    """Raises SettingsInvalid with one sentence that names the setting and says what is wrong with it."""
    _refuse_typos(os.environ)
    try:
        return Settings()
    except UnicodeDecodeError as error:
        raise SettingsInvalid(
            f".env is not UTF-8 text: {error.reason} at byte {error.start}; save it as UTF-8"
        ) from None
    except ValidationError as error:
        raise SettingsInvalid("; ".join(_sentence(problem) for problem in error.errors())) from None


def _holds_a_key(api_keys: SecretStr | None) -> bool:
    return api_keys is not None and bool(api_keys.get_secret_value().replace(",", "").strip())


def _refuse_typos(environment: Mapping[str, str]) -> None:
    known = {name.upper().replace("_", ""): name.upper() for name in Settings.model_fields}
    for name in environment:
        letters = name.upper().replace("_", "")
        near = difflib.get_close_matches(letters, known, n=1, cutoff=TYPO_SIMILARITY)
        if name.upper() in known.values() or not near or (len(near[0]) < TYPO_MIN_LETTERS and letters != near[0]):
            continue
        raise SettingsInvalid(f"unknown setting {name}: did you mean {known[near[0]]}? unset it or rename it")


def _sentence(problem: Any) -> str:
    name = ".".join(str(part) for part in problem["loc"]).upper()
    message = str(problem["msg"]).removeprefix("Value error, ")
    if problem["type"] == "extra_forbidden":
        return f"unknown setting {name} in .env; see .env.example for those that exist"
    if problem["type"] == "value_error" and not name:
        return message
    shown = "" if name in ("API_KEYS", "DATABASE_URL") else f" {str(problem['input'])!r}"
    return f"setting {name}{shown} is not usable: {message[:1].lower()}{message[1:]}"
