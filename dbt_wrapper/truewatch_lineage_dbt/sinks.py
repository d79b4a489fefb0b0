"""Where events go that another client's configuration sends elsewhere than through this package's spool."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Mapping
from typing import Any, Protocol

from openlineage.client import OpenLineageClient
from openlineage.client import event_v2 as model

from truewatch_lineage.notices import Notices

log = logging.getLogger("truewatch_lineage.dbt")


class Sink(Protocol):
    """What takes events: the core's `Pipeline`, or `UpstreamSink`."""

    def emit(self, event: Mapping[str, Any]) -> None:
        """Take an event; never raises."""

    def close(self, timeout: float = -1) -> bool:
        """Deliver for a while; returns whether nothing waits."""


class UpstreamSink:
    """Sends through OpenLineage's own client, for a transport of its own such as kafka, file or console.

    What that transport can't deliver is lost, as with ``dbt-ol``: it has no spool.

    Args:
        client: With the transport that is configured.
    """

    def __init__(self, client: OpenLineageClient) -> None:
        self._client = client
        self._notices = Notices(log)
        self._lost = 0

    def emit(self, event: Mapping[str, Any]) -> None:
        """Send an event; a fault is told, and counted by `close`."""
        try:
            self._client.emit(as_object(event))
        except Exception as error:  # noqa: BLE001 - transports raise what they like, and lineage must go on
            self._lost += 1
            self._notices.warning("lost", "OpenLineage's transport has lost an event: %s", type(error).__name__)

    def close(self, timeout: float = -1) -> bool:
        """Wait for a transport that sends in the background; returns whether nothing was lost."""
        with contextlib.suppress(Exception):  # as in emit
            return self._client.close(timeout) is not False and not self._lost
        return False


def as_object(event: Mapping[str, Any]) -> model.RunEvent | model.JobEvent:
    """Make the client's event of a plain one; its transports look at attributes.

    Args:
        event: A RunEvent or JobEvent as a JSON tree.
    """
    job = model.Job(**event["job"])
    common = {
        "eventTime": event["eventTime"],
        "producer": event["producer"],
        "inputs": [model.InputDataset(**dataset) for dataset in event.get("inputs", ())],
        "outputs": [model.OutputDataset(**dataset) for dataset in event.get("outputs", ())],
    }
    if "run" not in event:
        return model.JobEvent(job=job, **common)
    state = model.RunState(event["eventType"])
    return model.RunEvent(eventType=state, run=model.Run(**event["run"]), job=job, **common)
