"""``env airflow``: a section, a connection, or a transport beside the one that is there, as a shell takes them."""

from __future__ import annotations

import configparser
import json
import shlex
import subprocess

import pytest
import yaml
from support.cli import run
from support.private import write_private

SECRET = 'a "secret" $token'
SETTINGS = {"url": "https://x.example/a%20b", "timeout": "7", "spool_dir": "/var/spool/lineage"}
HTTP = {"type": "http", "url": "http://there.example", "endpoint": "api/v1/lineage"}
WITH_TOKEN = {**HTTP, "auth": {"type": "api_key", "apiKey": SECRET}}
OURS = {"type": "truewatch_lineage_airflow.transport.AirflowTransport"}
VARIABLE = "AIRFLOW__OPENLINEAGE__TRANSPORT"


def _shell(exports, command, env):
    """Run a command once a shell has taken the exports, and return its output."""
    script = f"{exports}\n{command}"
    return subprocess.run(["sh", "-c", script], env=env, capture_output=True, text=True, check=True, timeout=30).stdout


def _beside(monkeypatch, env, *options):
    """Print what to set beside the transport that variables of Airflow or OpenLineage name."""
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    ran = run("env", "airflow", "--beside", *options)
    assert ran.code == 0, ran.err
    assert SECRET not in ran.out + ran.err
    return ran.out


@pytest.fixture
def token_file(tmp_path):
    """A token's file, whose path a shell must be told with care."""
    return write_private(tmp_path / "to ken", SECRET)


def test_the_section_as_variables_and_as_a_file_says_the_same(token_file) -> None:
    """Percent signs are doubled in the file alone; the token is its file."""
    env = SETTINGS | {"token_file": token_file}

    exports = run("env", "airflow", "--by", "section", env=env).out
    parser = configparser.ConfigParser()
    parser.read_string(run("env", "airflow", "--by", "section", "--file", env=env).out)

    expected = {**SETTINGS, "token_file": str(token_file)}
    assert dict(parser["truewatch"]) == expected
    names = {name: f"AIRFLOW__TRUEWATCH__{name.upper()}" for name in expected}
    for name, variable in names.items():
        assert _shell(exports, f'printf %s "${variable}"', {}) == expected[name]


def test_a_connection_is_one_command(token_file) -> None:
    """What a shell makes of it has the token, which the command itself never shows."""
    out = run("env", "airflow", "--by", "connection", env=SETTINGS | {"token_file": token_file}).out

    command = out[out.index("airflow connections add") :].strip()
    words = _shell("", f"for word in {command[len('airflow ') :]}; do printf '%s\\n' \"$word\"; done", {}).splitlines()
    given = dict(zip(words[3::2], words[4::2], strict=True))
    assert words[:3] == ["connections", "add", "truewatch_default"]
    assert given == {
        "--conn-type": "truewatch",
        "--conn-host": SETTINGS["url"],
        "--conn-password": SECRET,
        "--conn-extra": '{"timeout": "7"}',
    }
    assert "export AIRFLOW__TRUEWATCH__SPOOL_DIR=/var/spool/lineage\n" in out
    assert SECRET not in out


def test_a_connection_as_a_file_has_a_place_for_the_token(token_file) -> None:
    """YAML that airflow connections import reads; what a connection can't hold is a comment."""
    out = run("env", "airflow", "--by", "connection", "--file", env=SETTINGS | {"token_file": token_file}).out

    (connection,) = yaml.safe_load(out).values()
    assert (connection["conn_type"], connection["host"]) == ("truewatch", SETTINGS["url"])
    assert connection["password"] == "<WORKSPACE_TOKEN>"
    assert json.loads(connection["extra"]) == {"timeout": "7"}
    assert "# Besides, in [truewatch] of airflow.cfg: spool_dir = /var/spool/lineage\n" in out


@pytest.mark.parametrize("options", [[], ["--file"]])
def test_the_way_by_variables_names_the_shorter_one(options) -> None:
    """As a comment."""
    out = run("env", "airflow", *options, env=SETTINGS).out

    assert "# Or one connection in the place of all this: truewatch-lineage env airflow --by connection\n" in out


def test_a_connection_to_datakit_has_no_password() -> None:
    """Its default url stays unsaid."""
    out = run("env", "airflow", "--by", "connection", env={"destination": "datakit"}).out

    assert out.endswith('--conn-type truewatch \\\n    --conn-extra \'{"destination": "datakit"}\'\n')


def test_several_destinations_are_no_connection() -> None:
    """The message names the way that works."""
    ran = run("env", "airflow", "--by", "connection", env={"destinations": '{"dk": {"destination": "datakit"}}'})

    assert ran.code == 2
    assert "--by section" in ran.err


BESIDE = {
    "an option": {VARIABLE: json.dumps(HTTP)},
    "an option with a token": {VARIABLE: json.dumps(WITH_TOKEN)},
    "the client's url": {"OPENLINEAGE_URL": HTTP["url"]},
    "the client's url and key": {"OPENLINEAGE_URL": HTTP["url"], "OPENLINEAGE_API_KEY": SECRET.replace('"', "'")},
    "the client's variables": {
        "OPENLINEAGE__TRANSPORT__TYPE": "http",
        "OPENLINEAGE__TRANSPORT__URL": HTTP["url"],
        "OPENLINEAGE__TRANSPORT__ENDPOINT": HTTP["endpoint"],
    },
}


@pytest.mark.parametrize("env", BESIDE.values(), ids=BESIDE)
def test_a_shell_makes_a_composite_of_the_transport_that_is_there_and_ours(monkeypatch, env) -> None:
    """Byte for byte, its token included, which the output never shows."""
    out = _beside(monkeypatch, env)

    composite = json.loads(_shell(out, f'printf %s "${VARIABLE}"', env))
    theirs, ours = composite["transports"]
    assert composite["type"] == "composite"
    assert ours == OURS
    assert {**HTTP, **theirs} == theirs
    assert theirs.get("auth", {}).get("apiKey") == _key_of(env)


def _key_of(env):
    written = json.loads(env.get(VARIABLE, "{}"))
    return env.get("OPENLINEAGE_API_KEY") or written.get("auth", {}).get("apiKey")


def test_a_composite_of_variables_takes_one_more(monkeypatch) -> None:
    """As managed Airflows preset it: nothing that is there need be written again."""
    env = {"OPENLINEAGE__TRANSPORT__TYPE": "composite"}
    env |= {"OPENLINEAGE__TRANSPORT__TRANSPORTS__ASTRO": json.dumps(WITH_TOKEN)}

    out = _beside(monkeypatch, env)

    assert out == f"export OPENLINEAGE__TRANSPORT__TRANSPORTS__DEFAULT__TYPE={OURS['type']}\n"


def test_a_file_is_told_what_to_write_in_it(monkeypatch, tmp_path) -> None:
    """With a place for the token that stands there."""
    file = tmp_path / "openlineage.yml"
    file.write_text(yaml.safe_dump({"transport": WITH_TOKEN}), encoding="utf-8")

    out = _beside(monkeypatch, {"AIRFLOW__OPENLINEAGE__CONFIG_PATH": str(file)})

    assert f"# In {file}, in the place of transport:\n" in out
    theirs = yaml.safe_load(out)["transport"]["transports"][0]
    assert theirs == {**HTTP, "auth": {"type": "api_key", "apiKey": "<SECRET>"}}


def test_a_part_of_airflow_cfg_has_a_place_for_the_token(monkeypatch) -> None:
    """No shell fills it in."""
    parser = configparser.ConfigParser()
    parser.read_string(_beside(monkeypatch, BESIDE["an option with a token"], "--file"))

    theirs, ours = json.loads(parser["openlineage"]["transport"])["transports"]
    assert (theirs["auth"]["apiKey"], ours) == ("<SECRET>", OURS)


def test_where_both_are_there_nothing_is_to_be_set(monkeypatch) -> None:
    """A shell that takes it does nothing."""
    both = {VARIABLE: json.dumps({"type": "composite", "transports": [HTTP, OURS]})}

    assert _beside(monkeypatch, both) == "# Lineage goes by this package already: there is nothing to set.\n"


def test_where_none_is_there_it_leaves_a_place(monkeypatch) -> None:
    """For who reads it elsewhere than where Airflow runs."""
    out = _beside(monkeypatch, {})

    assert "# No transport is configured here." in out
    theirs = json.loads(_shell(out, f'printf %s "${VARIABLE}"', {}))["transports"][0]
    assert theirs == {"type": "<THE TYPE YOU HAVE>"}


def test_the_present_settings_follow_the_transport(monkeypatch) -> None:
    """As the section, with the token by reference."""
    out = _beside(monkeypatch, BESIDE["an option"], "--url", "https://x.example", "--token-file", "/etc/tw/token")

    lines = out.splitlines()
    assert lines[1:] == [
        "export AIRFLOW__TRUEWATCH__URL=https://x.example",
        "export AIRFLOW__TRUEWATCH__TOKEN_FILE=/etc/tw/token",
    ]
    assert shlex.split(lines[0])[1].startswith(VARIABLE)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["python", "--by", "section"], "--by is for airflow only"),
        (["dbt", "--beside"], "--beside is for airflow only"),
        (["airflow", "--stock", "--beside"], "--stock and --beside don't go together"),
    ],
)
def test_options_that_make_no_sense_are_refused(options, said) -> None:
    """By name, as a usage error."""
    ran = run("env", *options, env=SETTINGS)

    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err
