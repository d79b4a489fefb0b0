"""A token that a command prints, such as a secret manager's client."""

from __future__ import annotations

import math
import os
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from truewatch_lineage.destinations.token_value import Token
from truewatch_lineage.errors import TokenError, TokenLateError

TIMEOUT: Final = 10.0
"""Seconds a command may take, by the design's section 3."""

FAILED_SECONDS: Final = 5.0
"""How long a failure stands before the command is run again without being told to."""

_FIX: Final = "Run it by hand: it must print the token alone. What it printed is not shown, as it may hold a secret."


class CommandToken:
    """The token that ``arguments`` print on stdout, kept until the destination refuses it.

    There is no shell, no stdin, and stderr is thrown away, since it may hold a secret. A command that takes too long is
    killed with all processes of its group. Threads that ask at the same time share one run, and one that has just
    failed is not repeated at once: whoever masks the token and whoever sends it both ask.

    Args:
        arguments: The program and its arguments; at least the program.
        timeout: Seconds it may take.
    """

    __slots__ = ("_arguments", "_failed", "_lock", "_ran", "_timeout", "_token")

    def __init__(self, arguments: Sequence[str], *, timeout: float = TIMEOUT) -> None:
        self._arguments = tuple(arguments)
        self._timeout = timeout
        self._token: Token | None = None
        self._ran = 0.0
        self._failed: tuple[float, TokenError] | None = None
        self._lock = (os.getpid(), threading.Lock())

    def __repr__(self) -> str:
        return f"CommandToken({self.describe()})"

    def get(self, *, refresh: bool = False, within: float = math.inf) -> Token:
        """Return the token; run the command the first time and whenever ``refresh`` is set.

        Args:
            refresh: Run it, though its last token is known.
            within: Seconds it may take at most, if less than its own limit.

        Raises:
            TokenLateError: The command did not end ``within`` the time and was killed, or another thread still waits
                for it.
            TokenError: The command can't be started, fails, takes too long, or prints no token.
        """
        if self._token is not None and not refresh:
            return self._token
        deadline = time.monotonic() + within
        with self._alone(deadline):
            # Another thread may have run it meanwhile.
            if self._token is None or refresh:
                self._token = self._tried(deadline - time.monotonic(), refresh=refresh)
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

    @contextmanager
    def _alone(self, deadline: float) -> Iterator[None]:
        """Let one thread at a time run the command.

        Raises:
            TokenLateError: Another thread is still running it at the deadline.
        """
        pid, lock = self._lock
        if pid != os.getpid():  # a thread of the parent, lost in the fork, may have held it
            _, lock = self._lock = (os.getpid(), threading.Lock())
        seconds = min(deadline - time.monotonic(), threading.TIMEOUT_MAX)
        if not lock.acquire(timeout=max(0.0, seconds)):
            raise self._error(TokenLateError, "has not answered yet")
        try:
            yield
        finally:
            lock.release()

    def _tried(self, within: float, *, refresh: bool) -> Token:
        if self._failed and not refresh and time.monotonic() - self._failed[0] < FAILED_SECONDS:
            raise self._failed[1].with_traceback(None)
        if within <= 0:
            raise self._error(TokenLateError, "has not been run: the time is up")
        try:
            token = self._run(within)
        except TokenLateError:
            raise
        except TokenError as error:
            self._failed = (time.monotonic(), error)
            raise
        self._failed, self._ran = None, time.monotonic()
        return token

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
