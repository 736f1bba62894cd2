"""Fuzz each target for a while, with every input that reached new code kept.

    pip install atheris
    python -m bench.fuzz --seconds 600                        all targets, one after the other
    python -m bench.fuzz --seconds 60 --targets grounding --corpus my-corpus

Exit code 1 if an input crashed one; it is kept in the corpus folder.
"""

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

TARGETS = ("request", "output", "grounding", "consistency", "masking", "spool", "record")
SLOW_SECONDS = 5
"""An input that takes longer is a finding."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=600, help="for each target")
    parser.add_argument("--targets", default=",".join(TARGETS))
    parser.add_argument("--corpus", type=Path, help="kept from run to run; default: a temporary folder")
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        crashed = [not fuzz(name, wanted.corpus or Path(folder), wanted.seconds) for name in wanted.targets.split(",")]
    return 1 if any(crashed) else 0


def fuzz(name: str, root: Path, seconds: int) -> bool:
    """True if nothing crashed."""
    corpus = root / name
    corpus.mkdir(parents=True, exist_ok=True)
    options = [f"-max_total_time={seconds}", "-print_final_stats=1", f"-timeout={SLOW_SECONDS}", "-max_len=4096",
               f"-artifact_prefix={corpus}/crash-"]  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-m", "bench.fuzz.targets", name, str(corpus), *options],
        capture_output=True, text=True, errors="replace", check=False,
    )  # fmt: skip
    tried = re.search(r"number_of_executed_units:\s*(\d+)", done.stderr)
    covered = re.findall(r"cov: (\d+)", done.stderr)
    slowest = re.search(r"slowest_unit_time_sec:\s*(\d+)", done.stderr)
    print(
        f"{name:12} inputs {tried[1] if tried else '?':>9}   branches reached {covered[-1] if covered else '?':>6}   "
        f"slowest {slowest[1] if slowest else '?'} s   {'no crash' if done.returncode == 0 else 'CRASH'}",
        flush=True,
    )
    if done.returncode:
        print("\n".join(done.stderr.splitlines()[-25:]), file=sys.stderr)
    return done.returncode == 0


if __name__ == "__main__":
    sys.exit(main())
