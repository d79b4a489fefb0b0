"""Bad input gets a clear answer that names the fault, with the right exit code, and a token is never in it."""

from __future__ import annotations

import json
import re
import sqlite3
import subprocess
import sys

import click
import pytest
from support.cli import ndjson, run, run_child
from support.events import tree
from support.private import write_private
from support.receiver import Receiver

from truewatch_lineage.cli import main

CANARY = "canary-token-4e1b7c"
COMMANDS = ("gateway", "check", "send", "validate", "courier", "env", "demo", "receive", "spool", "spark")
SOURCES = ("token", "token_file", "token_env", "token_command", "auth", "misplaced_file", "misplaced_env")
SPOOL_COMMANDS = ("status", "list", "show", "trace", "drain", "resume", "rebind", "replay", "drop", "export")


@pytest.fixture(scope="module")
def receiver():
    """One receiver for all tests of this module, with the canary as its token."""
    with Receiver(tokens=[CANARY]) as made:
        yield made


@pytest.fixture
def event(tmp_path):
    """A file with an event."""
    return ndjson(tmp_path / "event.json", tree())


@pytest.mark.parametrize(
    ("env", "words"),
    [
        ({}, ["No destination is set.", "TRUEWATCH_LINEAGE_URL"]),
        ({"url": "https://x.example"}, ["TrueWatch DataWay needs a token", "TRUEWATCH_LINEAGE_TOKEN_FILE"]),
        ({"url": "openway.truewatch.com", "token": CANARY}, ["must start with https://", "TRUEWATCH_LINEAGE_URL"]),
        ({"url": f"https://x.example/?token={CANARY}"}, ["holds a token in its query", "TRUEWATCH_LINEAGE_URL"]),
        ({"url": f"https://u:{CANARY}@x.example"}, ["holds a user or password"]),
        ({"url": "http://x.example", "token": CANARY}, ["unencrypted", "Use https"]),
        ({"url": "https://x.example", "token": f"{CANARY} x"}, ["holds a space", "TRUEWATCH_LINEAGE_TOKEN"]),
        ({"url": "https://x.example", "token": f"Bearer {CANARY}"}, ['starts with "Bearer"']),
        ({"url": "https://x.example", "token": f"{CANARY}\x07"}, ["holds a control character"]),
        ({"url": "https://x.example", "token": f"{CANARY}é"}, ["outside ASCII"]),
        ({"destination": "datawya", "url": "https://x.example"}, ["Did you mean dataway?"]),
        (
            {"destinations": '{"a": {"ur": "https://x.example"}}'},
            ["Unknown setting `destinations.a.ur`", "Did you mean url?"],
        ),
        ({"destinations": '{"a": {"url": "https://x.example"}}', "url": "https://y.example"}, ["can't be mixed"]),
        ({"config": "/nonexistent/lineage.toml"}, ["The settings file /nonexistent/lineage.toml can't be read"]),
    ],
)
def test_wrong_settings_are_named_with_their_place_and_fix(tmp_path, event, env, words) -> None:
    """One message on stderr, exit code 2, nothing on stdout, and no token in it."""
    ran = run("send", event, env=env | {"spool_dir": tmp_path / "spool"})

    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("Error: ")
    assert ran.err.count("\n") == 1
    assert [word for word in words if word not in ran.err] == []
    assert CANARY not in ran.err


def test_an_unknown_key_of_the_file_is_named_with_the_nearest(tmp_path, event) -> None:
    """And the file."""
    file = tmp_path / "lineage.toml"
    file.write_text('tokn_file = "/etc/truewatch/token"\n', encoding="utf-8")

    ran = run("send", event, env={"config": file})

    assert ran.code == 2
    assert f"Unknown setting `tokn_file` (from file {file}). Did you mean token_file?" in ran.err


def test_an_unknown_option_is_named_with_the_nearest(event) -> None:
    """By the parser, with exit code 2; a token that was given as an option is not repeated."""
    ran = run("send", f"--token={CANARY}", event)

    assert ran.code == 2
    assert "--token" in ran.err
    assert CANARY not in ran.err


def test_a_file_that_has_nothing_to_send_is_named(tmp_path) -> None:
    """A folder without events, a missing file."""
    env = {"destination": "datakit", "spool_dir": tmp_path / "spool"}
    (tmp_path / "empty").mkdir()

    ran = run("send", tmp_path / "empty", tmp_path / "missing.json", env=env)

    assert ran.code == 1
    assert f"{tmp_path / 'empty'}: the folder holds no file that ends with .json" in ran.err
    assert f"{tmp_path / 'missing.json'}: there is no such file or folder" in ran.err


@pytest.mark.parametrize(
    ("args", "code"),
    [
        (("--help",), 0),
        (("--version",), 0),
        (("nonsense",), 2),
        (("send",), 2),
        (("send", "--nonsense", "x"), 2),
        (("spool", "nonsense"), 2),
        (("spool", "show", "x"), 2),
        (("env", "cobol"), 2),
        (("validate", "--destination", "nowhere", "x"), 2),
        (("validate", "missing.json"), 1),
        (("spool", "status"), 1),
        *(((command, "--help"), 0) for command in COMMANDS),
        *((("spool", command, "--help"), 0) for command in SPOOL_COMMANDS),
    ],
)
def test_exit_codes(args, code) -> None:
    """0 all well, 1 the answer is no, 2 usage or settings."""
    assert run(*args).code == code


def test_every_command_of_the_contract_is_listed() -> None:
    """In the help, with what it does."""
    out = run("--help").out

    assert [name for name in COMMANDS if f"\n  {name} " not in out] == []


def test_every_setting_is_an_option_but_a_token() -> None:
    """Of every command that takes settings; only what would be a secret on the command line has none."""
    options = {
        option for parameter in main.get_command(click.Context(main), "check").params for option in parameter.opts
    }

    assert {"--url", "--token-file", "--token-env", "--token-command", "--headers", "--match", "--spool-dir"} <= options
    assert not {"--token", "--auth"} & options


def test_an_option_wins_over_variable_and_file(tmp_path) -> None:
    """Key by key."""
    (tmp_path / "lineage.toml").write_text('url = "https://file.example"\ntimeout = 3\n', encoding="utf-8")
    env = {"config": tmp_path / "lineage.toml", "url": "https://variable.example", "token": CANARY}

    ran = run("check", "--no-send", "--json", "--spool-dir", tmp_path / "spool", "--url", "https://o.invalid", env=env)

    found = {row["key"]: (row["value"], row["source"]) for row in ran.json["settings"]}
    assert found["default.url"] == ("https://o.invalid/v1/write/openlineage", "the command line")
    assert found["default.timeout"] == ("3.0", f"file {tmp_path / 'lineage.toml'}")


def test_a_json_option_is_read_as_the_variable_is(tmp_path, receiver, event) -> None:
    """Trees and lists are JSON on the command line."""
    env = {"url": receiver.url, "spool_dir": tmp_path / "spool"}

    ran = run(
        *("send", "--json", "--token-command", json.dumps([sys.executable, "-c", f"print('{CANARY}')"])),
        *("--match", '{"drop": [{"job": "*"}]}', "--headers", '{"X-Team": "data"}', event),
        env=env,
    )

    assert (ran.code, ran.json["destinations"]["default"]["left_out"]) == (0, 1)


def _sources(tmp_path):
    """Give the settings for each kind of source of a token."""
    file = write_private(tmp_path / "token", CANARY)
    command = json.dumps([sys.executable, "-c", f"print('{CANARY}')"])
    return {
        "token": {"token": CANARY},
        "token_file": {"token_file": file},
        "token_env": {"token_env": "MY_TOKEN", "MY_TOKEN": CANARY},
        "token_command": {"token_command": command},
        "auth": {"auth": json.dumps({"type": "api_key", "apiKey": CANARY})},
        "misplaced_file": {"token_file": CANARY},
        "misplaced_env": {"token_env": CANARY},
    }


@pytest.mark.parametrize("source", SOURCES)
def test_no_command_shows_a_token_even_at_debug(tmp_path, receiver, source) -> None:
    """Results, messages, logs of all libraries, and the files of the spool: for each kind of source of the token."""
    env = {"url": receiver.url, "spool_dir": tmp_path / "spool", **_sources(tmp_path)[source]}
    # What the settings don't know to be the token, or only by running a command, can't be masked in an event.
    is_known = source in ("token", "token_file", "token_env", "auth")
    file = ndjson(
        tmp_path / "e.ndjson", tree(), tree(producer=...), {"token": f"prefix {CANARY} suffix"} if is_known else {}
    )
    commands = [
        ("send", "--timeout", 2, file),
        ("check", "--json"),
        ("check",),
        ("validate", file),
        ("env", "python"),
        ("env", "airflow", "--stock"),
        ("env", "dbt", "--file"),
        ("spool", "status"),
        ("spool", "list", "--json"),
        ("spool", "list", "--dead"),
        ("spool", "show", 1, 2, 3),
        ("spool", "export", "--dead"),
        ("spool", "trace", "ns/job"),
        ("spool", "replay", "--all", "--dead"),
        ("spool", "drain", "--timeout", 2),
        ("spool", "rebind", "default"),
        ("spool", "resume"),
    ]
    for command in commands:
        ran = run("--log-level", "debug", *command, env=env)
        shown = (ran.out + ran.err).replace(str(tmp_path), "")
        assert CANARY not in shown, command
    for path in (tmp_path / "spool").glob("*"):
        assert CANARY.encode() not in path.read_bytes(), path


@pytest.mark.parametrize(
    ("args", "meant"), [(("chek",), "check"), (("spool", "lst"), "list"), (("zzz",), None), (("spool", "zzz"), None)]
)
def test_a_mistyped_command_is_told_with_the_nearest(args, meant) -> None:
    """As options are."""
    ran = run(*args)

    assert ran.code == 2
    assert f"No such command '{args[-1]}'." in ran.err
    assert ("Did you mean" in ran.err) is (meant is not None)
    assert meant is None or f"Did you mean {meant}?" in ran.err


@pytest.mark.parametrize("command", [("send",), ("check",), ("spool", "list"), ("receive",)])
def test_the_help_is_short_and_the_settings_have_their_own(command) -> None:
    """A screen for a command; ``--help-settings`` has every setting that is an option of it."""
    short, settings = run(*command, "--help"), run(*command, "--help-settings")

    assert "--help-settings" in short.out
    assert "--spool-max-bytes" not in short.out
    assert "FILE..." not in short.out.partition("Options:")[2].partition("Examples:")[0]
    assert settings.code == 0
    assert {"--spool-dir", "--url", "--match"} <= set(re.findall(r"--[a-z-]+", settings.out))


def test_a_spool_that_can_not_be_used_is_told_with_its_fix(tmp_path, event) -> None:
    """Exit code 2: it is a matter of settings."""
    (tmp_path / "link").symlink_to(tmp_path)

    ran = run("send", event, env={"destination": "datakit", "spool_dir": tmp_path / "link"})

    assert (ran.code, "is a symlink" in ran.err) == (2, True)


def test_a_newer_spool_is_refused_and_left_alone(tmp_path, event) -> None:
    """It is not called damaged."""
    env = {"destination": "datakit", "spool_dir": tmp_path / "spool"}
    run("send", "--no-wait", event, env=env)
    with sqlite3.connect(tmp_path / "spool" / "spool.db") as database:
        database.execute("PRAGMA user_version = 99")
    database.close()

    ran = run("spool", "status", env=env)

    assert (ran.code, "A newer version of truewatch-lineage made this spool" in ran.err) == (2, True)


def test_help_is_quick() -> None:
    """The help loads no command: neither settings, nor HTTP, nor a terminal's library."""
    heavy = ("urllib3", "rich", "orjson", "sqlite3", "openlineage", "truewatch_lineage.config", "starlette")
    code = (
        "import sys; from truewatch_lineage.cli import main\n"
        "try: main(['--help'])\nexcept SystemExit: pass\n"
        f"print([name for name in {heavy!r} if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=20, check=True)

    assert done.stderr.strip() == "[]"


def test_output_goes_to_the_right_stream(tmp_path, receiver, event) -> None:
    """Results on stdout, all else on stderr, and no colour or bar where neither is a terminal."""
    env = {"url": receiver.url, "token": CANARY, "spool_dir": tmp_path / "spool"}

    ran = run_child("send", event, env=env)

    assert ran.out == "default: 1 delivered\n"
    assert "\x1b" not in ran.out + ran.err
