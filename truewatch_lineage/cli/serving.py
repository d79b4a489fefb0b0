"""What the commands that serve have in common."""

from __future__ import annotations

import click

from truewatch_lineage.errors import ConfigError


class UsageProblem(click.ClickException):
    """Exits with 2, as for wrong options."""

    exit_code = 2


def missing_extra(error: ModuleNotFoundError, server: str, extras: str | None = None) -> click.ClickException:
    """Say which module is missing, and how to get the extra that brings it.

    Args:
        error: Of the import.
        server: ``receiver`` or ``gateway``.
        extras: Those that are needed, with commas, where they are not just of that name.
    """
    return UsageProblem(
        f"The {server} needs {error.name}, which is not installed. pip install 'truewatch-lineage[{extras or server}]'"
    )


def check_guarded(host: str, *, asks: bool, no_token: bool, could: str) -> None:
    """Check that strangers are kept out, or are let in on purpose.

    Args:
        host: The address to bind to.
        asks: Whether a token is asked for.
        no_token: Whether none is to be asked for.
        could: What a stranger could do, such as ``send events``.

    Raises:
        ConfigError: Neither or both.
    """
    from truewatch_lineage.serving.guards import is_loopback  # noqa: PLC0415 - needs an extra

    if asks and no_token:
        raise ConfigError("--no-token and a token contradict each other.", fix="Give one of them.")
    if not (asks or no_token or is_loopback(host)):
        raise ConfigError(
            f"Off loopback, on {host}, anybody could {could}.",
            key="--host",
            fix="Add --token-file FILE, or --no-token if that is meant.",
        )
