"""A token that a command prints, such as a secret manager's client."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from truewatch_lineage.destinations.token_value import Token
from truewatch_lineage.errors import TokenError, TokenLateError

TIMEOUT: Final = 10.0
"""Seconds a command may take, by the design's section 3."""

_FIX: Final = "Run it by hand: it must print the token alone. What it printed is not shown, as it may hold a secret."


class CommandToken:
    """The token that ``arguments`` print on stdout, kept until the destination refuses it.

    There is no shell, no stdin, and stderr is thrown away, since it may hold a secret. A command that takes too long is
    killed with all processes of its group.

    Args:
        arguments: The program and its arguments; at least the program.
        timeout: Seconds it may take.
    """

    __slots__ = ("_arguments", "_ran", "_timeout", "_token")

    def __init__(self, arguments: Sequence[str], *, timeout: float = TIMEOUT) -> None:
        self._arguments = tuple(arguments)
        self._timeout = timeout
        self._token: Token | None = None
        self._ran = 0.0

    def __repr__(self) -> str:
        return f"CommandToken({self.describe()})"

    def get(self, *, refresh: bool = False, within: float = math.inf) -> Token:
        """Return the token; run the command the first time and whenever ``refresh`` is set.

        Args:
            refresh: Run it, though its last token is known.
            within: Seconds it may take at most, if less than its own limit.

        Raises:
            TokenLateError: The command did not end ``within`` the time and was killed.
            TokenError: The command can't be started, fails, takes too long, or prints no token.
        """
        if self._token is None or refresh:
            self._token = self._run(within)
            self._ran = time.monotonic()
        return self._token

    def known(self) -> Token | None:
        """Return the token if the command has run."""
        return self._token

    def describe(self) -> str:
        """Name the program without its arguments, or not at all where no such program is found."""
        import shutil  # noqa: PLC0415 - only for a message

        program = self._arguments[0]
        return f"command {Path(program).name}" if shutil.which(program) else "the command of token_command"

    def age(self) -> float | None:
        """Return the seconds since the command gave the token, or None if it has not run."""
        return None if self._token is None else time.monotonic() - self._ran

    def _run(self, within: float) -> Token:
        from truewatch_lineage.destinations.capture import capture  # noqa: PLC0415 - few need a subprocess

        try:
            output, problem = capture(self._arguments, timeout=min(self._timeout, within))
        except TimeoutError as error:
            late = TokenLateError if within < self._timeout else TokenError
            raise self._error(late, str(error)) from None
        if problem:
            raise self._error(TokenError, problem)
        # latin-1 takes every byte, so that what is no ASCII is refused by the token's own rule and not by a decoder,
        # whose exception would carry the bytes.
        return Token.parse(output.decode("latin-1"), source=self.describe(), key="token_command")

    def _error(self, kind: type[TokenError], problem: str) -> TokenError:
        return kind(f"The token's {self.describe()} {problem}.", key="token_command", fix=_FIX)
