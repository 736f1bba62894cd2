"""The benches that break things, in small: each must pass here, and the control must fail."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.service import ENVIRONMENT, ROOT


def bench(name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", f"bench.{name}", *arguments],
        cwd=ROOT,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        check=False,
        timeout=900,
    )


def test_no_acknowledged_record_is_lost_or_doubled_when_the_service_is_killed_under_load() -> None:
    done = bench("kill_ledger", "--rounds", "4")

    assert done.returncode == 0, done.stdout + done.stderr
    assert "missing 0   stored twice 0" in done.stdout


def test_a_service_that_acknowledges_first_fails_the_same_test() -> None:
    done = bench("kill_ledger", "--rounds", "4", "--acknowledge-first")

    assert "it must miss records, and it did" in done.stdout, done.stdout + done.stderr


def test_no_check_in_flight_fails_when_the_service_is_stopped() -> None:
    done = bench("drain", "--rounds", "2")

    assert done.returncode == 0, done.stdout + done.stderr
    assert "in flight 64   failed 0" in done.stdout


def test_a_database_that_stops_or_is_cut_off_fails_no_request_and_loses_no_record() -> None:
    done = bench("database_outage", "--seconds", "10", "--faults", "none,stopped,reset,blackhole,refuse")

    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a small disk")
def test_a_full_disk_and_a_torn_spool_answer_nothing_without_a_record() -> None:
    done = bench("disk_full")

    if "cannot be mounted here" in done.stderr:
        pytest.skip("this machine lets nobody mount a small disk")
    assert done.returncode == 0, done.stdout + done.stderr


def test_requests_made_from_the_openapi_document_meet_nothing_unforeseen(tmp_path: Path) -> None:
    done = bench("openapi_fuzz", "--examples", "25")

    assert done.returncode == 0, done.stdout[-4000:] + done.stderr
