"""``[truewatch] token`` by ``_CMD`` and ``_SECRET``: got when it is sent, and again when it is refused."""

from __future__ import annotations

import json

import pytest
from support.airflow import VERSIONS, environment
from support.airflow_connections import INSIDE, Connections

FIRST, SECOND = "tkn_first_0123456789", "tkn_second_0123456789"
pytestmark = pytest.mark.timeout(120)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("option", ["TOKEN_CMD", "TOKEN_SECRET"])
def test_the_token_comes_by_command_or_backend_and_again_when_it_is_refused(tmp_path, version, option):
    """Airflow resolves it; nothing of it is known before it is sent, and a failure does not show it."""
    connections = Connections(environment(version), tmp_path)
    connections.write("https://h", "tkn_of_the_connection")
    file = tmp_path / "token"
    env = {**connections.env, f"AIRFLOW__TRUEWATCH__{option}": f"cat {file}" if option == "TOKEN_CMD" else str(file)}
    done = connections.environment.run(INSIDE / "config_token.py", file, FIRST, SECOND, home=tmp_path, env=env)
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["known"] is None
    assert answer["tokens"] == [FIRST, FIRST, SECOND]
    assert answer["source"] == f"environment variable AIRFLOW__TRUEWATCH__{option}"
    assert answer["error"].startswith("TokenError: The token of environment variable")
    assert "tkn_" not in done.stderr + answer["error"] + answer["repr"]
