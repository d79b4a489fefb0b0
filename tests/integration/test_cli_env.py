"""``env``: what it prints works when it is set, and never holds a token."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest
import yaml
from support.cli import run
from support.private import write_private
from support.raw_server import RawServer

TOKEN = "9e12"
STOCK = """
import os
from openlineage.client import OpenLineageClient
from openlineage.client.event_v2 import Job, Run, RunEvent, RunState
client = OpenLineageClient()
client.emit(RunEvent(eventType=RunState.START, eventTime="2026-10-21T08:00:00Z", producer="https://example.com/p",
    run=Run(runId="4a8f90a7-79c0-4f80-89e7-6b6c5d4fc79a"), job=Job(namespace="ns", name="job")))
if hasattr(client, "close"):  # which the oldest releases lack
    client.close()
"""


@pytest.fixture
def server():
    """A server that takes everything."""
    with RawServer() as made:
        yield made


@pytest.fixture
def token_file(tmp_path):
    """A token that the stock client would take for a number."""
    return write_private(tmp_path / "to ken", TOKEN)


def _shell(exports, tmp_path):
    """Emit an event by the client's own settings, after a shell has taken the exports."""
    script = f"{exports}\nexec {sys.executable} -c '{STOCK}'\n"
    return subprocess.run(["sh", "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=50, check=False)


@pytest.mark.parametrize(("tool", "stock"), [("python", True), ("dbt", True), ("python", False), ("dbt", False)])
def test_a_program_that_sets_what_is_printed_delivers(server, token_file, tmp_path, tool, stock) -> None:
    """By the stock client and by this transport, the token byte for byte."""
    env = {"url": server.url, "spool_dir": tmp_path / "spool", "token_file": token_file}

    ran = run("env", tool, *(["--stock"] if stock else []), env=env)
    done = _shell(ran.out, tmp_path)

    assert done.returncode == 0, done.stderr
    (request,) = server.wait_for(1)
    assert request.header("authorization") == f"Bearer {TOKEN}"
    assert request.path == "/v1/write/openlineage"


@pytest.mark.parametrize("stock", [True, False])
def test_what_is_printed_for_airflow_is_the_providers_json(server, token_file, stock) -> None:
    """A shell makes of it what the provider parses."""
    ran = run("env", "airflow", *(["--stock"] if stock else []), env={"url": server.url, "token_file": token_file})
    done = subprocess.run(
        ["sh", "-c", f'{ran.out}\nprintf %s "$AIRFLOW__OPENLINEAGE__TRANSPORT"'],
        capture_output=True,
        text=True,
        check=True,
    )

    transport = json.loads(done.stdout)
    if stock:
        assert transport["auth"] == {"type": "api_key", "apiKey": TOKEN}
        assert (transport["url"], transport["endpoint"]) == (server.url, "/v1/write/openlineage")
        assert transport["retry"]["status_forcelist"] == [429, 500, 502, 503, 504]
    else:
        assert transport == {"type": "truewatch_lineage.TrueWatchTransport"}
        assert f"export TRUEWATCH_LINEAGE_URL={server.url}" in ran.out


@pytest.mark.parametrize(
    ("kind", "endpoint", "compression", "auth"),
    [
        ("dataway", "/v1/write/openlineage", True, True),
        ("datakit", "/openlineage/api/v1/lineage", True, False),
        ("portal", "/api/data-registry/lineage", False, True),
    ],
)
def test_the_stock_client_gets_each_destinations_own_rules(kind, endpoint, compression, auth) -> None:
    """An explicit endpoint always; gzip and a token where the destination's page speaks of them."""
    out = run("env", "python", "--stock", env={"destination": kind, "url": "https://x.example/base"}).out

    assert "export OPENLINEAGE__TRANSPORT__URL=https://x.example\n" in out
    assert f"export OPENLINEAGE__TRANSPORT__ENDPOINT=/base{endpoint}\n" in out
    assert ("COMPRESSION=gzip" in out, "apiKey" in out) == (compression, auth)


@pytest.mark.parametrize("tool", ["python", "airflow"])
def test_a_file_holds_the_same(tool, tmp_path) -> None:
    """openlineage.yml for Python, airflow.cfg with doubled percent signs for Airflow."""
    out = run("env", tool, "--file", "--url", "https://x.example/a%20b").out

    if tool == "python":
        assert '  type: "truewatch_lineage.TrueWatchTransport"\n' in out
        assert '  url: "https://x.example/a%20b"\n' in out
    else:
        assert '"url": "https://x.example/a%%20b"' in out


def test_named_destinations_are_one_variable(tmp_path) -> None:
    """Their tokens by reference too."""
    both = {"tw": {"url": "https://x.example", "token": "a-secret-token"}, "dk": {"destination": "datakit"}}

    out = run("env", "python", env={"destinations": json.dumps(both)}).out

    variable = re.search(r"TRUEWATCH_LINEAGE_DESTINATIONS='(.*)'", out)
    written = json.loads(variable[1])
    assert written == {
        "tw": {"url": "https://x.example", "token_file": "/etc/truewatch/token"},
        "dk": {"destination": "datakit"},
    }
    assert "# Put the token alone into /etc/truewatch/token" in out


@pytest.mark.parametrize("stock", [[], ["--stock"]])
def test_the_name_of_a_variable_is_kept_though_it_is_not_set_here(stock) -> None:
    """It will be set where it is used; what may be a token itself is not repeated."""
    env = {"url": "https://x.example", "destination": "portal"}

    assert "PORTAL_TOKEN" in run("env", "python", *stock, env=env | {"token_env": "PORTAL_TOKEN"}).out
    assert "tkn_hidden" not in run("env", "python", *stock, env=env | {"token_env": "tkn_hidden01"}).out


@pytest.mark.parametrize("options", [(), ("--stock",), ("--file",), ("--stock", "--file")])
@pytest.mark.parametrize(
    ("tool", "variable"),
    [
        ("dbt", "OPENLINEAGE_NAMESPACE"),
        ("airflow", "AIRFLOW__OPENLINEAGE__NAMESPACE"),
        ("airflow", "OPENLINEAGE_NAMESPACE"),
    ],
)
def test_the_namespace_that_jobs_have_here_is_kept(monkeypatch, tool, variable, options) -> None:
    """Another would give every job a new name."""
    monkeypatch.setenv(variable, "of-ours")

    out = run("env", tool, *options, env={"url": "https://x.example"}).out

    assert re.search(r"(?i)namespace ?= ?of-ours$", out, re.MULTILINE)
    assert f"production-{tool}" not in out


@pytest.mark.parametrize(("stock", "command"), [([], "truewatch-dbt"), (["--stock"], "dbt-ol")])
def test_a_file_for_dbt_says_what_no_file_can_hold(stock, command) -> None:
    """The namespace is a variable, and the command is another; both as comments of valid YAML."""
    out = run("env", "dbt", "--file", *stock, env={"url": "https://x.example"}).out

    assert "# besides: export OPENLINEAGE_NAMESPACE=production-dbt\n" in out
    assert out.endswith(f"# then: {command} run\n")
    assert run("env", "dbt", *stock, env={"url": "https://x.example"}).out.endswith(f"# then: {command} run\n")
    assert list(yaml.safe_load(out)) == ["transport"]


@pytest.mark.parametrize(
    ("kind", "placeholder"), [("dataway", "<WORKSPACE_TOKEN>"), ("portal", "<EXTERNAL_ACCESS_TOKEN>")]
)
@pytest.mark.parametrize("options", [["python"], ["airflow"], ["dbt"], ["python", "--file"], ["airflow", "--file"]])
def test_a_place_to_fill_in_is_named_as_the_destination_does(kind, placeholder, options) -> None:
    """With a comment that says so."""
    out = run("env", *options, "--stock", env={"url": "https://x.example", "destination": kind}).out

    assert f"# Put the token in the place of {placeholder}" in out
    assert re.findall(r"<[A-Z_]+>", out.partition("keep the")[2]) == [placeholder]


def test_a_proxys_password_is_not_printed() -> None:
    """It is named as missing."""
    ran = run("env", "python", "--proxy", "http://user:hidden-word@proxy.example:1", env={"url": "https://x.example"})

    assert "hidden-word" not in ran.out + ran.err
    assert "The proxy's url holds a password" in ran.out


def test_settings_that_are_wrong_are_told_before_anything_is_printed() -> None:
    """Exit code 2."""
    ran = run("env", "python", env={"url": "https://x.example/?token=hidden-word"})

    assert (ran.code, ran.out) == (2, "")
    assert "hidden-word" not in ran.err
