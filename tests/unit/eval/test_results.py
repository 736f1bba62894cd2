"""The results file: nothing finished is lost, nothing half written is taken for whole."""

import gzip
import re
from dataclasses import replace
from pathlib import Path

import pytest

from eval.errors import EvalError
from eval.results import ResultsWriter, cut_torn_line, read_results, same_run
from tests.support.eval_results import check, every, failed, header, write


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    records = [check("eligible-1", flags=["£ “quoted”"]), check("band-10750", right=False), failed("eligible-2")]

    results = read_results(write(tmp_path / "deep" / "r.jsonl", records))

    assert results.header == header()
    assert list(results.checks) == records[:2]
    assert list(results.errors) == records[2:]
    assert not results.torn


def test_a_gzipped_file_is_read_too(tmp_path: Path) -> None:
    packed = tmp_path / "r.jsonl.gz"
    packed.write_bytes(gzip.compress(write(tmp_path / "r.jsonl", every()).read_bytes()))

    assert len(read_results(packed).checks) == 25
    packed.write_bytes(packed.read_bytes()[:-40])
    with pytest.raises(EvalError, match="cannot be read"):
        read_results(packed)


def test_an_error_that_was_answered_later_is_none(tmp_path: Path) -> None:
    results = read_results(write(tmp_path / "r.jsonl", [failed("eligible-1"), check("eligible-1")]))

    assert (len(results.checks), results.errors) == (1, ())


def test_a_half_written_last_line_is_left_out_and_can_be_cut(tmp_path: Path) -> None:
    path = write(tmp_path / "r.jsonl", every())
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"kind": "check", "scenario": "eli')

    assert read_results(path).torn
    assert len(read_results(path).checks) == 25

    cut_torn_line(path)

    assert path.read_bytes() == whole


def test_a_file_cut_anywhere_reads_as_its_whole_lines(tmp_path: Path) -> None:
    whole = write(tmp_path / "r.jsonl", [check("eligible-1"), check("eligible-2")]).read_bytes()
    first = whole.index(b"\n") + 1
    for end in range(first, len(whole) + 1, 97):
        path = tmp_path / "cut.jsonl"
        path.write_bytes(whole[:end])
        assert len(read_results(path).checks) == whole[first:end].count(b"\n")


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("", "its first line holds no run"),
        ('{"kind": "check"}\n', "its first line holds no run"),
        ('{"kind": "run", "format": 1}\n', "line 1: the run's description is not whole"),
        ("HEADER{oops\n", "line 2: is not a JSON object"),
        ('HEADER{"kind": "other"}\n', "line 2: is neither a check nor an error"),
        ('HEADER{"kind": "check", "scenario": "eligible-1"}\n', "line 2: group: Field required"),
        ("HEADER[]\n", "line 2: is not a JSON object"),
    ],
)
def test_a_line_that_cannot_be_used_is_named(tmp_path: Path, content: str, says: str) -> None:
    path = write(tmp_path / "r.jsonl", [])
    path.write_text(content.replace("HEADER", path.read_text()))

    with pytest.raises(EvalError, match=re.escape(says)) as raised:
        read_results(path)

    assert str(path) in str(raised.value)


def test_a_record_of_another_scenario_set_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "r.jsonl", [check("eligible-1")])
    path.write_text(path.read_text().replace('"scenario": "eligible-1"', '"scenario": "elsewhere"'))

    with pytest.raises(EvalError, match="'elsewhere' is not one of this run"):
        read_results(path)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("model", "the model 'small/int8', now it is 'another'"),
        ("service_version", "the service version"),
        ("policy_hash", "the policy 'aaaaaaaaaaaa'"),
        ("scenario_hash", "the scenario set"),
    ],
)
def test_answers_of_two_systems_are_never_mixed(name: str, says: str) -> None:
    with pytest.raises(EvalError, match=says):
        same_run(Path("r.jsonl"), replace(header(), **{name: "another"}), header())


def test_two_runs_never_write_one_file(tmp_path: Path) -> None:
    first = ResultsWriter(tmp_path / "r.jsonl")

    with pytest.raises(EvalError, match="another run is writing it"):
        ResultsWriter(tmp_path / "r.jsonl")

    first.close()
    ResultsWriter(tmp_path / "r.jsonl").close()


def test_an_unwritable_output_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(EvalError, match=r"--out .*cannot be written"):
        ResultsWriter(tmp_path / "file" / "r.jsonl")
    with pytest.raises(EvalError, match=r"--out .*cannot be written"):
        ResultsWriter(tmp_path)


def test_a_full_disk_is_told_and_keeps_what_was_written(tmp_path: Path) -> None:
    """/dev/full takes nothing."""
    out = tmp_path / "r.jsonl"
    out.symlink_to("/dev/full")
    writer = ResultsWriter(out)

    with pytest.raises(EvalError, match="No space left on device; the results so far are kept"):
        writer.header(header())
    writer.close()


@pytest.mark.parametrize(
    ("before", "after", "says"),
    [
        ('"latency_ms": 1000.0', '"latency_ms": "slow"', "line 2: latency_ms"),
        ('"design": "pipeline"', '"design": "pipe"', "line 2: design"),
        ('"outcome": "right"', '"outcome": "fine"', "line 2: outcome"),
    ],
)
def test_a_value_that_cannot_be_is_named(tmp_path: Path, before: str, after: str, says: str) -> None:
    path = write(tmp_path / "r.jsonl", [check("eligible-1")])
    content = path.read_text()
    assert before in content
    path.write_text(content.replace(before, after))

    with pytest.raises(EvalError, match=re.escape(says)):
        read_results(path)
