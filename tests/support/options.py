"""Arguments of a command that an example shows, parsed as the command does."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click


def parsed(command: click.Command, args: Sequence[str]) -> dict[str, Any]:
    """Return the parameters by name; a file that is named need not be there.

    Raises:
        click.UsageError: An option does not exist, or has a value that it can't have.
    """
    lenient = copy.copy(command)
    lenient.params = [_without_files(param) for param in command.params]
    return lenient.make_context(command.name, list(args)).params


def _without_files(param: click.Parameter) -> click.Parameter:
    if not isinstance(param.type, click.Path):
        return param
    found = copy.copy(param)
    found.type = click.Path(path_type=Path)
    return found
