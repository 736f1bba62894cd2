"""An eval's rates for Prometheus."""

import http.server
import threading
from pathlib import Path

import pytest
from prometheus_client import generate_latest

from eval.__main__ import main
from eval.analysis import analyze
from eval.errors import EvalError
from eval.metrics import as_metrics, push
from tests.support.eval_results import every, failed, results, write


def test_rates_outcomes_and_intervals_are_shown_by_condition(tmp_path: Path) -> None:
    made = results(tmp_path / "r.jsonl", [*every(), *every(False, "base/constrained"), failed("band-10750", 1)])

    shown = generate_latest(as_metrics(made, analyze(made))).decode()

    assert 'booking_eval_share{condition="pipeline/constrained",measure="fully_correct"} 1.0' in shown
    assert 'booking_eval_share{condition="base/constrained",measure="fully_correct"} 0.0' in shown
    assert 'booking_eval_share_low{condition="pipeline/constrained",measure="fully_correct"} 0.86' in shown
    assert 'booking_eval_outcomes{condition="base/constrained",outcome="unsafe"} 25.0' in shown
    assert 'booking_eval_outcomes{condition="pipeline/constrained",outcome="unsafe"} 0.0' in shown
    assert 'booking_eval_errors{condition="pipeline/constrained"} 1.0' in shown
    assert 'booking_eval_latency_seconds{condition="base/constrained",quantile="0.95"} 1.0' in shown
    assert "booking_eval_finished_timestamp_seconds 1.7" in shown
    assert 'model="small/int8"' in shown


def test_the_command_writes_a_whole_file(tmp_path: Path) -> None:
    write(tmp_path / "r.jsonl", every())

    assert main(["metrics", str(tmp_path / "r.jsonl"), "--textfile", str(tmp_path / "new" / "eval.prom")]) == 0

    assert [path.name for path in (tmp_path / "new").iterdir()] == ["eval.prom"]
    assert "booking_eval_share" in (tmp_path / "new" / "eval.prom").read_text()


def test_results_without_an_answer_are_refused(tmp_path: Path) -> None:
    made = results(tmp_path / "r.jsonl", [failed("band-10750")])

    with pytest.raises(EvalError, match="no answered check"):
        as_metrics(made, analyze(made))


@pytest.mark.parametrize("url", ["http://127.0.0.1:9", "nonsense://x", "http://"])
def test_a_pushgateway_that_is_not_there_is_named(tmp_path: Path, url: str) -> None:
    made = results(tmp_path / "r.jsonl", every())

    with pytest.raises(EvalError, match="did not take the results"):
        push(as_metrics(made, analyze(made)), url)


def test_a_pushgateway_that_refuses_is_named(tmp_path: Path) -> None:
    class Refuses(http.server.BaseHTTPRequestHandler):
        def do_PUT(self) -> None:
            self.send_error(400)

    server = http.server.HTTPServer(("127.0.0.1", 0), Refuses)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    made = results(tmp_path / "r.jsonl", every())

    with pytest.raises(EvalError, match="400"):
        push(as_metrics(made, analyze(made)), f"http://127.0.0.1:{server.server_port}")
    server.shutdown()
