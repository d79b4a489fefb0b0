"""Counters of one run of the receiver, as JSON and as Prometheus' text exposition."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from truewatch_lineage.serving.counters import Counters
from truewatch_lineage.serving.exposition import Metric, as_text

_PREFIX: Final = "truewatch_receiver"


class Stats(Counters):
    """The server's counters, shown beside what is stored."""

    def as_json(self, stored: Mapping[str, Any]) -> dict[str, Any]:
        """Return ``{"requests": {path: {status: n}}, "connections": {"now", "peak"}, …}`` with what is stored."""
        requests: dict[str, dict[str, int]] = {}
        for (path, status), count in sorted(self.requests.items()):
            requests.setdefault(path, {})[status] = count
        connections = {"now": self.now, "peak": self.peak}
        return {"requests": requests, "connections": connections, **stored}

    def as_text(self, stored: Mapping[str, Any]) -> str:
        """Return the same for Prometheus."""
        return as_text(self._metrics(stored))

    def _metrics(self, stored: Mapping[str, Any]) -> Iterator[Metric]:
        requests = [
            ({"path": path, "status": status}, count) for (path, status), count in sorted(self.requests.items())
        ]
        yield Metric(f"{_PREFIX}_requests_total", "counter", "Requests by path and status.", requests)
        records = [({"lineage_record_type": kind}, count) for kind, count in sorted(stored["records"].items())]
        yield Metric(f"{_PREFIX}_records", "gauge", "Records by type.", records)
        gauges = (
            ("stored_events", "Events that are kept, repeated ones counted once.", stored["stored"]),
            ("distinct_events", "Events that arrived, repeated ones counted once.", stored["events"]),
            ("duplicates", "Events that arrived again.", stored["duplicates"]),
            ("runs", "Runs.", stored["runs"]["total"]),
            ("runs_open", "Runs without a terminal event.", stored["runs"]["open"]),
            ("edges", "Edges of the graph.", stored["edges"]),
            ("evicted_events", "Events that had to go for newer ones.", stored["evicted"]),
            ("store_bytes", "Bytes of the file.", stored["bytes"]),
            ("connections", "Connections that are open.", self.now),
            ("connections_peak", "The most connections that were open at once.", self.peak),
        )
        yield from (Metric.single(f"{_PREFIX}_{name}", "gauge", about, value) for name, about, value in gauges)
