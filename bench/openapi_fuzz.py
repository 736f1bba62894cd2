"""Requests made from the OpenAPI document, right and wrong ones, alone and in chains: nothing may be a 5xx.

    python -m bench.openapi_fuzz --examples 600

A service with a scripted engine is started for it. schemathesis makes the requests and holds each answer to the
document: status, media type, schema. Exit code as schemathesis': 0 if nothing was found.
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from bench.service import SCRIPTED, service

CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--examples", type=int, default=600, help="for each operation and phase")
    parser.add_argument("--seed", type=int, default=7)
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, service(Path(folder) / "data", **SCRIPTED) as running:
        command = [
            str(Path(sys.executable).with_name("schemathesis")), "run", f"{running.url}/openapi.json",
            "--checks", CHECKS, "--mode", "all", "--max-examples", str(wanted.examples), "--seed", str(wanted.seed),
            "--continue-on-failure", "--no-color",
        ]  # fmt: skip
        code = subprocess.run(command, cwd=folder, check=False).returncode
        failed = running.metric("booking_refused_total")
        print(f"refused by the service as problems: {failed:.0f}; ready afterwards: {running.is_ready()}")
        return code or (0 if running.is_ready() else 1)


if __name__ == "__main__":
    sys.exit(main())
