"""Environment -> Settings: every knob with its type, unit, default and reason, in one place."""

import difflib
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, SecretStr, ValidationError, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from app.errors import SettingsInvalid

TYPO_SIMILARITY = 0.86
"""DATABASE_ULR is DATABASE_URL misspelt (0.91); underscores do not count."""

TYPO_MIN_LETTERS = 6
"""Shorter names are too near to what other programs use: PORTS and MODE are nobody's slip."""


_BASE_URL = re.compile(r"https?://(?:[A-Za-z0-9.-]+|\[[0-9a-fA-F:]+\])(:[0-9]{1,5})?(/[A-Za-z0-9._~/-]*)?")
_ORIGIN = re.compile(r"https?://[A-Za-z0-9.-]+(:[0-9]{1,5})?")


def _cache_home() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "booking-assistant"


class Settings(BaseSettings):
    """Read from environment variables of the same name in capitals, then from `.env` in the working directory."""

    model_config = SettingsConfigDict(env_file=".env", env_ignore_empty=True, extra="forbid", frozen=True)

    host: str = "127.0.0.1"
    """Address to listen on. Anything but loopback needs a key: python -m app.keys create."""
    port: Annotated[int, Field(ge=0, le=65535)] = 8000
    """TCP port; 0 takes a free one."""
    data_dir: Path = Path("data")
    """Folder of the embedded database; made if missing."""
    cache_dir: Path = Field(default_factory=_cache_home)
    """Folder of model weights, shared by all clones; several GB."""
    engine: Literal["vllm", "openai", "scripted"] = "vllm"
    """Who answers: an embedded vLLM, servers of OPENAI_BASE_URL, or a script that needs neither vLLM nor weights."""
    openai_base_url: str | None = None
    """ENGINE=openai: where OpenAI-compatible servers answer, comma separated, e.g. http://vllm-0:8000/v1."""
    openai_api_key: SecretStr | None = None
    """ENGINE=openai: sent to those servers; unset sends none."""
    model: str = "auto"
    """A name from app/llm/models.py, a folder or .gguf file; auto is by hardware. ENGINE=openai: its name there."""
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
    mask_stored_text: bool = True
    """Blot out card and account numbers, addresses and the like before anything is written to disk."""
    retention_contents_days: Annotated[int, Field(ge=1, le=36_500)] = 30
    """How long customers' messages, replies and raw outputs are kept."""
    retention_decisions_days: Annotated[int, Field(ge=0, le=36_500)] = 2190
    """How long facts and decisions are kept, without any text; 0 keeps them for ever."""
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
    stop_notice_seconds: Annotated[float, Field(ge=0, le=60)] = 0.5
    """How long a stopping service still takes checks while /readyz says no; behind a load balancer 5 to 10."""
    drain_seconds: Annotated[float, Field(ge=0, le=3600)] = 60.0
    """How long a stop waits for checks in flight; a second signal stops at once."""
    script_file: Path | None = None
    """ENGINE=scripted: a JSON file of replies by prompt name; unset reads plainly written facts."""
    script_latency_seconds: Annotated[float, Field(ge=0, le=600)] = 0.0
    """ENGINE=scripted: seconds before each reply."""
    keys_file: Path | None = None
    """API keys, made by python -m app.keys; unset: keys.json in DATA_DIR. Without it only this machine may ask."""
    rate_limit_per_minute: Annotated[int, Field(ge=0, le=1_000_000)] = 600
    """Checks a minute for each key; 0 sets no limit. Where there are no keys there is no limit either."""
    cors_origins: str | None = None
    """Origins of chat frontends in browsers, comma separated, e.g. https://chat.example; unset: none."""
    chat_page: bool = True
    """Serve the chat page at /, an example of a client; it asks with the key its visitor gives, like any other."""
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    """Of this service's own log, one JSON object a line on stderr where that is not a terminal."""

    @field_validator("data_dir", "cache_dir", "script_file", "spool_dir", "keys_file")
    @classmethod
    def _absolute(cls, path: Path | None) -> Path | None:
        try:
            return path.expanduser().absolute() if path else None
        except RuntimeError:
            raise ValueError("the home folder of that user is not known; give a path without ~") from None

    @field_validator("openai_base_url")
    @classmethod
    def _explicit_urls(cls, given: str | None) -> str | None:
        for url in _listed(given):
            if not _BASE_URL.fullmatch(url):
                raise ValueError(f"{url!r} is no base URL; write http://host:port/v1, and a key as OPENAI_API_KEY")
        return given

    @field_validator("cors_origins")
    @classmethod
    def _explicit_origins(cls, given: str | None) -> str | None:
        for origin in _listed(given):
            if not _ORIGIN.fullmatch(origin):
                raise ValueError(f"{origin!r} is no origin; write https://host or https://host:port, each by its name")
        return given

    @property
    def spool_folder(self) -> Path:
        return self.spool_dir or self.data_dir / "spool"

    @property
    def key_file(self) -> Path:
        return self.keys_file or self.data_dir / "keys.json"

    @property
    def openai_urls(self) -> tuple[str, ...]:
        return tuple(url.rstrip("/") for url in _listed(self.openai_base_url))

    @property
    def origins(self) -> list[str]:
        return _listed(self.cors_origins)

    @property
    def is_loopback(self) -> bool:
        return self.host in ("127.0.0.1", "::1", "localhost")


def _listed(text: str | None) -> list[str]:
    return [part.strip() for part in (text or "").split(",") if part.strip()]


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
    shown = "" if name in ("DATABASE_URL", "OPENAI_API_KEY") else f" {str(problem['input'])!r}"
    return f"setting {name}{shown} is not usable: {message[:1].lower()}{message[1:]}"
