"""python -m eval run | analyze | compare | gate | report | metrics.

Exit codes: 0 pass, 1 gate failed, 2 usage, 3 too many errors, 130 interrupted.
"""

import argparse
import asyncio
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from eval import scenarios
from eval.analysis import analyze
from eval.compare import compare_runs
from eval.errors import PASS, TOO_MANY_ERRORS, EvalError
from eval.gate import GateRules, judge, junit
from eval.metrics import as_metrics, push, write_textfile
from eval.plan import conditions
from eval.report import pictures, write_report
from eval.results import Results, read_results
from eval.run import RunOptions, run
from eval.tables import as_csv, as_json, as_text, comparison_text, summary

INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    chosen = _parser().parse_args(arguments)
    command: Callable[[argparse.Namespace], int] = chosen.command
    try:
        return command(chosen)
    except EvalError as error:
        print(f"eval: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("eval: interrupted; what was answered is kept, the same command goes on with it", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        sys.stderr.close()
        return PASS


def _run(chosen: argparse.Namespace) -> int:
    options = RunOptions(
        out=chosen.out,
        conditions=conditions(chosen.conditions, chosen.enforcement),
        runs=chosen.n,
        base_url=chosen.base_url,
        api_key=os.environ.get(chosen.api_key_env) or None,
        concurrency=chosen.concurrency,
        warmup=0 if chosen.smoke and chosen.warmup is None else 10 if chosen.warmup is None else chosen.warmup,
        runs_per_block=chosen.runs_per_block,
        smoke=chosen.smoke,
        retry_errors=chosen.retry_errors,
        timeout_seconds=chosen.timeout,
    )
    file = scenarios.load(
        chosen.scenarios, controls=chosen.include_controls, contains=chosen.filter, limit=chosen.limit
    )
    asyncio.run(run(options, file))
    results = read_results(chosen.out)
    if results.checks:
        print(summary(results, analyze(results)))
    return _enough_answers(results)


def _enough_answers(results: Results) -> int:
    """PASS, or TOO_MANY_ERRORS with a sentence: a run that was hardly answered must not look like one that was."""
    asked, errors = len(results.checks) + len(results.errors), results.errors
    if len(errors) <= GateRules().max_error_rate * asked:
        return PASS
    print(
        f"eval: {len(errors)} of {asked} checks got no answer, the last: {errors[-1].error}: {errors[-1].detail}; "
        "--retry-errors asks them once more",
        file=sys.stderr,
    )
    return TOO_MANY_ERRORS


def _analyze(chosen: argparse.Namespace) -> int:
    results = _read(chosen.results)
    analysis = analyze(results)
    for path, content in ((chosen.csv, as_csv(analysis)), (chosen.json, as_json(results, analysis))):
        if path is not None:
            _write(path, content)
    print(as_text(results, analysis))
    return PASS


def _compare(chosen: argparse.Namespace) -> int:
    before, after = _read(chosen.before), _read(chosen.after)
    print(comparison_text(before, after, compare_runs(before, after)))
    return PASS


def _gate(chosen: argparse.Namespace) -> int:
    rules = GateRules(
        conditions=tuple(str(c) for c in conditions(chosen.conditions, chosen.enforcement)),
        min_accuracy=chosen.min_accuracy,
        max_unsafe=chosen.max_unsafe,
        max_regressions=chosen.max_regressions,
        alpha=chosen.alpha,
        max_error_rate=chosen.max_error_rate,
    )
    judgement = judge(read_results(chosen.results), rules, _read(chosen.baseline) if chosen.baseline else None)
    if chosen.junit is not None:
        _write(chosen.junit, junit(judgement, f"eval gate of {chosen.results.name}"))
    for verdict in judgement.verdicts:
        print(f"{'pass' if verdict.passed else 'FAIL'}  {verdict.rule}: {verdict.detail}")
    return judgement.exit_code


def _metrics(chosen: argparse.Namespace) -> int:
    results = _read(chosen.results)
    registry = as_metrics(results, analyze(results))
    if chosen.textfile is not None:
        write_textfile(registry, chosen.textfile)
    else:
        push(registry, chosen.push)
    print(f"wrote {chosen.textfile}" if chosen.textfile else f"pushed to {chosen.push}")
    return PASS


def _report(chosen: argparse.Namespace) -> int:
    results = _read(chosen.results)
    analysis = analyze(results)
    write_report(results, analysis, chosen.out)
    print(f"wrote {chosen.out}")
    for name, picture in pictures(results, analysis).items() if chosen.pictures else ():
        _write(chosen.pictures / f"{name}.svg", picture)
        print(f"wrote {chosen.pictures / name}.svg")
    return PASS


def _read(path: Path) -> Results:
    results = read_results(path)
    if results.torn:
        print(f"eval: {path}: the last line is half written and left out", file=sys.stderr)
    if not results.checks:
        raise EvalError(f"{path} holds no answered check; {len(results.errors)} got no answer")
    return results


def _write(path: Path, content: str) -> None:
    try:
        path.write_text(content, "utf-8")
    except OSError as error:
        raise EvalError(f"{path}: cannot be written: {error.strerror}") from error


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m eval", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    _add_run(commands.add_parser("run", help="ask the service, score and write results; resumes what is unfinished"))

    analysis = commands.add_parser("analyze", help="rates, intervals and tests of a results file")
    analysis.add_argument("results", type=Path)
    analysis.add_argument("--csv", type=Path, help="also write the rates by condition and group")
    analysis.add_argument("--json", type=Path, help="also write everything")
    analysis.set_defaults(command=_analyze)

    comparison = commands.add_parser("compare", help="two runs of the same scenarios: models, prompts or versions")
    comparison.add_argument("before", type=Path)
    comparison.add_argument("after", type=Path)
    comparison.set_defaults(command=_compare)

    shown = commands.add_parser("metrics", help="the rates for Prometheus, into a file or to a pushgateway")
    shown.add_argument("results", type=Path)
    where = shown.add_mutually_exclusive_group(required=True)
    where.add_argument("--textfile", type=Path, help="for the node exporter's textfile collector; ends in .prom")
    where.add_argument("--push", metavar="URL", help="of a Prometheus pushgateway")
    shown.set_defaults(command=_metrics)

    _add_gate(commands.add_parser("gate", help="pass or fail a results file, for CI"))

    report = commands.add_parser("report", help="one static HTML page")
    report.add_argument("results", type=Path)
    report.add_argument("--out", type=Path, default=Path("report.html"))
    report.add_argument("--pictures", type=Path, metavar="FOLDER", help="also write the pictures, as SVG files")
    report.set_defaults(command=_report)
    return parser


def _add_run(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--base-url", default="http://127.0.0.1:8000")
    parser.add_argument("--api-key-env", default="EVAL_API_KEY", metavar="NAME", help="variable that holds the key")
    parser.add_argument("--out", type=Path, default=Path("results.jsonl"), help="appended to; default results.jsonl")
    parser.add_argument("--scenarios", type=Path, default=scenarios.OWN, help="own format, or .jsonl of labelled cases")
    parser.add_argument("--n", type=_at_least(1), default=200, help="runs a scenario and condition; default 200")
    _add_conditions(parser, "base,reasoned,tiered,table,pipeline", "both")
    parser.add_argument("--smoke", action="store_true", help="16 checks over all conditions")
    parser.add_argument("--include-controls", action="store_true", help="also the scenarios that leave something open")
    parser.add_argument("--filter", default="", help="only ids and groups that contain this")
    parser.add_argument("--limit", type=_at_least(1), help="only the first so many scenarios")
    parser.add_argument("--concurrency", type=_at_least(1), default=32, help="checks at once; default 32")
    parser.add_argument("--warmup", type=_at_least(0), help="discarded checks a condition; default 10, with --smoke 0")
    parser.add_argument("--runs-per-block", type=_at_least(1), help="default: blocks of twice the concurrency")
    parser.add_argument("--retry-errors", action="store_true", help="ask once more what got no answer")
    parser.add_argument("--timeout", type=_seconds, default=900.0, help="seconds a check; default 900")
    parser.set_defaults(command=_run)


def _add_gate(parser: argparse.ArgumentParser) -> None:
    rules = GateRules()
    parser.add_argument("results", type=Path)
    parser.add_argument("--baseline", type=Path, help="results of the version before")
    _add_conditions(parser, "pipeline", "constrained")
    parser.add_argument("--min-accuracy", type=_share, help="least share of fully right answers, 0 to 1")
    parser.add_argument("--max-unsafe", type=_at_least(0), default=rules.max_unsafe)
    parser.add_argument("--max-regressions", type=_at_least(0), help="scenarios that may be worse than the baseline")
    parser.add_argument("--alpha", type=_share, default=rules.alpha)
    parser.add_argument("--max-error-rate", type=_share, default=rules.max_error_rate)
    parser.add_argument("--junit", type=Path, help="also write JUnit XML")
    parser.set_defaults(command=_gate)


def _add_conditions(parser: argparse.ArgumentParser, designs: str, enforcement: str) -> None:
    parser.add_argument("--conditions", default=designs, help=f"designs, comma separated; default {designs}")
    parser.add_argument("--enforcement", default=enforcement, choices=("both", "constrained", "unconstrained"))


def _at_least(least: int) -> Callable[[str], int]:
    def number(text: str) -> int:
        value = int(text)
        if value < least:
            raise argparse.ArgumentTypeError(f"must be at least {least}")
        return value

    return number


def _seconds(text: str) -> float:
    value = float(text)
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError("must be above 0")
    return value


def _share(text: str) -> float:
    value = float(text)
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError("must lie between 0 and 1")
    return value


if __name__ == "__main__":
    sys.exit(main())
