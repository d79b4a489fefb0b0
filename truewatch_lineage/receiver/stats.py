"""Counters of one run of the receiver, as JSON and as Prometheus' text exposition."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

DROPPED = "dropped"
"""Stands in for the status of a request that got no answer."""


class Stats:
    """Counts requests by path and status, and connections."""

    def __init__(self) -> None:
        self._requests: Counter[tuple[str, str]] = Counter()
        self._now = 0
        self._peak = 0

    def connected(self) -> None:
        """Count a connection that begins."""
        self._now += 1
        self._peak = max(self._peak, self._now)

    def disconnected(self) -> None:
        """Count a connection that ended."""
        self._now -= 1

    def answered(self, path: str, status: int | None) -> None:
        """Count a request; ``path`` must come from a bounded set, ``status`` is None if it was dropped."""
        self._requests[path, DROPPED if status is None else str(status)] += 1

    def as_json(self, stored: int, duplicates: int) -> dict[str, object]:
        """Return ``{"requests": {path: {status: n}}, "stored", "duplicates", "connections": {"now", "peak"}}``."""
        requests: dict[str, dict[str, int]] = {}
        for (path, status), count in sorted(self._requests.items()):
            requests.setdefault(path, {})[status] = count
        connections = {"now": self._now, "peak": self._peak}
        return {"requests": requests, "stored": stored, "duplicates": duplicates, "connections": connections}

    def as_text(self, stored: int, duplicates: int) -> str:
        """Return the same for Prometheus."""
        return "".join(f"{line}\n" for line in self._lines(stored, duplicates))

    def _lines(self, stored: int, duplicates: int) -> Iterator[str]:
        prefix = "truewatch_receiver"
        yield f"# TYPE {prefix}_requests_total counter"
        for (path, status), count in sorted(self._requests.items()):
            yield f'{prefix}_requests_total{{path="{path}",status="{status}"}} {count}'
        gauges = {
            "stored_events": stored,
            "duplicates": duplicates,
            "connections": self._now,
            "connections_peak": self._peak,
        }
        for name, value in gauges.items():
            yield f"# TYPE {prefix}_{name} gauge"
            yield f"{prefix}_{name} {value}"
