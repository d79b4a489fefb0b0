"""A group of commands that imports a command only when it is run or its own help is asked for."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import click


@dataclass(frozen=True, slots=True)
class Place:
    """Where a command is.

    Attributes:
        module: The module that has it, as ``command`` unless ``name`` says otherwise.
        summary: What the group's help says of it, so that the help need not import it.
        name: The module's attribute.
    """

    module: str
    summary: str
    name: str = "command"


class LazyGroup(click.Group):
    """A group whose commands are told by their places.

    Args:
        places: By the commands' names, in the order of the help.
    """

    def __init__(self, *args: Any, places: Mapping[str, Place], **options: Any) -> None:
        super().__init__(*args, **options)
        self._places = places

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Show the help where no command is named, and exit as for any other wrong usage."""
        if not args and not ctx.resilient_parsing:
            # By ourselves, since releases of click differ in the exit code.
            click.echo(ctx.get_help(), err=True, color=ctx.color)
            ctx.exit(click.UsageError.exit_code)
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find a command, or say which one may be meant.

        Raises:
            click.UsageError: There is none of that name.
        """
        name = args[0]
        # By ourselves, since few releases of click do.
        if name not in self._places and not name.startswith("-") and not ctx.resilient_parsing:
            from difflib import get_close_matches  # noqa: PLC0415 - only for a message

            near = get_close_matches(name, self._places, n=1)
            raise click.UsageError(f"No such command {name!r}." + (f" Did you mean {near[0]}?" if near else ""), ctx)
        return super().resolve_command(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Name the commands in the order of the help."""
        return list(self._places)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's signature
        """Import a command, or return None where there is none of that name."""
        place = self._places.get(cmd_name)
        if place is None:
            return None
        command: click.Command = getattr(importlib.import_module(place.module), place.name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click's
        """Write the list of the help."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, place.summary) for name, place in self._places.items()])
