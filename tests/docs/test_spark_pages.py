"""docs/spark.md and docs/spark-flavours.md say what the command does, and examples/spark is what it writes."""

from __future__ import annotations

import ast
import inspect
import re
import shlex
import shutil

import click
import pytest
from support import cli
from support.repository import ROOT, code_blocks, table_rows

from truewatch_lineage.cli.receive import command as receive
from truewatch_lineage.config.keys import KEYS
from truewatch_lineage_spark.conf import command
from truewatch_lineage_spark.flavours import FLAVOURS, databricks, emr
from truewatch_lineage_spark.lint.command import command as check
from truewatch_lineage_spark.plan import DEFAULT_NAMESPACE, EVENT_LIMIT, PROFILES
from truewatch_lineage_spark.session import configure
from truewatch_lineage_spark.transports import LISTENERS_TIMEOUT
from truewatch_lineage_spark.versions import SCALAS, VERSION

SPARK = (ROOT / "docs" / "spark.md").read_text(encoding="utf-8")
FORMS = (ROOT / "docs" / "spark-flavours.md").read_text(encoding="utf-8")
CLI = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
EXAMPLES = ROOT / "examples" / "spark"
BY_HAND = "by-hand.conf"
STARTS = "truewatch-lineage spark conf"
SETTINGS = dict(re.findall(r"^export TRUEWATCH_LINEAGE_(\w+)=(\S+)$", code_blocks(FORMS, "sh")[0], re.MULTILINE))
COMMANDS = [line for block in code_blocks(FORMS, "sh") for line in block.splitlines() if line.startswith(STARTS)]
OF_OTHERS = {"--version", "--properties-file", "--verbose", "--json", "--configurations", "--configuration-overrides"}
"""Options of spark-submit, and of the platforms' own command lines."""

OWN = {name for one in command.params if type(one) is click.Option for name in one.opts}


def written(line, folder):
    """Run a command of the page in a folder, and return what it has written there."""
    shutil.copy(EXAMPLES / BY_HAND, folder)
    env = {name.lower(): value for name, value in SETTINGS.items()}

    ran = cli.run(*shlex.split(line)[1:], env=env)

    assert ran.code == 0, ran.err
    return {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir() if path.name != BY_HAND}


def test_each_form_has_a_section_with_its_own_command():
    """In the order of the help."""
    sections = re.findall(r"^## ([\w-]+)$(.*?)(?=^## |\Z)", FORMS, re.MULTILINE | re.DOTALL)

    assert [name for name, _ in sections] == list(FLAVOURS)
    for name, text in sections:
        (line,) = [line for block in code_blocks(text, "sh") for line in block.splitlines() if line.startswith(STARTS)]
        assert f"--format {name} " in line or name == "properties"


@pytest.mark.parametrize("line", COMMANDS)
def test_an_example_is_what_the_pages_command_writes(line, tmp_path, monkeypatch):
    """Run as it stands there, with the two settings of the page, in an empty folder."""
    monkeypatch.chdir(tmp_path)

    found = written(line, tmp_path)

    assert found
    assert found == {name: (EXAMPLES / name).read_text(encoding="utf-8") for name in found}


def test_every_example_is_linked():
    """None is left where nobody finds it."""
    assert [path.name for path in EXAMPLES.iterdir() if f"(../examples/spark/{path.name})" not in SPARK + FORMS] == []


@pytest.mark.parametrize("path", sorted(EXAMPLES.iterdir()), ids=lambda path: path.name)
def test_spark_check_passes_every_example_but_the_one_by_hand(path):
    """No error, no warning."""
    found = cli.run("spark", "check", "--json", path).json["findings"]

    assert bool(found) is (path.name == BY_HAND)


def test_the_page_shows_what_spark_check_finds_in_the_one_by_hand(monkeypatch):
    """Each line, as far as it is shown, and no line less."""
    monkeypatch.chdir(EXAMPLES)
    lines = cli.run("spark", "check", BY_HAND).out.splitlines()

    (block,) = [one for one in code_blocks(SPARK, "text") if one.startswith(BY_HAND)]
    shown = [line.removesuffix(" …") for line in block.splitlines()]
    assert [line.startswith(begin) for line, begin in zip(lines, shown, strict=True)] == [True] * len(lines)


def test_the_lines_for_a_file_pass_spark_check():
    """As they stand on the page."""
    (block,) = code_blocks(SPARK, "properties")

    assert cli.run("spark", "check", "--format", "properties", "-", stdin=block.encode()).code == 0


def test_every_form_has_its_place_in_each_table():
    """Which to choose, where the token shows, and what the form was held to."""
    chosen = set(re.findall(r"spark-flavours\.md#([\w-]+)\)", SPARK))
    shows = {name for row in table_rows(SPARK) if len(row) == 3 for name in _names(row[0])} & set(FLAVOURS)
    held = {name for row in table_rows(FORMS) for name in _names(row[0])}

    assert chosen == set(FLAVOURS)
    assert shows == set(FLAVOURS)
    assert set(FLAVOURS) <= held


def test_every_access_mode_is_on_the_page():
    """And the one that is refused."""
    named = {name for row in table_rows(FORMS) if len(row) == 2 for name in _names(row[0])}

    assert {*databricks.MODES, "serverless"} <= named


def test_the_command_lines_page_has_every_option_of_its_own():
    """Settings have a page of their own."""
    section = CLI[CLI.index("### spark conf") : CLI.index("### spark check")]

    named = {name for row in table_rows(section) for name in re.findall(r"(?<!-)--?[a-z][\w-]*", row[0])}
    assert named == OWN - {"--force", "--output"}
    assert _names(next(row[1] for row in table_rows(section) if row[0] == "`--format`")) == list(FLAVOURS)


@pytest.mark.parametrize("page", [SPARK, FORMS], ids=["spark", "spark-flavours"])
def test_every_option_that_a_page_names_exists(page):
    """Of this package's commands or the settings, or of another program."""
    ours = {name for one in (command, check, receive) for parameter in one.params for name in parameter.opts}
    settings = {f"--{key.replace('_', '-')}" for key in KEYS}

    assert set(re.findall(r"(?<![\w-])(--[a-z][\w-]+)", page)) - ours - settings - OF_OTHERS == set()


def test_the_pages_give_the_codes_figures():
    """The listener's release and Sparks, times, the namespace, the profiles, EMR's limit."""
    newest = list(SCALAS)[-1]

    assert f"The listener is {VERSION}" in " ".join(SPARK.split())
    assert f"built for Spark {next(iter(SCALAS))} to {newest}" in " ".join(SPARK.split())
    assert f"ends an event after {EVENT_LIMIT} s" in " ".join(SPARK.split())
    assert f"`timeoutInMillis`, {LISTENERS_TIMEOUT:.0f} s" in SPARK
    assert f"`{DEFAULT_NAMESPACE}`" in SPARK
    assert all(f"`--profile {name}`" in SPARK for name in PROFILES)
    assert f"{emr.MAX_LENGTH:,} characters" in " ".join(FORMS.split())


def test_the_code_for_pyspark_calls_configure_as_it_is():
    """Its arguments exist."""
    (code,) = code_blocks(SPARK, "python")
    (call,) = [
        node
        for node in ast.walk(ast.parse(code))
        if isinstance(node, ast.Call) and "configure" in ast.dump(node.func) and isinstance(node.func, ast.Name)
    ]

    assert {one.arg for one in call.keywords} <= set(inspect.signature(configure).parameters)


def _names(cell):
    """Give the names in a table's cell."""
    return re.findall(r"`([\w-]+)`", cell)
