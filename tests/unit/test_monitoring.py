"""Dashboards and rules: made from the metrics' names, in a form that Grafana and Prometheus take."""

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client import REGISTRY

from app.telemetry import metrics
from monitoring import names
from monitoring.__main__ import FOLDER, text
from monitoring.dashboards import ALL
from monitoring.grafana_json import COLUMNS, Dashboard, as_json
from tests.support.prometheus import program

PROMETHEUS = Path("monitoring/prometheus")
ALERTS = [
    rule for group in yaml.safe_load((PROMETHEUS / "rules/alerts.yml").read_text())["groups"] for rule in group["rules"]
]
METRIC = re.compile(r"\b(?:booking_\w+|vllm:\w+)")
EXPRESSIONS = [query.expression for dashboard in ALL for panel in dashboard.panels for query in panel.queries]


def known_names() -> set[str]:
    declared = {value for key, value in vars(names).items() if key.isupper() and isinstance(value, str)}
    ours: set[str] = {name for name, _, _ in metrics.CALL_LOG_FAMILIES.values()}
    for family in REGISTRY.collect():
        ours |= {family.name, f"{family.name}_total", f"{family.name}_bucket", f"{family.name}_count"}
    return declared | ours


@pytest.mark.parametrize("dashboard", ALL, ids=lambda dashboard: dashboard.uid)
def test_the_files_that_grafana_loads_are_made_from_the_dashboards(dashboard: Dashboard) -> None:
    file = FOLDER / f"{dashboard.uid.removeprefix('booking-')}.json"

    assert file.read_text("utf-8") == text(dashboard.uid), "run python -m monitoring write"


@pytest.mark.parametrize("dashboard", ALL, ids=lambda dashboard: dashboard.uid)
def test_every_variable_that_is_used_is_declared_and_every_panel_has_a_place_of_its_own(dashboard: Dashboard) -> None:
    made = as_json(dashboard)
    used = set(re.findall(r"\$(?!__)(\w+)", json.dumps(made["panels"])))
    taken: set[tuple[int, int]] = set()

    assert used == {variable["name"] for variable in made["templating"]["list"]}
    assert len({panel["id"] for panel in made["panels"]}) == len(made["panels"])
    for panel in made["panels"]:
        place: dict[str, int] = panel["gridPos"]
        cells = {(place["x"] + x, place["y"] + y) for x in range(place["w"]) for y in range(place["h"])}
        assert place["x"] + place["w"] <= COLUMNS and not cells & taken, panel["title"]
        taken |= cells


def test_every_metric_of_a_panel_or_rule_is_one_that_is_declared() -> None:
    rules = "".join(path.read_text() for path in (PROMETHEUS / "rules").glob("*.yml"))

    asked = set(METRIC.findall(rules + "".join(EXPRESSIONS)))

    assert len(asked) > 35
    assert asked <= known_names()


def test_prometheus_takes_the_configuration_and_the_rules() -> None:
    promtool = program("promtool")

    subprocess.run([promtool, "check", "config", "--syntax-only", PROMETHEUS / "prometheus.yml"], check=True)
    subprocess.run([promtool, "check", "rules", *sorted((PROMETHEUS / "rules").glob("*.yml"))], check=True)


def test_every_alert_fires_and_ends() -> None:
    tried = {case["name"] for case in yaml.safe_load((PROMETHEUS / "tests/alerts_test.yml").read_text())["tests"]}

    subprocess.run([program("promtool"), "test", "rules", PROMETHEUS / "tests/alerts_test.yml"], check=True)

    assert tried == {rule["alert"] for rule in ALERTS}


def test_an_alert_that_cannot_fire_fails_that_test(tmp_path: Path) -> None:
    shutil.copytree(PROMETHEUS, tmp_path / "prometheus")
    rules = tmp_path / "prometheus/rules/alerts.yml"
    rules.write_text(rules.read_text().replace("booking_ready == 0", "booking_ready == 2"))

    tried = subprocess.run(
        [program("promtool"), "test", "rules", tmp_path / "prometheus/tests/alerts_test.yml"],
        check=False, capture_output=True, text=True,
    )  # fmt: skip

    assert tried.returncode == 1 and "BookingNotReady" in tried.stdout + tried.stderr


@pytest.mark.parametrize("rule", ALERTS, ids=lambda rule: rule["alert"])
def test_every_alert_has_its_lines_in_the_runbook(rule: dict[str, Any]) -> None:
    sections = re.findall(r"^### (\w+)\n(.+?)\n\n", Path("docs/operations.md").read_text(), re.MULTILINE | re.DOTALL)

    assert len(dict(sections)[rule["alert"]]) > 50
    assert rule["annotations"]["runbook"] == f"docs/operations.md#{rule['alert'].lower()}"
    assert rule["labels"]["severity"] in ("page", "warn")
