"""What the environment may ask for, and the sentence that says what is wrong with it."""

import ast
import inspect
import os
import re
from itertools import pairwise
from pathlib import Path

import pytest

from app.errors import SettingsInvalid
from app.settings import Settings, read_settings

EXAMPLE = Path(__file__).parents[2] / ".env.example"
NAMES = [name.upper() for name in Settings.model_fields]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory without .env, in an environment without settings."""
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.upper() in NAMES]:
        monkeypatch.delenv(name)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    return tmp_path


def sentence(monkeypatch: pytest.MonkeyPatch, **environment: str) -> str:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(SettingsInvalid) as refused:
        read_settings()
    return str(refused.value)


def test_nothing_needs_to_be_set(folder: Path) -> None:
    settings = read_settings()

    assert settings.model_dump() == {
        "host": "127.0.0.1",
        "port": 8000,
        "data_dir": folder / "data",
        "cache_dir": Path.home() / ".cache" / "booking-assistant",
        "engine": "vllm",
        "openai_base_url": None,
        "openai_api_key": None,
        "model": "auto",
        "engine_batch": 16,
        "engine_profile": "tuned",
        "database_url": None,
        "spool_dir": None,
        "spool_max_mib": 1024,
        "allow_volatile_spool": False,
        "mask_stored_text": True,
        "retention_contents_days": 30,
        "retention_decisions_days": 2190,
        "narration": "model",
        "check_timeout_seconds": 120.0,
        "narration_timeout_seconds": 60.0,
        "max_in_flight": 32,
        "max_queued": 32,
        "max_wait_seconds": 1.0,
        "stop_notice_seconds": 0.5,
        "drain_seconds": 60.0,
        "script_file": None,
        "script_latency_seconds": 0.0,
        "keys_file": None,
        "rate_limit_per_minute": 600,
        "cors_origins": None,
        "chat_page": True,
        "log_level": "info",
    }


def test_weights_are_cached_where_the_user_keeps_caches(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "caches"))

    assert read_settings().cache_dir == folder / "caches" / "booking-assistant"


def test_a_folder_is_meant_from_where_the_service_was_started(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATA_DIR", "elsewhere")
    monkeypatch.setenv("CACHE_DIR", "~/weights")

    settings = read_settings()

    assert (settings.data_dir, settings.cache_dir) == (folder / "elsewhere", Path.home() / "weights")


def test_an_empty_variable_is_an_unset_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PORT", "")
    monkeypatch.setenv("DATABASE_URL", "")

    settings = read_settings()

    assert (settings.port, settings.database_url) == (8000, None)


def test_the_environment_wins_over_the_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / ".env").write_text("PORT=8001\nMODEL=from-file\n")
    monkeypatch.setenv("PORT", "8002")

    settings = read_settings()

    assert (settings.port, settings.model) == (8002, "from-file")


@pytest.mark.parametrize(
    ("name", "value", "why"),
    [
        ("PORT", "abc", "valid integer"),
        ("PORT", "70000", "less than or equal to 65535"),
        ("PORT", "-1", "greater than or equal to 0"),
        ("PORT", "80.5", "valid integer"),
        ("ENGINE", "foo", "'vllm', 'openai' or 'scripted'"),
        ("ENGINE", "VLLM", "'vllm', 'openai' or 'scripted'"),
        ("ENGINE_PROFILE", "fast", "'tuned' or 'vllm-defaults'"),
        ("NARRATION", "none", "'model' or 'template'"),
        ("LOG_LEVEL", "loud", "'debug', 'info', 'warning' or 'error'"),
        ("CHECK_TIMEOUT_SECONDS", "-1", "greater than 0"),
        ("CHECK_TIMEOUT_SECONDS", "0", "greater than 0"),
        ("CHECK_TIMEOUT_SECONDS", "inf", "less than or equal to 3600"),
        ("NARRATION_TIMEOUT_SECONDS", "-0.5", "greater than 0"),
        ("NARRATION_TIMEOUT_SECONDS", "nan", "less than or equal to 3600"),
        ("DRAIN_SECONDS", "-1", "greater than or equal to 0"),
        ("SCRIPT_LATENCY_SECONDS", "-1", "greater than or equal to 0"),
        ("MAX_IN_FLIGHT", "0", "greater than or equal to 1"),
        ("ENGINE_BATCH", "1000", "less than or equal to 256"),
    ],
)
def test_a_malformed_value_is_named_with_its_setting_and_the_reason(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, why: str
) -> None:
    said = sentence(monkeypatch, **{name: value})

    assert said.startswith(f"setting {name} '{value}' is not usable: ")
    assert why in said
    assert "\n" not in said


def test_all_malformed_values_are_named_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    said = sentence(monkeypatch, PORT="abc", ENGINE="foo")

    assert "setting PORT 'abc'" in said and "setting ENGINE 'foo'" in said


@pytest.mark.parametrize(
    ("misspelt", "meant"),
    [
        ("DATADIR", "DATA_DIR"),
        ("DATABASEURL", "DATABASE_URL"),
        ("KEY_FILE", "KEYS_FILE"),
        ("ENGIN", "ENGINE"),
        ("LOGLEVEL", "LOG_LEVEL"),
        ("MAX_INFLIGHT", "MAX_IN_FLIGHT"),
        ("CHECK_TIMEOUT_SECOND", "CHECK_TIMEOUT_SECONDS"),
        ("data-dir", "DATA_DIR"),
    ],
)
def test_a_misspelt_setting_is_refused_with_the_right_spelling(
    monkeypatch: pytest.MonkeyPatch, misspelt: str, meant: str
) -> None:
    said = sentence(monkeypatch, **{misspelt: "anything"})

    assert said.startswith(f"unknown setting {misspelt}: did you mean {meant}?")


@pytest.mark.parametrize(
    "name", ["HOSTNAME", "MODELNAME_X", "MODEL_NAME", "PGHOST", "HF_TOKEN", "DATABASE", "PATH_DIR"]
)
def test_a_variable_that_only_resembles_a_setting_is_left_alone(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    expected = read_settings()
    monkeypatch.setenv(name, "anything")

    assert read_settings() == expected


def test_a_setting_may_be_written_in_small_letters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("port", "8001")

    assert read_settings().port == 8001


def test_an_unknown_name_in_the_file_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / ".env").write_text("HOSTNAME=here\n")

    said = sentence(monkeypatch)

    assert said == "unknown setting HOSTNAME in .env; see .env.example for those that exist"


@pytest.mark.parametrize("origins", ["*", "chat.example", "https://chat.example/page", "https://a.example;https://b"])
def test_origins_are_named_one_by_one(monkeypatch: pytest.MonkeyPatch, origins: str) -> None:
    assert "CORS_ORIGINS" in sentence(monkeypatch, CORS_ORIGINS=origins)


def test_several_origins_may_be_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CORS_ORIGINS", "https://chat.example, http://localhost:3000")

    assert read_settings().origins == ["https://chat.example", "http://localhost:3000"]


def test_the_home_of_nobody_is_refused_in_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "DATA_DIR" in sentence(monkeypatch, DATA_DIR="~no-such-user/data")


def test_a_file_that_is_not_text_is_refused_in_a_sentence(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / ".env").write_bytes(b"\xff\xfe=1\n")

    assert ".env" in sentence(monkeypatch)


def test_secrets_are_not_shown_when_something_else_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    said = sentence(monkeypatch, PORT="abc", DATABASE_URL="postgresql://u:swordfish@h/d")

    assert "PORT" in said and "swordfish" not in said


def test_the_value_of_a_misspelt_secret_is_not_shown(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / ".env").write_text("DATABASE_URI=swordfish\n")

    in_file = sentence(monkeypatch)
    in_environment = sentence(monkeypatch, DATABASE_UR="swordfish")

    assert "DATABASE_URI" in in_file and "swordfish" not in in_file
    assert "DATABASE_UR:" in in_environment and "swordfish" not in in_environment


def test_secrets_are_not_shown_when_settings_are_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://u:swordfish@h/d")

    settings = read_settings()

    assert settings.database_url is not None and "swordfish" in settings.database_url.get_secret_value()
    assert "swordfish" not in f"{settings!r} {settings} {settings.model_dump_json()}"


def test_the_example_file_names_every_setting_with_its_docstring() -> None:
    blocks = [block.splitlines() for block in EXAMPLE.read_text().split("\n\n")[1:]]

    written = {line.partition("=")[0].removeprefix("#").lower(): text.removeprefix("# ") for text, line in blocks}

    assert list(written) == list(Settings.model_fields)
    assert written == _docstrings()


def test_the_example_file_sets_nothing_as_it_is(folder: Path) -> None:
    (folder / ".env").write_text(EXAMPLE.read_text())

    assert read_settings().model_fields_set == set()


def test_the_example_file_holds_the_defaults_in_force(folder: Path) -> None:
    defaults = read_settings()
    (folder / ".env").write_text(re.sub(r"^#(?=[A-Z])", "", EXAMPLE.read_text(), flags=re.MULTILINE))

    written = read_settings()

    unset = {name for name, value in defaults if value is None}
    assert written == defaults
    assert written.model_fields_set == set(Settings.model_fields) - unset


def _docstrings() -> dict[str, str]:
    """By setting: the text below it, which Python itself does not keep."""
    (tree,) = ast.parse(inspect.getsource(Settings)).body
    assert isinstance(tree, ast.ClassDef)
    found: dict[str, str] = {}
    for setting, text in pairwise(tree.body):
        match setting, text:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(words))):
                found[name] = words
    return found
