"""What the commands that serve have in common."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import click

from truewatch_lineage.config import Settings
from truewatch_lineage.errors import ConfigError

FILE: Final = click.Path(exists=True, dir_okay=False, path_type=Path)

host_option = click.option(
    "--host", default="127.0.0.1", show_default=True, help="Another address needs a token or --no-token."
)
token_option = click.option("--token", "tokens", multiple=True, metavar="T", help="A token to accept; can be repeated.")
no_token_option = click.option("--no-token", is_flag=True, help="Ask for no token, also off loopback.")


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


def refuse_itself(settings: Settings, port: int, problem: str) -> None:
    """Refuse a destination that is this server: its port, at any of this machine's addresses.

    Args:
        settings: The destinations.
        port: That the server listens on.
        problem: What would happen, as a sentence.

    Raises:
        ConfigError: One of them is.
    """
    for destination in settings.destinations:
        address = urlsplit(destination.url)
        if port and address.port == port and _is_here(address.hostname or ""):
            about = f"It listens on port {port}, and `{destination.name}` is {destination.url}."
            raise ConfigError(f"{problem} {about}", key="url", fix="Name the place the events should go on to.")


def _is_here(host: str) -> bool:
    """Tell whether a host is this machine: only an address of its own can be bound."""
    try:
        found = socket.getaddrinfo(host, 0, type=socket.SOCK_DGRAM)
    except OSError:
        return False
    return any(_can_bind(family, address) for family, _, _, _, address in found)


def _can_bind(family: int, address: Any) -> bool:
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as found:
            found.bind(address)
    except OSError:
        return False
    return True
