"""What is counted of events over HTTP, as metrics."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from truewatch_lineage.gateway.commit import GroupCommit
from truewatch_lineage.gateway.http.entrance import Entrance
from truewatch_lineage.serving.counters import Counters
from truewatch_lineage.serving.exposition import Metric

PREFIX: Final = "truewatch_gateway"


def figures(counters: Counters, entrance: Entrance, commit: GroupCommit) -> Iterator[Metric]:
    """Yield the metrics.

    Args:
        counters: Of requests and connections.
        entrance: What takes events.
        commit: What stores them.
    """
    requests = [({"path": path, "status": status}, n) for (path, status), n in sorted(counters.requests.items())]
    yield Metric(f"{PREFIX}_http_requests_total", "counter", "Requests by path and status.", requests)
    events = [({"result": result}, n) for result, n in commit.counts.items()]
    yield Metric(f"{PREFIX}_http_events_total", "counter", "Events over HTTP by what became of them.", events)
    about = "Durable commits of events over HTTP."
    yield Metric.single(f"{PREFIX}_http_commits_total", "counter", about, commit.commits)
    gauges = (
        ("connections", "Connections that are open.", counters.now),
        ("connections_max", "Above so many connections events are refused.", entrance.max_connections),
        ("bytes_in_flight", "Bytes of bodies in memory.", entrance.budget.held),
        ("bytes_in_flight_max", "Above so many bytes of bodies events are refused.", entrance.budget.limit),
    )
    yield from (Metric.single(f"{PREFIX}_http_{name}", "gauge", text, value) for name, text, value in gauges)
