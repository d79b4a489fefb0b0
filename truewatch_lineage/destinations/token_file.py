"""A token in a file, as Docker and Kubernetes mount secrets: read again whenever the file changes."""

from __future__ import annotations

import logging
import math
import os
import stat
import time
from pathlib import Path
from typing import Final

from truewatch_lineage.destinations.token_value import Token
from truewatch_lineage.errors import TokenError
from truewatch_lineage.words import counted

MAX_BYTES: Final = 64 * 1024
"""More than any token: a larger file is not one."""

_log = logging.getLogger(__name__)
_warned: set[str] = set()
_Signature = tuple[int, int, int, int, int]


class FileToken:
    """The token in the file at ``path``.

    Symbolic links are followed, because Kubernetes swaps a link to rotate a secret; what is checked is the file they
    lead to, opened once so that it can't be swapped between check and reading. The file must be a regular one, owned by
    this user or root. One that others may write is refused, and so is one that a group may write unless it is this
    process's own group (the private group of a user with umask 002; group 0 on OpenShift), which is a warning, as is a
    file that others may read. Windows has neither such owners nor such modes; nothing is checked there.

    Args:
        path: The file, absolute.
        base: The folder that a relative path starts from, or None for the working folder.
    """

    __slots__ = ("_base", "_known", "path")

    def __init__(self, path: Path, *, base: Path | None = None) -> None:
        self.path = path
        self._base = base or _working_folder()
        self._known: tuple[_Signature, Token] | None = None

    def __repr__(self) -> str:
        return f"FileToken({self.describe()})"

    def get(self, *, refresh: bool = False, within: float = math.inf) -> Token:  # noqa: ARG002 - a file is at hand
        """Return the token, read again if the file has changed or ``refresh`` is set.

        Raises:
            TokenError: The file is missing, unreadable, unsafe, or holds no token.
        """
        try:
            known = self._known
            if known and not refresh and known[0] == _signature(os.stat(self.path)):  # noqa: PTH116 - one call an event
                return known[1]
            info, data = _read(self.path)
        except OSError as error:
            raise self._unreadable(error) from None
        self._check(info)
        token = self._parse(data)
        self._known = (_signature(info), token)
        return token

    def known(self) -> Token:
        """As `get`.

        Raises:
            TokenError: As `get`.
        """
        return self.get()

    def describe(self) -> str:
        """Name the file, unless the path looks as if the token itself was written in its place."""
        return f"file {self.path}" if self._is_path() else "the file named by token_file"

    def weakness(self) -> str | None:
        """Say who else may read or write the file though they should not, such as ``others may read it``; else None."""
        try:
            return _weakness(self.path.stat())
        except OSError:
            return None

    def age(self) -> float | None:
        """Return the seconds since the file was last changed, or None if it is not there."""
        try:
            return max(0.0, time.time() - self.path.stat().st_mtime)
        except OSError:
            return None

    def _unreadable(self, error: OSError) -> TokenError:
        reasons = {FileNotFoundError: "is not there", PermissionError: "can't be read by this user"}
        reason = reasons.get(type(error), f"can't be read: {error.strerror}")
        if self._base == self.path.parent and not self._is_path():
            reason += f" (looked for in {self._base})"
        return self._error(reason, "Mount or create it, readable by this user.")

    def _parse(self, data: bytes) -> Token:
        if len(data) > MAX_BYTES:
            raise self._error(f"holds more than {counted(MAX_BYTES, 'byte')}", "It must hold the token alone.")
        # latin-1 takes every byte: a decoder's exception would carry the bytes.
        return Token.parse(data.decode("latin-1"), source=self.describe(), key="token_file")

    def _check(self, info: os.stat_result) -> None:
        if not stat.S_ISREG(info.st_mode):
            raise self._error("is no regular file", "Write the token into a plain file.")
        if os.name != "posix":
            return
        if info.st_uid not in (os.geteuid(), 0):
            raise self._error(
                f"belongs to another user (uid {info.st_uid})", f"Make it belong to uid {os.geteuid()} or root."
            )
        group_may_write = bool(info.st_mode & stat.S_IWGRP)
        if info.st_mode & stat.S_IWOTH or (group_may_write and info.st_gid != os.getegid()):
            raise self._error("may be written by others", "Run chmod 600 on it.")
        if weakness := _weakness(info):
            self._warn(weakness)

    def _warn(self, weakness: str) -> None:
        shown = self.describe()
        if shown not in _warned:
            _warned.add(shown)
            _log.warning("The token's file is not private: %s (%s). Run chmod 600 on it.", weakness, shown)

    def _error(self, problem: str, fix: str) -> TokenError:
        subject = f"The token's file {self.path}" if self._is_path() else "The token's file, which token_file names,"
        return TokenError(f"{subject} {problem}.", key="token_file", fix=fix)

    def _is_path(self) -> bool:
        """Tell whether the path exists, or leads through a folder that exists beside the way to where it starts.

        A token written where its file's name belongs fails both, as it would be looked for in that folder.
        """
        try:
            here = self._base
            excluded = {here, *here.parents, Path(self.path.anchor)} if here else set(self.path.parents)
            return self.path.exists() or any(parent.is_dir() for parent in self.path.parents if parent not in excluded)
        except OSError:
            return False


def _working_folder() -> Path | None:
    """Return it, or None where it is gone, as daemons' may be."""
    try:
        return Path.cwd()
    except OSError:
        return None


def _weakness(info: os.stat_result) -> str | None:
    """Say who else may read or write a file of this state; None on Windows, which has no such modes."""
    if os.name != "posix":
        return None
    faults = [(stat.S_IWGRP, "its group may write it"), (stat.S_IROTH, "others may read it")]
    return " and ".join(text for bit, text in faults if info.st_mode & bit) or None


def _read(path: Path) -> tuple[os.stat_result, bytes]:
    """Return the file's state and its first bytes; a FIFO or device is opened without waiting and left unread."""
    flags = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)
    handle = os.open(path, flags)
    try:
        info = os.fstat(handle)
        data = os.read(handle, MAX_BYTES + 1) if stat.S_ISREG(info.st_mode) else b""
    finally:
        os.close(handle)
    return info, data


def _signature(info: os.stat_result) -> _Signature:
    return info.st_dev, info.st_ino, info.st_size, info.st_mtime_ns, info.st_ctime_ns
