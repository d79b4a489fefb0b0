"""What Airflow's configuration and connections come to as settings, read by the real Airflow."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.airflow import environment
from tables.airflow_settings import SITUATIONS

INSIDE = Path(__file__).parent / "inside"
VERSIONS = [pytest.param(name, marks=pytest.mark.xdist_group(f"airflow{name}")) for name in ("3", "2")]
pytestmark = pytest.mark.timeout(180)


@pytest.fixture(scope="module", params=VERSIONS)
def answers(request, tmp_path_factory):
    """Give what each situation comes to, all read by one process."""
    home = tmp_path_factory.mktemp("settings")
    situations = home / "situations.json"
    situations.write_text(json.dumps([situation for situation, _ in SITUATIONS.values()]))
    done = environment(request.param).run(INSIDE / "read_settings.py", situations, home=home)
    assert done.returncode == 0, done.stderr
    return dict(zip(SITUATIONS, map(json.loads, done.stdout.splitlines()), strict=True)), done.stderr


@pytest.mark.parametrize("name", SITUATIONS)
def test_settings_come_from_airflow_key_by_key(answers, name):
    """By the table; a value is never told in an error."""
    answer, wanted = answers[0][name], SITUATIONS[name][1]
    if "error" in wanted:
        assert wanted["error"] in answer.get("error", ""), answer
        assert "canary" not in answer["error"]
    else:
        assert {key: answer.get(key) for key in wanted} == wanted, answer


def test_a_token_is_in_no_log(answers):
    """Nothing of what the whole table reads is told, at Airflow's default level."""
    assert "tkn_of" not in answers[1]
    assert "tkn_section" not in answers[1]
