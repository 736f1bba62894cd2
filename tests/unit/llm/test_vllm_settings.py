import os
from pathlib import Path

import pytest

from app.llm.vllm_engine.settings import VllmSettings, set_environment

SETTINGS = VllmSettings(
    weights=Path("weights"), model="small", device="cpu", run_dir=Path("/tmp/engine-here"), max_running=4
)


@pytest.fixture(autouse=True)
def own_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "environ", {})


def test_what_the_user_has_set_stays() -> None:
    os.environ["VLLM_LOGGING_LEVEL"] = "DEBUG"
    set_environment(SETTINGS)
    assert os.environ["VLLM_LOGGING_LEVEL"] == "DEBUG"
    assert os.environ["HF_HUB_OFFLINE"] == "1"


def test_the_folder_of_another_engine_is_not_taken_over() -> None:
    os.environ["VLLM_RPC_BASE_PATH"] = "/tmp/engine-that-is-gone"
    set_environment(SETTINGS)
    assert os.environ["VLLM_RPC_BASE_PATH"] == "/tmp/engine-here"
