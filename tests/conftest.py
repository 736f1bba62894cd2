"""Fixtures that several kinds of test share."""

import os
from pathlib import Path

import hypothesis
import pytest

hypothesis.settings.register_profile("unhurried", deadline=None)  # no test depends on how fast a machine is
hypothesis.settings.load_profile("unhurried")


@pytest.fixture(scope="session")
def cache_dir() -> Path:
    """Where weights are kept between runs: the same place as `make run` uses."""
    from app.settings import Settings

    return Settings(_env_file=None).cache_dir


@pytest.fixture(autouse=True)
def no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """A developer's own PORT or MODEL must not change what a test says."""
    for name in ("PORT", "DATA_DIR", "ENGINE", "MODEL", "DATABASE_URL", "HOST", "KEYS_FILE", "NARRATION"):
        if name in os.environ:
            monkeypatch.delenv(name)
