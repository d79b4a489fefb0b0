"""The one tree of exceptions.

Every error carries its parts as fields, so that a caller need not parse the message, and survives pickling, so that it
can cross a process. No field ever holds a token, a password or a piece of one.
"""

from __future__ import annotations

from typing import Any


class TruewatchLineageError(Exception):
    """The base of every error this package raises on purpose.

    Args:
        problem: What is wrong, in one sentence.
        fix: What to do about it, in one sentence, or None.
    """

    def __init__(self, problem: str, *, fix: str | None = None) -> None:
        super().__init__(problem)
        self.problem = problem
        self.fix = fix

    def __str__(self) -> str:
        return f"{self.problem} {self.fix}" if self.fix else self.problem

    def __reduce__(self) -> tuple[Any, ...]:
        return (_rebuild, (type(self), self.__dict__.copy()))


def _rebuild(cls: type[TruewatchLineageError], fields: dict[str, Any]) -> TruewatchLineageError:
    """Make an unpickled error without its constructor, whose keyword arguments differ from class to class."""
    error = cls.__new__(cls)
    Exception.__init__(error, fields["problem"])
    error.__dict__.update(fields)
    return error


class ConfigError(TruewatchLineageError):
    """A setting is unknown, malformed, contradictory or missing.

    Args:
        problem: What is wrong, in one sentence, never echoing a secret.
        key: The setting, as the user spelt it.
        source: Where it came from: ``the transport's settings``, an environment variable, a file's path.
        fix: What to write instead.
    """

    def __init__(
        self, problem: str, *, key: str | None = None, source: str | None = None, fix: str | None = None
    ) -> None:
        super().__init__(problem, fix=fix)
        self.key = key
        self.source = source

    def __str__(self) -> str:
        where = f" (from {self.source})." if self.source else "."
        text = self.problem.removesuffix(".") + where
        return f"{text} {self.fix}" if self.fix else text


class TokenError(ConfigError):
    """A token can't be used or its source can't be read; the token itself is never part of the message."""


class TokenLateError(TokenError):
    """The token's source takes longer than the time that may be spent now; it may answer another time."""


class EventError(TruewatchLineageError):
    """An event can't be sent as it is.

    Args:
        problem: What is wrong with it.
        path: Where, as a JSON path such as ``$.run.facets.x``.
    """

    def __init__(self, problem: str, *, path: str = "$", fix: str | None = None) -> None:
        super().__init__(problem, fix=fix)
        self.path = path

    def __str__(self) -> str:
        return f"{self.path}: {super().__str__()}"


class SpoolError(TruewatchLineageError):
    """The spool can't be used.

    Args:
        problem: What is wrong.
        path: The folder or file it is about.
    """

    def __init__(self, problem: str, *, path: str, fix: str | None = None) -> None:
        super().__init__(problem, fix=fix)
        self.path = path

    def __str__(self) -> str:
        return f"{super().__str__()} [{self.path}]"


class SpoolFullError(SpoolError):
    """No room: the destination's share, the disk or the file-size limit is used up."""


class SpoolBusyError(SpoolError):
    """Another process kept the spool locked for longer than we wait."""


class SpoolUnusableError(SpoolError):
    """The folder can't hold a spool: read-only, another user's, a symlink, or on a network file system."""


class SpoolTooNewError(SpoolUnusableError):
    """A newer version of this package wrote the spool."""


class SpoolCorruptError(SpoolError):
    """SQLite says that the file is damaged; the store moves it aside and salvages what can be read."""
