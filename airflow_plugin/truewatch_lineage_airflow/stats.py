"""The spool's figures as gauges of Airflow's own metrics, so that a fleet shows where its tasks do.

``truewatch_lineage.pending``, ``.dead``, ``.delivered`` and ``.oldest_age_seconds``, with the tags ``destination`` and
``host``. Plain StatsD has no tags: there both are part of the name, as in Airflow's ``pool.open_slots.<pool_name>``.
"""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator
from typing import Final

from truewatch_lineage.spool import report as spooled
from truewatch_lineage.spool.glance import ages
from truewatch_lineage.spool.store import Store
from truewatch_lineage_airflow import compat

PREFIX: Final = "truewatch_lineage"
_SENDERS: Final = ("statsd_on", "statsd_datadog_enabled", "otel_on")
_KEEP_TAGS: Final = ("statsd_influxdb_enabled", "statsd_datadog_enabled", "otel_on")
_NOT_IN_NAMES: Final = re.compile(r"[^A-Za-z0-9_-]")


def are_on() -> bool:
    """Tell whether this Airflow sends its metrics anywhere."""
    return any(_is_set(key) for key in _SENDERS)


def report(store: Store) -> None:
    """Send how things stand with each destination of a spool; nothing where metrics are off.

    Raises:
        SpoolError: If the spool can't be read.
    """
    if not are_on():
        return
    stats, has_tags, host = compat.stats(), any(_is_set(key) for key in _KEEP_TAGS), socket.gethostname()
    for destination, gauge, value in _gauges(store):
        name = f"{PREFIX}.{gauge}"
        if has_tags:
            stats.gauge(name, value, tags={"destination": destination, "host": host})
        else:
            stats.gauge(f"{name}.{_part(destination)}.{_part(host)}", value)


def _gauges(store: Store) -> Iterator[tuple[str, str, float]]:
    """Give the destination, the gauge's name and its value for each."""
    oldest = ages(store)
    for destination, standing in spooled.status(store)["destinations"].items():
        for name in ("pending", "dead", "delivered"):
            yield destination, name, standing[name]
        yield destination, "oldest_age_seconds", oldest.get(destination, 0.0)


def _part(text: str) -> str:
    return _NOT_IN_NAMES.sub("_", text)


def _is_set(key: str) -> bool:
    return bool(compat.conf().getboolean("metrics", key, fallback=False))
