"""``airflow dags test`` and ``tasks test`` run tasks in their own process, without scheduler and supervisor."""

from __future__ import annotations

import re

import pytest
from support.airflow import VERSIONS, environment
from support.receiver import Receiver
from support.spooled import spooled

TOKEN = "a-token-of-the-tests-of-commands"
DATE = "2026-01-01"
COMMANDS = {"dags test": ("dags", "test", "succeeds"), "tasks test": ("tasks", "test", "succeeds", "one", DATE)}
EMITTED = re.compile(r"Successfully emitted OpenLineage `([A-Z]+)`")
LOG = {"AIRFLOW__LOGGING__LOGGING_LEVEL": "INFO", "TRUEWATCH_LINEAGE_DELIVERY_BUDGET": "30"}

pytestmark = pytest.mark.timeout(300)


@pytest.mark.parametrize("version", VERSIONS)
def test_every_event_of_a_command_that_runs_tasks_arrives(version, tmp_path):
    """By the connection in Airflow's database, which the forks that emit can't ask a supervisor for."""
    airflow = environment(version)

    def run(*args):
        done = airflow.airflow(*args, home=tmp_path, env=LOG)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout + done.stderr

    run("db", "migrate")
    with Receiver(tokens=[TOKEN]) as receiver:
        fields = ["--conn-type", "truewatch", "--conn-host", receiver.url, "--conn-password", TOKEN]
        run("connections", "add", "truewatch_default", *fields)
        emitted: list[str] = []
        for name, command in COMMANDS.items():
            told = run(*command)
            assert "has not answered in time" not in told, name
            emitted += EMITTED.findall(told)
            assert sorted(event["event"]["eventType"] for event in receiver.events()) == sorted(emitted), name
        assert emitted.count("START") >= len(COMMANDS)
    assert spooled(tmp_path / "truewatch-lineage").pending == 0
