"""A dashboard's panels as one picture, from Prometheus' API: what Grafana would show, where there is none."""

import math
import re
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import httpx
import matplotlib

matplotlib.use("Agg")

from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.ticker import EngFormatter, Formatter, PercentFormatter

from monitoring.dashboards import ALL
from monitoring.grafana_json import COLUMNS, Dashboard, Panel, Query

POINTS = 240
PLOTS_A_ROW = 3
UNITS = {"s": "s", "bytes": "B", "reqps": "/s", "ops": "/s"}


class PrometheusUnusable(Exception):
    """It cannot be asked, or does not understand the question."""


def resolved(expression: str, rate_interval: str = "1m") -> str:
    """What Grafana sends when every variable stands at All."""
    return re.sub(r"\$(?!__)\w+", ".*", expression.replace("$__rate_interval", rate_interval))


def render(url: str, uids: Sequence[str] | None, minutes: float, folder: Path) -> Iterator[Path]:
    """One PNG a dashboard. Raises PrometheusUnusable."""
    folder.mkdir(parents=True, exist_ok=True)
    with httpx.Client(base_url=url, timeout=30) as client:
        for dashboard in ALL:
            if not uids or dashboard.uid in uids:
                path = folder / f"{dashboard.uid}.png"
                _draw(client, dashboard, minutes, path)
                yield path


def ask(client: httpx.Client, path: str, **parameters: Any) -> list[dict[str, Any]]:
    """The series of an answer. Raises PrometheusUnusable."""
    try:
        answer = client.get(f"/api/v1/{path}", params=parameters)
        body = answer.json()
    except (httpx.HTTPError, ValueError) as error:
        raise PrometheusUnusable(f"no Prometheus answers at {client.base_url}: {error}") from error
    if body.get("status") != "success":
        raise PrometheusUnusable(f"Prometheus refuses {parameters.get('query')!r}: {body.get('error')}")
    found: list[dict[str, Any]] = body["data"]["result"]
    return found


def _draw(client: httpx.Client, dashboard: Dashboard, minutes: float, path: Path) -> None:
    stats = [panel for panel in dashboard.panels if panel.kind == "stat"]
    drawn = [panel for panel in dashboard.panels if panel.kind != "stat"]
    heights = [1.0] * bool(stats) + [3.0] * math.ceil(len(drawn) / PLOTS_A_ROW)
    figure = pyplot.figure(figsize=(16, sum(heights)), layout="constrained")
    figure.suptitle(dashboard.title, fontsize=14, x=0.01, ha="left")
    grid = figure.add_gridspec(len(heights), COLUMNS, height_ratios=heights)
    end = time.time()
    for n, panel in enumerate(stats):
        wide = COLUMNS // len(stats)
        _draw_panel(client, figure.add_subplot(grid[0, n * wide : (n + 1) * wide]), panel, end - minutes * 60, end)
    for n, panel in enumerate(drawn):
        row, column = divmod(n, PLOTS_A_ROW)
        wide = COLUMNS // PLOTS_A_ROW
        place = figure.add_subplot(grid[row + bool(stats), column * wide : (column + 1) * wide])
        _draw_panel(client, place, panel, end - minutes * 60, end)
    figure.savefig(path, dpi=80)
    pyplot.close(figure)


def _draw_panel(client: httpx.Client, place: Axes, panel: Panel, start: float, end: float) -> None:
    place.set_title(panel.title, fontsize=10, loc="left")
    lines = [
        (label, points)
        for query in panel.queries
        for label, points in _series(client, query, start, end)
    ]  # fmt: skip
    if panel.kind == "stat":
        last = lines[0][1][-1][1] if lines else float("nan")
        place.text(0.5, 0.5, _number(panel)(last, None), fontsize=26, ha="center", va="center")
        place.axis("off")
        return
    for label, points in lines:
        place.plot([(at - end) / 60 for at, _ in points], [y for _, y in points], label=label, linewidth=1.2)
    place.set_xlabel("minutes", fontsize=7)
    place.tick_params(labelsize=7)
    place.grid(alpha=0.3)
    place.set_ylim(bottom=0)
    place.yaxis.set_major_formatter(_number(panel))
    if 0 < len(lines) <= 12:
        place.legend(fontsize=6, loc="upper left", ncols=2)


def _number(panel: Panel) -> Formatter:
    if panel.unit == "percentunit":
        return PercentFormatter(1.0)
    return EngFormatter(UNITS.get(panel.unit, ""), places=None if panel.kind != "stat" else 0, sep=" ")


def _series(
    client: httpx.Client, query: Query, start: float, end: float
) -> Iterator[tuple[str, list[tuple[float, float]]]]:
    step = max((end - start) / POINTS, 1)
    for found in ask(client, "query_range", query=resolved(query.expression), start=start, end=end, step=step):
        label = query.legend
        for name in re.findall(r"{{(\w+)}}", query.legend):
            label = label.replace(f"{{{{{name}}}}}", found["metric"].get(name, ""))
        points = [(float(at), float(y)) for at, y in found["values"] if not math.isnan(float(y))]
        if points:
            yield label, points
