"""The plugin in Airflow's own loading: when it sets the late default, when it leaves everything alone, what it says."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from support.airflow import VERSIONS, environment

INSIDE = Path(__file__).parent / "inside" / "loading.py"
LATE = '{"type": "truewatch_lineage_airflow.transport.AirflowTransport"}'
TOKEN = "a-token-of-the-loading-tests"
HTTP = '{"type": "http", "url": "http://127.0.0.1:9"}'
OWN = {"type": "truewatch_lineage.TrueWatchTransport", "url": "http://127.0.0.1:9", "token": TOKEN}
VARIABLE = "AIRFLOW__OPENLINEAGE__TRANSPORT"


@dataclass(frozen=True)
class Case:
    """What surrounds Airflow, and what comes of it.

    ``late``: whether the late default is set. ``on``: whether OpenLineage's listener is registered. ``ours``: whether
    ours is. ``warning``: what the one warning names, or None for silence.
    """

    late: bool
    on: bool
    ours: bool
    warning: tuple[str, ...] | None = None
    env: dict[str, str] = field(default_factory=dict)
    cfg: dict[str, dict[str, str]] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    argv: tuple[str, ...] = ("scheduler",)
    alias: bool = False
    masked: bool = False


BESIDE = "truewatch-lineage env airflow --beside"


def _late(**around) -> Case:
    """The late default is set: both listeners are there."""
    return Case(late=True, on=True, ours=True, **around)


def _off(**around) -> Case:
    """Neither OpenLineage nor this package does anything."""
    return Case(late=False, on=False, ours=False, **around)


def _ours(**around) -> Case:
    """The user has configured a transport of ours."""
    return Case(late=False, on=True, ours=True, **around)


def _other(*warning: str, **around) -> Case:
    """The user has another transport, which one warning names, with its source and the way out."""
    return Case(late=False, on=True, ours=False, warning=(*warning, BESIDE) if warning else None, **around)


CASES = {
    "nothing is configured": _late(),
    "a child inherits the late default": _late(env={VARIABLE: LATE}),
    "a setting of ours is wrong": _late(env={"AIRFLOW__TRUEWATCH__URLL": "x"}),
    "the events go through threads of the task": _late(env={"AIRFLOW__OPENLINEAGE__EXECUTE_IN_THREAD": "true"}),
    "a token in our variable": _late(masked=True, env={"TRUEWATCH_LINEAGE_TOKEN": TOKEN}),
    "a token in Airflow's variable": _late(masked=True, env={"AIRFLOW__TRUEWATCH__TOKEN": TOKEN}),
    "a token in airflow.cfg": _late(masked=True, cfg={"truewatch": {"token": TOKEN}}),
    "a token in a file": _late(
        masked=True, env={"TRUEWATCH_LINEAGE_TOKEN_FILE": "token"}, files={"token": TOKEN + "\n"}
    ),
    "a token in a variable of the user's": _late(
        masked=True, env={"TRUEWATCH_LINEAGE_TOKEN_ENV": "MINE", "MINE": TOKEN}
    ),
    "a token of a named destination": _late(
        masked=True,
        cfg={"truewatch": {"destinations": json.dumps({"one": {"token": TOKEN, "url": "https://a.example"}})}},
    ),
    "the user has opted out in airflow.cfg": _off(cfg={"truewatch": {"enabled": "False"}}),
    "the user has opted out by Airflow's variable": _off(env={"AIRFLOW__TRUEWATCH__ENABLED": "no"}),
    "the user has opted out by our variable": _off(env={"TRUEWATCH_LINEAGE_ENABLED": "false"}),
    "the user has opted out in our file": _off(
        env={"TRUEWATCH_LINEAGE_CONFIG": "own.toml"}, files={"own.toml": "enabled = false"}
    ),
    "we are disabled": _off(env={"TRUEWATCH_LINEAGE_DISABLED": "true"}),
    "openlineage is disabled in airflow.cfg": _off(cfg={"openlineage": {"disabled": "True"}}),
    "openlineage is disabled, and has a transport": _off(
        env={"AIRFLOW__OPENLINEAGE__DISABLED": "true", VARIABLE: HTTP}
    ),
    "openlineage is disabled by its own variable": _off(env={"OPENLINEAGE_DISABLED": "true"}),
    "openlineage is disabled by a word that only we know": _off(env={"OPENLINEAGE_DISABLED": "yes"}),
    "another transport in a file that the client would mix into ours": _off(
        warning=("console", "openlineage.yml", BESIDE), files={"openlineage.yml": "transport: {type: console}"}
    ),
    "another transport by a variable": _other("http", VARIABLE, env={VARIABLE: HTTP}),
    "another transport in airflow.cfg": _other(
        "http", "[openlineage] transport", cfg={"openlineage": {"transport": HTTP}}
    ),
    "another transport in a file that airflow.cfg names": _other(
        "console",
        "named.yml",
        cfg={"openlineage": {"config_path": "named.yml"}},
        files={"named.yml": "transport: {type: console}"},
    ),
    "another transport in a file that its own variable names": _other(
        "console", "own.yml", env={"OPENLINEAGE_CONFIG": "own.yml"}, files={"own.yml": "transport: {type: console}"}
    ),
    "another transport by the client's variables": _other(
        "console", "OPENLINEAGE__TRANSPORT", env={"OPENLINEAGE__TRANSPORT__TYPE": "console"}
    ),
    "only a url": _other("http", "OPENLINEAGE_URL", env={"OPENLINEAGE_URL": "http://127.0.0.1:9"}),
    "another transport, in the process of a task": _other(env={VARIABLE: HTTP}, argv=("tasks", "run")),
    "another transport, and the user has opted out": _other(env={VARIABLE: HTTP, "TRUEWATCH_LINEAGE_ENABLED": "false"}),
    "a connection that nobody asks yet": _ours(alias=True, cfg={"openlineage": {"config_conn_id": "lineage"}}),
    "ours by its path": _ours(masked=True, env={VARIABLE: json.dumps(OWN)}),
    "ours by its alias": _ours(alias=True, masked=True, env={VARIABLE: json.dumps({**OWN, "type": "truewatch"})}),
    "ours beside another": _ours(
        masked=True,
        env={VARIABLE: json.dumps({"type": "composite", "transports": {"tw": OWN, "other": json.loads(HTTP)}})},
    ),
}


@pytest.fixture(scope="module", params=VERSIONS)
def outcomes(request, tmp_path_factory) -> dict[str, dict[str, Any]]:
    """Give what came of each case, all in children of one process: to import Airflow takes a second."""
    return _load(request.param, tmp_path_factory.mktemp("home"))


def _load(version: str, home: Path) -> dict[str, dict[str, Any]]:
    cases = [
        {
            "env": one.env,
            "cfg": one.cfg,
            "files": one.files,
            "argv": one.argv,
            "folder": str(home / str(number)),
            "say": f"the token is {TOKEN}.",
        }
        for number, one in enumerate(CASES.values())
    ]
    ended = environment(version).run(INSIDE, json.dumps(cases), home=home)
    assert ended.returncode == 0, ended.stderr
    lines = [line for line in ended.stdout.splitlines() if line.startswith("{")]
    assert len(lines) == len(CASES), ended.stderr
    return dict(zip(CASES, map(json.loads, lines), strict=True))


@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", CASES)
def test_the_late_default_is_set_where_nothing_else_is(outcomes, name) -> None:
    """The late default, both listeners, the alias and the masks are there where they must be, and nowhere else."""
    case, found = CASES[name], outcomes[name]
    wanted = LATE if case.late else case.env.get(VARIABLE)
    names = ["OpenLineageListener"] * case.on + ["TaskListener"] * case.ours

    assert (found["transport"], found["listeners"], found["alias"]) == (wanted, names, case.alias)
    assert found["redacted"] == ("the token is ***." if case.masked else f"the token is {TOKEN}.")


@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", CASES)
def test_one_warning_names_the_other_transport_and_its_source(outcomes, name) -> None:
    """Only a long-lived process warns, once, and only where another transport takes all events."""
    case, logged = CASES[name], outcomes[name]["logged"]

    assert len(logged) == (case.warning is not None), logged
    assert all(part in logged[0] for part in case.warning or ())
    assert TOKEN not in json.dumps(outcomes[name]["logged"])


@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", CASES)
def test_loading_again_changes_nothing(outcomes, name) -> None:
    """``on_load`` runs in both plugin managers of Airflow 3, and once more here: no new listener, fault or thread."""
    found = outcomes[name]

    assert (found["same"], found["errors"], found["threads"]) == (True, {}, 1)


@pytest.mark.timeout(300)
def test_what_is_off_costs_no_import_of_the_client(outcomes) -> None:
    """Where OpenLineage is off, its client is not imported on our behalf."""
    off = [name for name, case in CASES.items() if not case.on]

    assert off
    assert not any(outcomes[name]["openlineage"] for name in off)
