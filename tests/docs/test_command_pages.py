"""docs/cli.md and the README name every command, with an example that names options which exist."""

from __future__ import annotations

import re
import shlex

import click
import pytest
from support.repository import DOCS, ROOT, code_blocks

from truewatch_lineage.cli import main

CLI_PAGE = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
README = (ROOT / "README.md").read_text(encoding="utf-8")


def _commands(group: click.Group, path: tuple[str, ...] = ()) -> dict[str, click.Command]:
    """Give every command below ``group`` under its full name, such as ``spool drain``."""
    found: dict[str, click.Command] = {}
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        found[" ".join((*path, name))] = command
        if isinstance(command, click.Group):
            found |= _commands(command, (*path, name))
    return found


COMMANDS = _commands(main)
EXAMPLES = sorted(
    {
        line.split("#")[0].strip()
        for page in DOCS
        for block in code_blocks(page.read_text(encoding="utf-8"), "sh")
        for line in re.sub(r"\\\n", " ", block).splitlines()
        if "truewatch-lineage " in line and "pip install" not in line
    }
)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_a_section_with_an_example(name) -> None:
    """The command's own section shows a line that calls it."""
    section = re.search(rf"^##+ {re.escape(name)}$(.*?)(?=^##+ |\Z)", CLI_PAGE, re.MULTILINE | re.DOTALL)

    assert section
    examples = "\n".join(code_blocks(section[1], "sh"))
    assert f"truewatch-lineage {name}" in examples or isinstance(COMMANDS[name], click.Group)


@pytest.mark.parametrize("name", [name for name in COMMANDS if " " not in name])
def test_the_readme_lists_every_command(name) -> None:
    """The README's table has a row for it."""
    assert f"| `truewatch-lineage {name}" in README


@pytest.mark.parametrize("example", EXAMPLES)
def test_every_example_names_a_command_and_options_that_exist(example) -> None:
    """A reader who copies the line gets past the parser."""
    words = shlex.split(example[example.index("truewatch-lineage ") :], posix=True)[1:]
    name = " ".join(words[:2]) if " ".join(words[:2]) in COMMANDS else words[0]
    known = {option for parameter in COMMANDS[name].params for option in (*parameter.opts, *parameter.secondary_opts)}

    assert {word.partition("=")[0] for word in words if word.startswith("--")} <= known | {"--help"}


@pytest.mark.parametrize("name", COMMANDS)
def test_every_commands_help_shows_an_example(name) -> None:
    """``--help`` shows a line to copy."""
    help_text = COMMANDS[name].get_help(click.Context(COMMANDS[name], info_name=name))

    assert f"truewatch-lineage {name.split()[0]}" in help_text
