"""What a server counts: requests by path and status, and connections."""

from __future__ import annotations

from collections import Counter
from typing import Final

DROPPED: Final = "dropped"
"""Stands in for the status of a request that got no answer."""


class Counters:
    """Counts of one run of a server.

    Attributes:
        requests: By path and status, or `DROPPED`.
        now: Connections that are open.
        peak: The most that were at once.
    """

    def __init__(self) -> None:
        self.requests: Counter[tuple[str, str]] = Counter()
        self.now = 0
        self.peak = 0

    def connected(self) -> None:
        """Count a connection that begins."""
        self.now += 1
        self.peak = max(self.peak, self.now)

    def disconnected(self) -> None:
        """Count a connection that ended."""
        self.now -= 1

    def answered(self, path: str, status: int | None) -> None:
        """Count a request; ``path`` must come from a bounded set, ``status`` is None if it was dropped."""
        self.requests[path, DROPPED if status is None else str(status)] += 1
