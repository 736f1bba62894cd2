"""The system's Chromium, driven by Playwright."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]


@contextmanager
def browser() -> Iterator[Browser]:
    """Skips the test where there is no browser, unless REQUIRE_BROWSER is set: then its absence fails it."""
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        assert not os.environ.get("REQUIRE_BROWSER"), "no Chromium is installed, and REQUIRE_BROWSER is set"
        pytest.skip("no Chromium is installed here; pages were not looked at")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=path, args=FLAGS)
        try:
            yield started
        finally:
            started.close()
