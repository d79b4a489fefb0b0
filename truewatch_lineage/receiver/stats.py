"""Counters of one run of the receiver, as JSON and as Prometheus' text exposition."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

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

    def as_json(self, stored: Mapping[str, Any]) -> dict[str, Any]:
        """Return ``{"requests": {path: {status: n}}, "connections": {"now", "peak"}, …}`` with what is stored."""
        requests: dict[str, dict[str, int]] = {}
        for (path, status), count in sorted(self._requests.items()):
            requests.setdefault(path, {})[status] = count
        connections = {"now": self._now, "peak": self._peak}
        return {"requests": requests, "connections": connections, **stored}

    def as_text(self, stored: Mapping[str, Any]) -> str:
        """Return the same for Prometheus."""
        return "".join(f"{line}\n" for line in self._lines(stored))

    def _lines(self, stored: Mapping[str, Any]) -> Iterator[str]:
        prefix = "truewatch_receiver"
        yield f"# TYPE {prefix}_requests_total counter"
        for (path, status), count in sorted(self._requests.items()):
            yield f'{prefix}_requests_total{{path="{path}",status="{status}"}} {count}'
        yield f"# TYPE {prefix}_records gauge"
        for kind, count in sorted(stored["records"].items()):
            yield f'{prefix}_records{{lineage_record_type="{kind}"}} {count}'
        gauges = {
            "stored_events": stored["stored"],
            "distinct_events": stored["events"],
            "duplicates": stored["duplicates"],
            "runs": stored["runs"]["total"],
            "runs_open": stored["runs"]["open"],
            "edges": stored["edges"],
            "evicted_events": stored["evicted"],
            "store_bytes": stored["bytes"],
            "connections": self._now,
            "connections_peak": self._peak,
        }
        for name, value in gauges.items():
            yield f"# TYPE {prefix}_{name} gauge"
            yield f"{prefix}_{name} {value}"
