"""Prometheus' own programs, as Debian packages them."""

import os
import shutil

import pytest


def program(name: str) -> str:
    """Skips the test where it is not installed, unless REQUIRE_PROMETHEUS is set: then its absence fails it."""
    path = shutil.which(name)
    if path is None:
        assert not os.environ.get("REQUIRE_PROMETHEUS"), f"{name} is not installed, and REQUIRE_PROMETHEUS is set"
        pytest.skip(f"{name} is not installed here; dashboards and rules were not tried against it")
    return path
