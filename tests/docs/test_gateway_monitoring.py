"""The gateway's alerts and dashboard ask for what it serves; its metrics and alerts are in the documentation."""

from __future__ import annotations

import json
import re

import promql_parser
import pytest
import yaml
from support.events import tree
from support.gateway import NOWHERE, Gateway
from support.repository import ROOT, table_rows

FOLDER = ROOT / "examples" / "gateway"
ALERTS = yaml.safe_load((FOLDER / "prometheus" / "alerts.yaml").read_text(encoding="utf-8"))
DASHBOARD = json.loads((FOLDER / "grafana" / "dashboard.json").read_text(encoding="utf-8"))
RULES = [rule for group in ALERTS["groups"] for rule in group["rules"]]
PANELS = [panel for panel in DASHBOARD["panels"] if panel["type"] != "row"]
OF_THE_SCRAPE = {"up"}
LABELS_OF_THE_SCRAPE = {"job", "instance", "pod"}
SEEN_LATER = {"truewatch_gateway_http_requests_total"}
"""Which have a value of a label only once it was seen."""

_SAMPLE = re.compile(r"(\w+)(?:\{(.*)\})? \S+")
_LABEL = re.compile(r'(\w+)="([^"]*)"')


@pytest.fixture(scope="module")
def served():
    """Give the labels and values of each metric that a gateway with HTTP and Kafka serves, where it has any."""
    kafka = ["--kafka-bootstrap", "127.0.0.1:9", "--topic", "openlineage", "--group", "lineage"]
    with Gateway(NOWHERE, args=kafka, env={"exit_budget": 0.2}) as gateway:
        gateway.post(tree())
        lines = gateway.request("GET", "/metrics").body.decode().splitlines()
    found = {line.split()[2]: {} for line in lines if line.startswith("# TYPE ")}
    for name, labels in (_SAMPLE.fullmatch(line).groups() for line in lines if not line.startswith("#")):
        for label, value in _LABEL.findall(labels or ""):
            found[name].setdefault(label, set()).add(value)
    return found


def _selectors(expression):
    """Parse an expression and give its selectors; Grafana's own variables stand for a duration and for an instance."""
    text = expression.replace("$__rate_interval", "5m").replace("$instance", ".*")
    found = []
    promql_parser.walk(
        promql_parser.parse(text),
        lambda node: found.append(node) if isinstance(node, promql_parser.VectorSelector) else None,
    )
    return found


EXPRESSIONS = [
    *(pytest.param(rule["expr"], id=rule["alert"]) for rule in RULES),
    *(
        pytest.param(target["expr"], id=f"{panel['title']}-{target['refId']}")
        for panel in PANELS
        for target in panel["targets"]
    ),
]


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_every_expression_asks_for_what_is_served(expression, served) -> None:
    """Each metric, each label, and each value of a label that is always there."""
    for selector in _selectors(expression):
        if selector.name in OF_THE_SCRAPE:
            continue
        labels = served[selector.name]
        for matcher in selector.matchers.matchers:
            if matcher.name in LABELS_OF_THE_SCRAPE:
                continue
            assert matcher.name in labels
            assert selector.name in SEEN_LATER or matcher.value in labels[matcher.name]


def test_a_variable_of_the_dashboard_asks_for_what_is_served(served) -> None:
    """The list of gateways comes from a metric that every gateway has."""
    (instance,) = (one for one in DASHBOARD["templating"]["list"] if one["name"] == "instance")

    assert re.fullmatch(r"label_values\((\w+), instance\)", instance["query"]["query"])[1] in served


def test_the_dashboard_is_one_that_grafana_can_import() -> None:
    """Numbers are unique, panels do not overlap, and each asks the data source that is chosen."""
    numbers = [panel["id"] for panel in DASHBOARD["panels"]]
    cells = [
        (x, y)
        for panel in DASHBOARD["panels"]
        for place in [panel["gridPos"]]
        for x in range(place["x"], place["x"] + place["w"])
        for y in range(place["y"], place["y"] + place["h"])
    ]

    assert len(numbers) == len(set(numbers))
    assert len(cells) == len(set(cells))
    assert max(x for x, _ in cells) < 24
    assert all(panel["datasource"]["uid"] == "${datasource}" for panel in PANELS)
    assert all(panel["description"] for panel in PANELS)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["alert"])
def test_every_alert_says_what_and_how_bad_and_is_in_the_documentation(rule) -> None:
    """With a row of what to do in docs/troubleshooting.md."""
    rows = table_rows((ROOT / "docs" / "troubleshooting.md").read_text(encoding="utf-8"))

    assert rule["labels"]["severity"] in {"critical", "warning"}
    assert rule["annotations"]["summary"]
    assert any(f"`{rule['alert']}`" in row[0] for row in rows)


def test_every_metric_is_in_the_documentation_and_no_other(served) -> None:
    """The table of docs/gateway.md has each with its labels."""
    rows = table_rows((ROOT / "docs" / "gateway.md").read_text(encoding="utf-8"))
    shown = {
        name: set(re.findall(r"`(\w+)`", row[1]))
        for row in rows
        if len(row) == 3
        for name in re.findall(r"`(truewatch_\w+)`", row[0])
    }

    assert shown.keys() == served.keys()
    assert all(set(labels) <= shown[name] for name, labels in served.items())


def test_prometheus_reads_the_alerts_and_shows_the_gateways_token() -> None:
    """By a file; and scrapes over https, as the manifests serve it."""
    config = yaml.safe_load((FOLDER / "prometheus" / "prometheus.yml").read_text(encoding="utf-8"))

    assert all((FOLDER / "prometheus" / name).is_file() for name in config["rule_files"])
    for job in config["scrape_configs"]:
        assert re.fullmatch("truewatch-lineage-gateway.*", job["job_name"])
        assert job["scheme"] == "https"
        assert set(job["authorization"]) == {"credentials_file"}
