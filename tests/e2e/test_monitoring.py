"""A real Prometheus scrapes a real service, a real vLLM and a real pushgateway with the shipped configuration."""

import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
import yaml

from app.api.key_file import create_key
from app.telemetry.clock import utc_now
from eval.__main__ import main as evaluate
from monitoring.dashboards import ALL
from monitoring.render import ask, render, resolved
from tests.e2e.service import CHECK, Running, free_port, service, wait_until
from tests.e2e.test_engine_process import ENGINE, START_SECONDS
from tests.support.eval_results import every, write
from tests.support.prometheus import program

pytestmark = pytest.mark.model

SHIPPED = Path("monitoring/prometheus")
RULES = [
    rule
    for path in sorted((SHIPPED / "rules").glob("*.yml"))
    for group in yaml.safe_load(path.read_text())["groups"]
    for rule in group["rules"]
]
NEEDS_TWO_DAYS = {"BookingEscalationsRise"}


@contextmanager
def program_at(command: list[str], url: str, log: Path) -> Iterator[None]:
    with log.open("wb") as out:
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT)
    try:
        wait_until(lambda: answers(url), 60, log.read_text)
        yield
    finally:
        process.terminate()
        process.wait()


def answers(url: str) -> bool:
    try:
        return httpx.get(url).status_code == 200
    except httpx.TransportError:
        return False


@contextmanager
def prometheus(folder: Path, key: str, targets: dict[str, str]) -> Iterator[httpx.Client]:
    """With the shipped configuration; only addresses, the key's place and the pace are the test's."""
    shutil.copytree(SHIPPED, folder)
    (folder / "key").write_text(key)
    config = (folder / "prometheus.yml").read_text()
    config = config.replace("/run/secrets/metrics_key", str(folder / "key")).replace("15s", "1s")
    # Here the vLLM that is scraped is an embedded one: its metrics are behind the service's key.
    with_key = f"job_name: vllm\n    authorization: {{credentials_file: {folder / 'key'}}}\n"
    (folder / "prometheus.yml").write_text(config.replace("job_name: vllm\n", with_key))
    for name, target in targets.items():
        (folder / "targets" / f"{name}.yml").write_text(yaml.safe_dump([{"targets": [target]}]))
    url = f"http://127.0.0.1:{free_port()}"
    command = [
        program("prometheus"), f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data",
        f"--web.listen-address={url.removeprefix('http://')}",
    ]  # fmt: skip
    with program_at(command, f"{url}/-/ready", folder / "log"), httpx.Client(base_url=url, timeout=30) as client:
        yield client


def load(running: Running, headers: dict[str, str]) -> None:
    """Something of everything that panels show."""
    post = running.client.post
    path = "/consultations/check"
    for design in ("pipeline", "base", "reasoned", "tiered", "table"):
        for enforcement in ("constrained", "unconstrained"):
            post(path, json=CHECK, headers=headers | {"X-Schema-Design": design, "X-Enforcement": enforcement})
    elsewhere = "I'm 45, and my daughter is 16: she would like the £900 course. Write to a@b.example"
    post(path, json=CHECK | {"message": elsewhere}, headers=headers)
    post(path, json=CHECK, headers=headers | {"X-Timeout-Seconds": "1"})
    post(path, json={}, headers=headers)


def test_every_panel_and_every_rule_returns_data(data_dir: Path, tmp_path: Path) -> None:
    program("prometheus")
    gateway = f"127.0.0.1:{free_port()}"
    data_dir.mkdir(parents=True)
    key = create_key(data_dir / "keys.json", "test", ["check", "metrics"], utc_now())
    bearer = {"Authorization": f"Bearer {key}"}
    write(tmp_path / "r.jsonl", every())
    push = [program("prometheus-pushgateway"), f"--web.listen-address={gateway}"]
    with (
        program_at(push, f"http://{gateway}/-/ready", tmp_path / "gateway.log"),
        service(data_dir, SCRIPT_LATENCY_SECONDS="0.4") as scripted,
        service(data_dir.with_name("vllm"), START_SECONDS, KEYS_FILE=str(data_dir / "keys.json"), **ENGINE) as real,
        prometheus(
            tmp_path / "prometheus", key,
            {"service": scripted.client.base_url.netloc.decode(), "vllm": real.client.base_url.netloc.decode(),
             "eval": gateway},
        ) as client,
    ):  # fmt: skip
        assert evaluate(["metrics", str(tmp_path / "r.jsonl"), "--push", gateway]) == 0

        empty: list[str] = ["nothing asked yet"]
        for _ in range(8):
            load(scripted, bearer)
            real.client.post("/consultations/check", json=CHECK, headers=bearer)
            empty = without_data(client)
            if not empty:
                break
        pictures = list(render(str(client.base_url), None, 2, tmp_path / "pictures"))
        alerts = {rule["alert"]: rule["expr"] for rule in RULES if "alert" in rule}
        broken = [name for name, expression in alerts.items() if not has_data(client, compared_sides(expression))]

    assert empty == []
    assert set(broken) <= NEEDS_TWO_DAYS
    assert len(pictures) == len(ALL) and all(path.stat().st_size > 20_000 for path in pictures)


def without_data(client: httpx.Client) -> list[str]:
    asked = {
        f"{dashboard.uid}: {panel.title}": resolved(query.expression)
        for dashboard in ALL
        for panel in dashboard.panels
        for query in panel.queries
    }
    asked |= {rule["record"]: rule["record"] for rule in RULES if "record" in rule}
    return [name for name, expression in asked.items() if not has_data(client, [expression])]


def has_data(client: httpx.Client, expressions: list[str]) -> bool:
    return all(ask(client, "query", query=expression, time=time.time()) for expression in expressions)


def compared_sides(expression: str) -> list[str]:
    """What an alert compares, without the comparison, which is empty as long as all is well."""
    parts = re.split(r"\b(?:and|or)\b", expression)
    return [re.split(r" (?:==|>|<) ", part)[0].strip() for part in parts]
