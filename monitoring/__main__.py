"""python -m monitoring write | render: the dashboards as files for Grafana, and their panels as pictures.

Exit codes: 0 done, 1 Prometheus cannot be asked or answers nothing.
"""

import argparse
import json
import sys
from pathlib import Path

from monitoring.dashboards import ALL
from monitoring.grafana_json import as_json

FOLDER = Path(__file__).parent / "grafana" / "dashboards"


def main() -> int:
    chosen = _parser().parse_args()
    if chosen.command == "write":
        write(FOLDER)
        return 0
    from monitoring.render import PrometheusUnusable, render

    try:
        for path in render(chosen.prometheus, chosen.dashboard, chosen.minutes, chosen.out):
            print(f"wrote {path}")
    except PrometheusUnusable as error:
        print(f"monitoring: {error}", file=sys.stderr)
        return 1
    return 0


def write(folder: Path) -> None:
    for dashboard in ALL:
        (folder / f"{dashboard.uid.removeprefix('booking-')}.json").write_text(text(dashboard.uid), "utf-8")


def text(uid: str) -> str:
    """The file's content; a test compares it with the file."""
    dashboard = next(dashboard for dashboard in ALL if dashboard.uid == uid)
    return json.dumps(as_json(dashboard), indent=1, ensure_ascii=False) + "\n"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m monitoring", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("write", help="write grafana/dashboards/*.json")
    drawn = commands.add_parser("render", help="draw a dashboard from what Prometheus has, where there is no Grafana")
    drawn.add_argument("--prometheus", default="http://127.0.0.1:9090")
    drawn.add_argument("--dashboard", choices=[dashboard.uid for dashboard in ALL], action="append")
    drawn.add_argument("--minutes", type=float, default=60.0, help="how far back; default 60")
    drawn.add_argument("--out", type=Path, default=Path())
    return parser


if __name__ == "__main__":
    sys.exit(main())
