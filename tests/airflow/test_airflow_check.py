"""``check`` and ``env --beside`` beside a real Airflow: they see its configuration and connections, never a token."""

from __future__ import annotations

import json

import pytest
from support.airflow import VERSIONS, environment

SECRET = "tkn_0123456789_secret"
STOCK = {"type": "async_http", "url": "http://there.example", "auth": {"type": "api_key", "apiKey": SECRET}}
COMMAND = "from truewatch_lineage.cli import main; main(prog_name='truewatch-lineage')"
GOOD = {"AIRFLOW__TRUEWATCH__URL": "https://x.example", "AIRFLOW__TRUEWATCH__TOKEN_CMD": f"echo {SECRET}"}
BAD = {
    **GOOD,
    "AIRFLOW__OPENLINEAGE__TRANSPORT": json.dumps(STOCK),
    "AIRFLOW__OPENLINEAGE__INCLUDE_FULL_TASK_INFO": "True",
    "AIRFLOW__CORE__DEFAULT_IMPERSONATION": "etl",
    "AIRFLOW__TRUEWATCH__SPOOL_DIR": "/dev/shm/lineage",
    "AIRFLOW__TRUEWATCH__SPARK_INJECT": "True",
}
pytestmark = pytest.mark.timeout(180)


@pytest.fixture(params=VERSIONS)
def run(request, tmp_path):
    """Run a command beside an Airflow whose home is new; what it says has no token in it."""
    made = environment(request.param)

    def run_command(*args, **env):
        done = made.run(COMMAND, *args, home=tmp_path, env=env)
        assert SECRET not in done.stdout + done.stderr
        return done

    run_command.airflow = lambda *args: made.airflow(*args, home=tmp_path)
    return run_command


def _airflow_steps(done):
    return [step for step in json.loads(done.stdout)["steps"] if step["name"] == "airflow"]


def test_an_airflow_that_is_set_up_well_gets_no_warning(run) -> None:
    """The settings come from its configuration, and its parts are told."""
    done = run("check", "--no-send", "--json", **GOOD)

    steps = _airflow_steps(done)
    assert {step["status"] for step in steps} == {"ok"}, steps
    assert "apache-airflow-providers-openlineage" in steps[0]["detail"]
    token = next(row for row in json.loads(done.stdout)["steps"] if row["name"] == "token")
    assert token["status"] == "ok"


def test_all_that_harms_is_told_at_once(run) -> None:
    """Each as a warning with its fix."""
    warned = [step for step in _airflow_steps(run("check", "--no-send", "--json", **BAD)) if step["status"] == "WARN"]

    told = " ".join(step["detail"] for step in warned)
    for part in ("another transport, of type async_http", "2 of 14", "stands in the transport's own text"):
        assert part in told
    for part in ("include_full_task_info is on", "Tasks run as etl", "on tmpfs", "spark_inject is on"):
        assert part in told
    assert all(step["fix"] for step in warned)


def test_a_transport_in_a_connection_is_found_and_completed(run) -> None:
    """Airflow's provider takes it from there before all else; its token stays a place to fill in."""
    assert run.airflow("db", "migrate").returncode == 0
    extra = json.dumps({"transport": STOCK})
    assert run.airflow("connections", "add", "there", "--conn-type", "generic", "--conn-extra", extra).returncode == 0

    out = run("env", "airflow", "--beside", AIRFLOW__OPENLINEAGE__CONFIG_CONN_ID="there").stdout

    assert "# In the extra of the connection there, in the place of transport:\n" in out
    composite = json.loads(out.splitlines()[-1])["transport"]
    theirs, ours = composite["transports"]
    assert theirs == {**STOCK, "auth": {"type": "api_key", "apiKey": "<SECRET>"}}
    assert ours == {"type": "truewatch_lineage_airflow.transport.AirflowTransport"}


def test_the_namespace_of_airflows_own_configuration_is_kept(run, tmp_path) -> None:
    """What is printed renames no job of an Airflow that has a namespace already."""
    (tmp_path / "airflow.cfg").write_text("[openlineage]\nnamespace = of-ours\n")

    out = run("env", "airflow", TRUEWATCH_LINEAGE_URL="https://x.example").stdout

    assert "export AIRFLOW__OPENLINEAGE__NAMESPACE=of-ours\n" in out
