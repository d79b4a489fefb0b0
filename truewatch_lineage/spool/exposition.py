"""A spool's status as metrics, for whoever serves them: the courier and the gateway."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, Literal

from truewatch_lineage.serving.exposition import Metric

_Kind = Literal["counter", "gauge"]

_PREFIX: Final = "truewatch_lineage"
_STATES: Final = ("ready", "paused", "parked")
_TOTALS: Final[tuple[tuple[str, str, _Kind, str], ...]] = (
    ("pending", "pending", "gauge", "Events that wait, over all destinations."),
    ("dead", "dead", "gauge", "Dead letters."),
    ("delivered", "delivered_total", "counter", "Events delivered since the spool was made."),
    ("cached", "cached_total", "counter", "Delivered events that DataWay has cached only."),
    ("skipped", "skipped_total", "counter", "Events of a kind that their destination does not take."),
    ("tombstones", "tombstones_total", "counter", "Events lost because the spool or the disk was full."),
    ("oldest_pending_s", "oldest_pending_seconds", "gauge", "Seconds that the oldest pending event has waited."),
    ("bytes", "bytes", "gauge", "Stored bytes."),
)
_OF_A_DESTINATION: Final[tuple[tuple[str, str, _Kind], ...]] = (
    ("pending", "pending", "gauge"),
    ("dead", "dead", "gauge"),
    ("delivered", "delivered_total", "counter"),
)


def metrics(found: dict[str, Any]) -> Iterator[Metric]:
    """Yield the metrics of a spool.

    Args:
        found: As `report.status` returns it.
    """
    for key, name, kind, about in _TOTALS:
        yield Metric.single(f"{_PREFIX}_{name}", kind, about, found[key])
    destinations: dict[str, dict[str, Any]] = found["destinations"]
    yield Metric(
        f"{_PREFIX}_destination_state",
        "gauge",
        "1 for the state that a destination is in.",
        [
            ({"destination": name, "state": state}, int(one["state"] == state))
            for name, one in destinations.items()
            for state in _STATES
        ],
    )
    for key, name, kind in _OF_A_DESTINATION:
        samples = [({"destination": destination}, one[key]) for destination, one in destinations.items()]
        yield Metric(f"{_PREFIX}_destination_{name}", kind, "As the total, of one destination.", samples)
