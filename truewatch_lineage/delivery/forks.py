"""State that a forked child must not share with its parent: sockets, locks, whatever a lost thread was holding."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class PerProcess(Generic[T]):
    """A value made once in each process, at its first use there.

    Args:
        make: Makes the value; given the parent's where this process is a fork of one that had made it, so that it can
            take over what is safe, and None otherwise. It must not touch the parent's locks.
    """

    __slots__ = ("_made", "_make")

    def __init__(self, make: Callable[[T | None], T]) -> None:
        self._make = make
        self._made: tuple[int, T] | None = None

    def get(self) -> T:
        """Return this process's value."""
        pid, made = os.getpid(), self._made
        if made is None or made[0] != pid:
            made = self._made = (pid, self._make(None if made is None else made[1]))
        return made[1]
