"""docs/receiver.md says what the receiver does, and the compose file is one."""

from __future__ import annotations

import json
import re

import click
import pytest
import yaml
from support.repository import ROOT, table_rows

from truewatch_lineage.cli.receive import command
from truewatch_lineage.config import load
from truewatch_lineage.receiver.endpoints import ENDPOINTS
from truewatch_lineage.receiver.projection import fields
from truewatch_lineage.receiver.rules import ALL_RULES

PAGE = (ROOT / "docs" / "receiver.md").read_text(encoding="utf-8")
ROWS = table_rows(PAGE)
COMPOSE = ROOT / "examples" / "compose"


def _of_code():
    """Give every field with the facet it comes from."""
    tables = {"run.facets": fields.RUN, "job.facets": fields.JOB, "facets": fields.DATASET}
    tables |= {"inputFacets or facets": fields.INPUT, "outputFacets or facets": fields.OUTPUT}
    found = {row.name: row.origin for row in fields.PLAIN}
    for owner, table in tables.items():
        found |= {row.name: f"{owner}: {row.facet}, {'.'.join(row.path)}" for rows in table.values() for row in rows}
    return found


def test_the_table_of_fields_is_the_codes() -> None:
    """Each field is there once, with where it comes from, and none that does not exist."""
    start = PAGE.index("| field | on | holds |")
    rows = table_rows(PAGE[start : PAGE.index("## What the seeds leave open")])

    assert [row[0] for row in rows] == ["field", "---", *(f"`{name}`" for name in _of_code())]
    assert {row[0].strip("`"): row[2] for row in rows[2:]} == _of_code()


@pytest.mark.parametrize("endpoint", ENDPOINTS, ids=lambda one: f"{one.method} {one.path}")
def test_every_endpoint_is_in_the_table_with_its_parameters(endpoint) -> None:
    """The row names them in order."""
    row = next(row for row in ROWS if row[0] == f"`{endpoint.method} {endpoint.path}`")

    assert re.findall(r"`(\w+)`", row[1]) == [param.name for param in endpoint.params]


def test_the_destinations_paths_and_answers_are_in_the_table() -> None:
    """Path and success of each."""
    shown = {row[0].strip("`"): row[2][:3] for row in ROWS if len(row) == 4}

    assert {rules.path: str(rules.success) for rules in ALL_RULES}.items() <= shown.items()


def test_every_option_of_its_own_is_in_the_table() -> None:
    """Settings have a page of their own."""
    named = set(re.findall(r"--[a-z][a-z-]+", " ".join(row[0] for row in ROWS)))
    own = {name for one in command.params if type(one) is click.Option for name in one.opts}

    assert own == named


def test_the_compose_file_starts_airflow_beside_the_receiver() -> None:
    """Parsed; its ports are bound to loopback, its receiver's command exists, its Dockerfile too."""
    services = yaml.safe_load((COMPOSE / "airflow.yml").read_text(encoding="utf-8"))["services"]

    for service in services.values():
        assert set(service) <= _KEYS
        assert all(port.startswith("127.0.0.1:") for port in service["ports"])
    assert set(services["airflow"]["depends_on"]) == {"receiver"}
    build = services["receiver"]["build"]
    assert (COMPOSE / build["context"]).resolve() == ROOT
    assert (ROOT / build["dockerfile"]).is_file()
    name, *args = services["receiver"]["command"]
    assert name == command.name
    assert command.make_context(name, args).params["no_token"] is True


def test_the_compose_files_transport_reaches_the_receiver() -> None:
    """The JSON of Airflow's variable is one of the client's http transport, to a path that the receiver serves."""
    services = yaml.safe_load((COMPOSE / "airflow.yml").read_text(encoding="utf-8"))["services"]
    transport = json.loads(services["airflow"]["environment"]["AIRFLOW__OPENLINEAGE__TRANSPORT"])

    assert transport["type"] == "http"
    assert transport["endpoint"] in {rules.path for rules in ALL_RULES}
    assert transport["url"] == "http://receiver:8765"
    # Our own transport takes the same words, but for the type and a receiver that asks for no token.
    settings = {name: value for name, value in transport.items() if name != "type"}
    assert load({**settings, "destination": "dataway", "delivery": "spool", "allow_insecure_http": True}, environ={})


def test_the_container_runs_the_receiver() -> None:
    """The Dockerfile's command line parses."""
    text = (COMPOSE / "receiver.Dockerfile").read_text(encoding="utf-8")
    words = {name: json.loads(value) for name, value in re.findall(r"^(ENTRYPOINT|CMD) (\[.*\])$", text, re.MULTILINE)}

    assert words["ENTRYPOINT"] == ["truewatch-lineage"]
    assert command.make_context("receive", words["CMD"][1:]).params["host"] == "0.0.0.0"


_KEYS = {"build", "image", "command", "ports", "volumes", "healthcheck", "depends_on", "environment"}
