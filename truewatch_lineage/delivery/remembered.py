"""What was made last of something, until that something is another one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Remembered(Generic[T]):
    """A value made once for as long as what it is made of stays equal; safe to use from threads.

    Only the last is kept, and its repr shows neither: a token may be in both.
    """

    __slots__ = ("_last",)

    def __init__(self) -> None:
        self._last: tuple[object, T] | None = None

    def get(self, made_of: object, make: Callable[[], T]) -> T:
        """Return the value for ``made_of``, made by ``make`` unless it was the last."""
        last = self._last
        if last is None or last[0] != made_of:
            last = self._last = made_of, make()
        return last[1]
