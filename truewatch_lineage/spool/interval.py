"""What is to happen at most once in a while, since it costs more than what it is asked for."""

from __future__ import annotations

import math
from collections.abc import Callable


class Interval:
    """Tells whether it is time to do something again.

    Args:
        seconds: How often at most.
        clock: The time in seconds; one that was turned back makes it due.
    """

    def __init__(self, seconds: float, clock: Callable[[], float]) -> None:
        self._seconds = seconds
        self._clock = clock
        self._last = -math.inf

    def is_due(self) -> bool:
        """Tell whether it is due, in which case it counts as done."""
        now = self._clock()
        if 0 <= now - self._last < self._seconds:
            return False
        self._last = now
        return True
