"""python -m eval against a running service: smoke, resume, and a gate that fails for the right reason."""

import json
import shutil
import signal
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.api.key_file import create_key
from app.telemetry.clock import utc_now
from eval.errors import GATE_FAILED, PASS, TOO_MANY_ERRORS, USAGE
from tests.e2e.service import ENVIRONMENT, ROOT, Running, free_port, service, wait_until
from tests.support.eval_results import lines

SECONDS = 300


@pytest.fixture(scope="module")
def running() -> Iterator[Running]:
    folder = Path(tempfile.mkdtemp(prefix="booking-e2e-"))
    folder.chmod(0o755)
    with service(folder / "data", SCRIPT_LATENCY_SECONDS="0.02") as started:
        yield started
    shutil.rmtree(folder, ignore_errors=True)


def command(*arguments: str | Path) -> list[str]:
    return [sys.executable, "-m", "eval", *map(str, arguments)]


def evaluate(*arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(*arguments),
        cwd=ROOT,
        env=ENVIRONMENT | environment,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )


def run(running: Running, out: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return evaluate("run", "--base-url", str(running.client.base_url), "--out", out, *arguments, **environment)


PIPELINE = ("--conditions", "pipeline", "--enforcement", "constrained", "--n", "1", "--warmup", "0")


@pytest.fixture
def baseline(running: Running, tmp_path: Path) -> Path:
    out = tmp_path / "baseline.jsonl"
    done = run(running, out, *PIPELINE)
    assert done.returncode == PASS, done.stderr
    return out


def test_a_smoke_run_asks_sixteen_checks_and_prints_what_came_out(running: Running, tmp_path: Path) -> None:
    out = tmp_path / "smoke.jsonl"

    done = run(running, out, "--smoke")

    assert done.returncode == PASS, done.stderr
    head, *records = lines(out)
    assert head["kind"] == "run" and head["model"] == "scripted" and len(head["scenarios"]) == 25
    assert len(records) == 16
    assert {record["judged_by"] for record in records} == {"eval"}
    assert len({(record["design"], record["enforcement"]) for record in records}) == 10
    by_id = {record["consultation_id"] for record in records}
    assert len(by_id) == 16
    stored = running.client.get(f"/consultations/{records[0]['consultation_id']}").json()
    assert stored["calls"][0]["raw_output"] == records[0]["raw_outputs"][0]
    assert stored["calls"][0]["seed"] == records[0]["seed"]
    assert "16/16 checks" in done.stderr
    assert "pipeline/constrained" in done.stdout


def test_a_run_killed_in_the_middle_goes_on_to_the_same_totals(running: Running, tmp_path: Path) -> None:
    whole, cut = tmp_path / "whole.jsonl", tmp_path / "cut.jsonl"
    arguments = (
        "--n",
        "2",
        "--include-controls",
        "--conditions",
        "base,pipeline",
        "--concurrency",
        "4",
        "--warmup",
        "1",
    )
    assert run(running, whole, *arguments).returncode == PASS

    process = subprocess.Popen(
        command("run", "--base-url", str(running.client.base_url), "--out", cut, *arguments),
        cwd=ROOT, env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    wait_until(lambda: cut.exists() and cut.read_bytes().count(b"\n") > 30, SECONDS)
    process.kill()
    process.wait()
    cut.write_bytes(cut.read_bytes() + b'{"kind": "check", "scen')
    finished = cut.read_bytes().count(b"\n")
    done = run(running, cut, *arguments)

    assert done.returncode == PASS, done.stderr
    assert "half written" in done.stderr
    totals = [
        Counter(
            (r["scenario"], r["run_index"], r["design"], r["enforcement"], r["seed"], r["outcome"])
            for r in lines(f)[1:]
        )
        for f in (whole, cut)
    ]
    assert totals[0] == totals[1]
    assert set(totals[1].values()) == {1}
    assert len(lines(cut)) == 1 + 28 * 2 * 4 > finished
    again = run(running, cut, *arguments)
    assert again.returncode == PASS
    assert "224/224" in again.stderr
    assert len(lines(cut)) == 1 + 224


def test_ctrl_c_keeps_what_was_answered(running: Running, tmp_path: Path) -> None:
    out = tmp_path / "r.jsonl"
    process = subprocess.Popen(
        command("run", "--base-url", str(running.client.base_url), "--out", out, "--n", "50"),
        cwd=ROOT, env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # noqa: PLW1509 - it may be ignored here
    )  # fmt: skip
    wait_until(lambda: out.exists() and out.read_bytes().count(b"\n") > 5, SECONDS)

    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=60)

    assert process.returncode == 130
    assert "interrupted; what was answered is kept" in error
    assert "Traceback" not in error
    assert all(record["kind"] == "check" for record in lines(out)[1:])


def test_a_sound_version_passes_the_gate(running: Running, baseline: Path, tmp_path: Path) -> None:
    done = evaluate(
        "gate", baseline, "--baseline", baseline, "--min-accuracy", "1", "--max-unsafe", "0", "--max-regressions", "0"
    )

    assert done.returncode == PASS, done.stdout
    assert "25 of 25 fully right" in done.stdout


def test_the_gate_fails_a_wrong_policy_constant(baseline: Path, data_dir: Path, tmp_path: Path) -> None:
    code = tmp_path / "code"
    for part in ("app", "migrations"):
        shutil.copytree(ROOT / part, code / part, ignore=shutil.ignore_patterns("__pycache__"))
    limits = code / "app" / "policy" / "limits.py"
    sound = limits.read_text()
    limits.write_text(sound.replace("BOOKING_LIMIT_PENCE = 10_000_00", "BOOKING_LIMIT_PENCE = 11_000_00"))
    assert limits.read_text() != sound
    out, report = tmp_path / "wrong.jsonl", tmp_path / "junit.xml"
    with service(data_dir, code=code) as wrong:
        assert run(wrong, out, *PIPELINE).returncode == PASS

    done = evaluate("gate", out, "--baseline", baseline, "--max-regressions", "0", "--junit", report)

    assert done.returncode == GATE_FAILED, done.stdout
    assert "FAIL  unsafe bookings: 1 unsafe bookings, at most 0: band-10750" in done.stdout
    assert "FAIL  regressions: 1 scenarios worse than the baseline, at most 0: band-10750 100% to 0%" in done.stdout
    failed = [case.attrib["name"] for case in ET.parse(report).getroot() if case.find("failure") is not None]
    assert failed == ["unsafe bookings", "regressions"]


def test_the_gate_fails_a_prompt_that_breaks_the_extraction(baseline: Path, data_dir: Path, tmp_path: Path) -> None:
    nothing = {"customer_age": None, "price_components": [], "requested_date": None, "requested_time": None}
    script = tmp_path / "script.json"
    script.write_text(
        json.dumps({"pipeline.extract": [nothing], "pipeline.narrate": [{"response_text": "Thank you."}]})
    )
    out = tmp_path / "broken.jsonl"
    with service(data_dir, SCRIPT_FILE=str(script)) as broken:
        assert run(broken, out, *PIPELINE).returncode == PASS

    done = evaluate("gate", out, "--baseline", baseline, "--min-accuracy", "0.99")

    assert done.returncode == GATE_FAILED, done.stdout
    assert "FAIL  accuracy of pipeline/constrained: 0 of 25" in done.stdout
    assert "FAIL  no drop of pipeline/constrained: 100.00% before, 0.00% now" in done.stdout
    assert "pass  unsafe bookings" in done.stdout


def test_an_unreachable_service_is_three_and_a_sentence(tmp_path: Path) -> None:
    out = tmp_path / "r.jsonl"

    done = evaluate("run", "--base-url", f"http://127.0.0.1:{free_port()}", "--out", out, "--smoke")

    assert done.returncode == TOO_MANY_ERRORS
    assert "nothing answers at" in done.stderr and "make run" in done.stderr
    assert "Traceback" not in done.stderr
    assert not out.exists()


def test_a_baseline_of_another_scenario_set_is_refused(running: Running, baseline: Path, tmp_path: Path) -> None:
    bands = tmp_path / "bands.jsonl"
    assert run(running, bands, *PIPELINE, "--filter", "band").returncode == PASS

    done = evaluate("gate", bands, "--baseline", baseline)

    assert done.returncode == USAGE
    assert "different scenarios" in done.stderr


def test_a_key_that_may_not_read_lets_the_service_judge_and_no_key_is_told(data_dir: Path, tmp_path: Path) -> None:
    keys = tmp_path / "keys.json"
    key = create_key(keys, "eval", ["check", "eval"], utc_now())
    with service(data_dir, KEYS_FILE=str(keys), RATE_LIMIT_PER_MINUTE="0") as guarded:
        refused = run(guarded, tmp_path / "a.jsonl", "--smoke")
        done = run(guarded, tmp_path / "b.jsonl", "--smoke", EVAL_API_KEY=key)

    assert refused.returncode == TOO_MANY_ERRORS
    assert "401 A valid key is needed" in refused.stderr
    assert done.returncode == PASS, done.stderr
    assert {record["judged_by"] for record in lines(tmp_path / "b.jsonl")[1:]} == {"service"}


def test_messages_of_real_life_are_scored_with_their_labels(running: Running, tmp_path: Path) -> None:
    case = {"received_at": "2026-11-29T18:00:00Z", "source": "own", "note": ""}
    known = {"customer_age": 34, "price_components": [400], "requested_date": "2026-12-08", "requested_time": "10:00"}
    nothing = {"customer_age": None, "price_components": [], "requested_date": None, "requested_time": None}
    asked = {"action": "escalate_human", "reason_code": "insufficient_info"}
    turns = [
        {"role": "customer", "content": "I'd like the £400 scan on 8 December 2026 at 10am."},
        {"role": "assistant", "content": "How old are you?"},
        {"role": "customer", "content": "I am 34."},
    ]
    cases = [
        {"id": "own-1", "kind": "empty_long", "message": "  ", "facts": nothing, "undeterminable": [], **asked},
        {"id": "own-2", "kind": "dialogue", "messages": turns, "facts": known, "undeterminable": [],
         "action": "book_appointment", "reason_code": "eligible"},
    ]  # fmt: skip
    file, out = tmp_path / "cases.jsonl", tmp_path / "r.jsonl"
    file.write_text("\n".join(json.dumps(c | case) for c in cases))

    done = run(running, out, *PIPELINE, "--scenarios", str(file))

    assert done.returncode == PASS, done.stderr
    by_id = {record["scenario"]: record for record in lines(out)[1:]}
    assert (by_id["own-1"]["action"], by_id["own-1"]["outcome"]) == ("refused", "right")
    assert (by_id["own-2"]["action"], by_id["own-2"]["outcome"]) == ("book_appointment", "right")
    assert by_id["own-2"]["facts_right"] == dict.fromkeys(known, True)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--conditions", "pipelin"), "'pipelin' is not a design; choose from base"),
        (("--scenarios", "none.json"), "none.json: cannot be read"),
        (("--n", "0"), "must be at least 1"),
        (("--filter", "no such thing"), "no scenario is left"),
        (("--base-url", "nowhere"), "--base-url 'nowhere' is no address"),
        (("--out", "/proc/nowhere/r.jsonl"), "cannot be written"),
    ],
)
def test_bad_arguments_are_two_and_a_sentence(
    running: Running, tmp_path: Path, arguments: tuple[str, ...], says: str
) -> None:
    done = run(running, tmp_path / "r.jsonl", "--smoke", *arguments)

    assert done.returncode == USAGE, done.stderr
    assert says in done.stderr
    assert "Traceback" not in done.stderr
