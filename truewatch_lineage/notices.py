"""Log messages that can't flood: each topic speaks once, then counts, and speaks again after a while."""

from __future__ import annotations

import contextlib
import logging
import math
import time
from typing import Final

QUIET_SECONDS: Final = 60.0


class Notices:
    """Says each topic at most once a minute.

    Args:
        logger: Where to say it.
    """

    def __init__(self, logger: logging.Logger) -> None:
        self._logger = logger
        # Without a lock, which a fork could leave locked: at worst two threads say the same at once.
        self._said: dict[str, tuple[float, int]] = {}

    def warning(self, topic: str, message: str, *arguments: object) -> None:
        """Log a warning, unless its topic was heard in the last minute."""
        self._say(logging.WARNING, topic, message, arguments)

    def error(self, topic: str, message: str, *arguments: object) -> None:
        """Log an error, unless its topic was heard in the last minute."""
        self._say(logging.ERROR, topic, message, arguments)

    def _say(self, level: int, topic: str, message: str, arguments: tuple[object, ...]) -> None:
        now = time.monotonic()
        last, hushed = self._said.get(topic, (-math.inf, 0))
        if now - last < QUIET_SECONDS:
            self._said[topic] = (last, hushed + 1)
            return
        self._said[topic] = (now, 0)
        more = f" ({hushed} more since the last such message)" if hushed else ""
        # A program's own log handler may raise anything, and what it raises must not reach the job.
        with contextlib.suppress(Exception):
            self._logger.log(level, "%s%s", message % arguments, more)
