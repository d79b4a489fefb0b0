"""``spark check``: exit codes, the shape of its JSON, what it reads, and that it never shows a value."""

from __future__ import annotations

import json
import os

import pytest
from support import cli
from tables.spark_traps import MASKED, TOKEN, conf

ERROR = conf("spark.openlineage.transport.timeout=5")
WARNING = conf("spark.openlineage.zebra=5")
SECRET = conf("spark.openlineage.transport.auth.type=api_key", f"spark.openlineage.transport.auth.apiKey={TOKEN}")


@pytest.fixture
def written(tmp_path):
    """Write a file and return its path."""

    def write(text, name="spark-defaults.conf"):
        (tmp_path / name).write_text(text)
        return tmp_path / name

    return write


@pytest.mark.parametrize(("text", "code"), [(conf(), 0), (WARNING, 0), (ERROR, 1)], ids=["clean", "warning", "error"])
@pytest.mark.parametrize("options", [(), ("--json",)], ids=["text", "json"])
def test_the_exit_code_says_whether_there_is_an_error(written, text, code, options) -> None:
    """Warnings alone are no failure."""
    assert cli.run("spark", "check", *options, written(text)).code == code


@pytest.mark.parametrize("args", [(), ("--format", "word", "x"), ("--nonsense", "x")], ids=["none", "format", "option"])
def test_wrong_usage_exits_2(args) -> None:
    """As in every command."""
    assert cli.run("spark", "check", *args).code == 2


def test_the_json_has_every_finding(written) -> None:
    """One object on one line, with counts, the listener's release and the findings' fields."""
    file = written(ERROR)
    ran = cli.run("spark", "check", "--json", file)
    (line,) = ran.out.splitlines()
    assert json.loads(line) == {
        "listener": "1.53.0",
        "files": 1,
        "settings": 5,
        "errors": 1,
        "warnings": 0,
        "notes": [],
        "findings": [
            {
                "severity": "error",
                "file": str(file),
                "line": 6,
                "key": "spark.openlineage.transport.timeout",
                "message": "The listener 1.53.0 has no such key and ignores it.",
                "fix": "Instead: transport.timeoutInMillis, in milliseconds.",
                "rule": "key.misspelt",
            }
        ],
    }


def test_the_text_has_a_line_for_each_finding(written) -> None:
    """As compilers write them; the sum goes to stderr."""
    file = written(ERROR)
    ran = cli.run("spark", "check", file)
    assert ran.out.startswith(f"{file}:6: error spark.openlineage.transport.timeout: The listener ")
    assert ran.out.endswith(" Instead: transport.timeoutInMillis, in milliseconds. [key.misspelt]\n")
    assert ran.err == "5 settings in 1 file: 1 error, 0 warnings\n"


@pytest.mark.parametrize("options", [(), ("--json",)], ids=["text", "json"])
def test_a_token_is_found_and_not_shown(written, options) -> None:
    """Nor a part of it."""
    ran = cli.run("spark", "check", *options, written(SECRET))
    assert "token.literal" in ran.out
    assert TOKEN[4:12] not in ran.out + ran.err


def test_a_line_that_is_a_token_alone_is_not_shown(written) -> None:
    """It would be a key to the JDK."""
    ran = cli.run(
        "spark", "check", "--json", written(conf(TOKEN, rf"spark.openlineage.transport.auth.apiKey\={TOKEN}"))
    )
    assert [one["line"] for one in ran.json["findings"] if one["rule"] == "token.literal"] == [6, 7]
    assert TOKEN[4:12] not in ran.out


@pytest.mark.parametrize(
    ("name", "text"), [("o.yml", f"a: *{TOKEN}"), ("c.json", f'{{"a": {TOKEN}}}'), ("j.py", TOKEN * 2)]
)
def test_a_broken_file_is_not_shown(written, name, text) -> None:
    """Parsers' own messages may quote it."""
    ran = cli.run("spark", "check", written(text, name))
    assert ran.code == 1
    assert TOKEN[4:12] not in ran.out + ran.err


def test_standard_input_is_a_file() -> None:
    """Told by ``-``, its format by its looks."""
    ran = cli.run("spark", "check", "-", stdin=ERROR.encode())
    assert ran.out.startswith("<stdin>:6: error")


def test_a_format_can_be_named(written) -> None:
    """Where neither name nor looks tell it."""
    file = written("x = y", "settings")
    unknown = cli.run("spark", "check", file)
    assert (unknown.code, "[file.unreadable]" in unknown.out, "--format" in unknown.out) == (1, True, True)
    assert cli.run("spark", "check", "--format", "properties", file).code == 0


def test_a_file_that_can_not_be_read_is_an_error(tmp_path) -> None:
    """With its reason, while the others are checked."""
    ran = cli.run("spark", "check", "--json", tmp_path / "none.conf", tmp_path)
    assert ran.code == 1
    assert [one["rule"] for one in ran.json["findings"]] == ["file.unreadable"] * 2


def test_a_file_too_large_is_an_error(written) -> None:
    """It is no file of settings."""
    file = written("# x\n")
    os.truncate(file, 5 * 1024 * 1024)
    assert "is larger than" in cli.run("spark", "check", file).out


def test_files_are_taken_to_be_used_together(written) -> None:
    """What one brings is not missed in the other, and what one takes away is said of the other."""
    url = "spark.openlineage.transport.url=https://openway.truewatch.com"
    first = written(conf("spark.openlineage.debug.smart=true", without=(url,)), "a.conf")
    alone = cli.run("spark", "check", "--json", first).json["findings"]
    other = written("transport: {type: http, url: 'https://openway.truewatch.com'}\n", "openlineage.yml")
    both = cli.run("spark", "check", "--json", first, other).json["findings"]
    assert [one["rule"] for one in alone] == ["transport.no-url"]
    assert [(one["rule"], one["file"]) for one in both] == [("precedence.dropped", str(first))]


def test_the_properties_of_several_files_are_one_to_the_listener(written) -> None:
    """Spark puts them together before the listener reads them."""
    masked = "".join(f"{line}\n" for line in MASKED)
    first = written(conf("spark.openlineage.transport.auth.type=api_key") + masked, "a.conf")
    second = written("spark.openlineage.transport.auth.apiKey={{secrets/a/b}}\n" + masked, "b.conf")
    rules = [one["rule"] for one in cli.run("spark", "check", "--json", first, second).json["findings"]]
    alone = [one["rule"] for one in cli.run("spark", "check", "--json", second).json["findings"]]
    assert rules == []
    assert alone == ["auth.no-type", "transport.no-type", "listener.missing"]


def test_the_users_scala_is_held_against_the_jar(written) -> None:
    """A properties file does not tell Spark's own."""
    file = written(conf("spark.jars.packages=io.openlineage:openlineage-spark_2.12:1.53.0"))
    assert cli.run("spark", "check", "--scala", "2.12", file).code == 0
    ran = cli.run("spark", "check", "--scala", "2.13", file)
    assert (ran.code, "[jar.scala]" in ran.out) == (1, True)
