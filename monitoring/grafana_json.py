"""Panels as data, and the dashboard JSON that Grafana provisions from them."""

from dataclasses import dataclass, field
from typing import Any, Literal

COLUMNS = 24
SCHEMA_VERSION = 39
DATASOURCE = {"type": "prometheus", "uid": "prometheus"}


@dataclass(frozen=True)
class Query:
    expression: str
    legend: str = ""
    """Labels in double braces, e.g. {{design}}."""


@dataclass(frozen=True)
class Panel:
    title: str
    queries: tuple[Query, ...]
    unit: str = "short"
    """Grafana's name of the unit: s, bytes, percentunit, reqps, ops, short."""
    description: str = ""
    kind: Literal["timeseries", "stat"] = "timeseries"
    width: int = 8
    stacked: bool = False


@dataclass(frozen=True)
class Variable:
    """A choice at the top of a dashboard; All is every value."""

    name: str
    metric: str
    """Whose label of that name has the values."""


@dataclass(frozen=True)
class Dashboard:
    uid: str
    title: str
    description: str
    variables: tuple[Variable, ...]
    rows: dict[str, tuple[Panel, ...]] = field(default_factory=dict)

    @property
    def panels(self) -> tuple[Panel, ...]:
        return tuple(panel for row in self.rows.values() for panel in row)


def as_json(dashboard: Dashboard) -> dict[str, Any]:
    return {
        "uid": dashboard.uid,
        "title": dashboard.title,
        "description": dashboard.description,
        "tags": ["booking-assistant"],
        "schemaVersion": SCHEMA_VERSION,
        "editable": False,
        "refresh": "30s",
        "time": {"from": "now-3h", "to": "now"},
        "templating": {"list": [_variable(variable) for variable in dashboard.variables]},
        "links": [
            {"type": "dashboards", "tags": ["booking-assistant"], "title": "Booking assistant", "asDropdown": True}
        ],
        "panels": _laid_out(dashboard),
    }


def _variable(variable: Variable) -> dict[str, Any]:
    query = f"label_values({variable.metric}, {variable.name})"
    return {
        "name": variable.name,
        "type": "query",
        "datasource": DATASOURCE,
        "definition": query,
        "query": {"query": query, "refId": variable.name},
        "refresh": 2,
        "includeAll": True,
        "allValue": ".*",
        "multi": True,
        "current": {"text": "All", "value": "$__all"},
        "sort": 1,
    }


def _laid_out(dashboard: Dashboard) -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = []
    y = 0
    for title, panels in dashboard.rows.items():
        made.append({"id": len(made) + 1, "type": "row", "title": title, "collapsed": False,
                     "gridPos": {"x": 0, "y": y, "w": COLUMNS, "h": 1}, "panels": []})  # fmt: skip
        y += 1
        x, height = 0, 0
        for panel in panels:
            if x + panel.width > COLUMNS:
                x, y = 0, y + height
                height = 0
            tall = 4 if panel.kind == "stat" else 8
            made.append(_panel(panel, len(made) + 1, {"x": x, "y": y, "w": panel.width, "h": tall}))
            x, height = x + panel.width, max(height, tall)
        y += height
    return made


def _panel(panel: Panel, number: int, place: dict[str, int]) -> dict[str, Any]:
    custom = {"fillOpacity": 15, "showPoints": "never", "stacking": {"mode": "normal" if panel.stacked else "none"}}
    made: dict[str, Any] = {
        "id": number,
        "type": panel.kind,
        "title": panel.title,
        "description": panel.description,
        "datasource": DATASOURCE,
        "gridPos": place,
        "targets": [
            {"refId": chr(ord("A") + n), "expr": query.expression, "legendFormat": query.legend or "__auto",
             "datasource": DATASOURCE}
            for n, query in enumerate(panel.queries)
        ],
        "fieldConfig": {"defaults": {"unit": panel.unit, "min": 0, "custom": custom}, "overrides": []},
    }  # fmt: skip
    if panel.kind == "stat":
        made["fieldConfig"]["defaults"].pop("custom")
        made["options"] = {"reduceOptions": {"calcs": ["lastNotNull"]}, "colorMode": "value"}
    else:
        made["options"] = {"legend": {"displayMode": "list", "placement": "bottom"}, "tooltip": {"mode": "multi"}}
    return made
