"""What Airflow's configuration and connections come to as settings, read by the real Airflow."""

from __future__ import annotations

import json

import pytest
from support.airflow import VERSIONS, environment
from support.airflow_connections import INSIDE
from tables.airflow_settings import SITUATIONS

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


@pytest.mark.parametrize("version", VERSIONS)
def test_a_file_is_read_as_airflow_reads_it(tmp_path, version):
    """An option that its syntax can't take is named, and not shown; with a token so, Airflow itself may not start."""
    (tmp_path / "airflow.cfg").write_text("[truewatch]\nurl = https://file.example\ntoken = tkn_of%%the_file\n")
    answer = _read(version, tmp_path)
    assert (answer["url"], answer["token"]) == ("https://file.example/v1/write/openlineage", "tkn_of%the_file")
    assert answer["source"] == "`token` (from [truewatch] of Airflow's configuration)"
    (tmp_path / "airflow.cfg").write_text("[truewatch]\nurl = https://file.example/%canary\n")
    error = _read(version, tmp_path)["error"]
    assert "`url` can't be read by Airflow (InterpolationSyntaxError)" in error
    assert "write each percent sign twice" in error
    assert "canary" not in error


def _read(version, home):
    (home / "situations.json").write_text('[{"environ": {}}]')
    done = environment(version).run(INSIDE / "read_settings.py", home / "situations.json", home=home)
    assert done.returncode == 0, done.stderr
    assert "canary" not in done.stderr
    return json.loads(done.stdout)
