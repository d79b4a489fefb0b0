"""Where tokens come from: one interface, and a source for each way to configure it.

A source is made without reading anything: a file may appear after the program has started, and a command may need what
only the sending process has. What goes wrong is a :class:`~truewatch_lineage.errors.TokenError` at the first ``get``.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Mapping
from typing import Final, Protocol, runtime_checkable

from truewatch_lineage.destinations.token_command import CommandToken
from truewatch_lineage.destinations.token_file import FileToken
from truewatch_lineage.destinations.token_value import Token
from truewatch_lineage.errors import TokenError

__all__ = [
    "CommandToken",
    "EnvToken",
    "FileToken",
    "StaticToken",
    "Token",
    "TokenSource",
    "register_token_source",
    "registered_token_source",
]


@runtime_checkable
class TokenSource(Protocol):
    """Gives the token of one destination; its repr and its errors never hold it."""

    def get(self, *, refresh: bool = False, within: float = math.inf) -> Token:
        """Return the token, read again if it may have changed or ``refresh`` is set.

        Args:
            refresh: Read it again, whatever is known.
            within: Seconds it may take at most, where it takes any.

        Raises:
            TokenLateError: It takes longer.
            TokenError: There is none, or it can't be used.
        """

    def known(self) -> Token | None:
        """Return what `get` would return, but without running or asking anything; None where that takes more.

        Raises:
            TokenError: As `get`.
        """

    def describe(self) -> str:
        """Name the source for people, without the token."""

    def age(self) -> float | None:
        """Return the seconds since the token was written or fetched, or None where nobody knows."""


class StaticToken:
    """A token written in the settings themselves.

    Args:
        token: The token.
        origin: Which setting holds it, for people.
    """

    __slots__ = ("_origin", "_token")

    def __init__(self, token: Token, origin: str = "the settings") -> None:
        self._token = token
        self._origin = origin

    def __repr__(self) -> str:
        return f"StaticToken({self._origin})"

    def get(self, *, refresh: bool = False, within: float = math.inf) -> Token:  # noqa: ARG002 - it can't change
        """Return the token."""
        return self._token

    def known(self) -> Token:
        """Return the token."""
        return self._token

    def describe(self) -> str:
        """Name the setting."""
        return self._origin

    def age(self) -> float | None:
        """Return None: nobody knows when it was written."""
        return None


_NAME: Final = re.compile(r"[A-Z]+[0-9]{0,2}(?:_(?:[A-Z]+[0-9]{0,2}|[0-9]{1,2}))*")


class EnvToken:
    """The token in an environment variable, looked up each time.

    Args:
        name: The variable's name.
        environ: The environment; the process's own unless told.
    """

    __slots__ = ("_environ", "_name")

    def __init__(self, name: str, environ: Mapping[str, str] = os.environ) -> None:
        self._name = name
        self._environ = environ

    def __repr__(self) -> str:
        return f"EnvToken({self.describe()})"

    def get(self, *, refresh: bool = False, within: float = math.inf) -> Token:  # noqa: ARG002 - it is always read
        """Return the variable's text as a token.

        Raises:
            TokenError: The variable is not set or holds no token.
        """
        text = self._environ.get(self._name)
        if text is None:
            name = f"environment variable {self._name}" if self.name else "environment variable that token_env names"
            raise TokenError(
                f"The {name} is not set.",
                key="token_env",
                fix="Set it, or write the variable's name (not the token) in token_env.",
            )
        return Token.parse(text, source=self.describe(), key="token_env")

    def known(self) -> Token:
        """As `get`.

        Raises:
            TokenError: As `get`.
        """
        return self.get()

    def describe(self) -> str:
        """Name the variable, unless a token may have been written in the place of its name."""
        return f"environment variable {self._name}" if self.name else "the variable named by token_env"

    @property
    def name(self) -> str | None:
        """The variable's name; None where it is not set and no words in capitals: it may be the token itself."""
        return self._name if self._name in self._environ or _NAME.fullmatch(self._name) else None

    def age(self) -> float | None:
        """Return None: nobody knows when it was set."""
        return None


Factory = Callable[..., TokenSource]
_factories: Final[dict[str, Factory]] = {}


def register_token_source(key: str, factory: Factory) -> None:
    """Let an integration resolve a setting that only it understands; a second registration replaces the first.

    Args:
        key: The setting, such as ``airflow_conn_id``.
        factory: Makes the source from the setting's text and the options beside it, without reading the token yet.
    """
    _factories[key] = factory


def registered_token_source(key: str, text: str, **options: str | None) -> TokenSource | None:
    """Make the source for ``key`` from ``text``, or return None where no integration has registered it."""
    factory = _factories.get(key)
    return factory(text, **options) if factory else None
