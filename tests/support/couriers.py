"""A spool and a courier of tests, with a clock and a chance of their own."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from truewatch_lineage.config import DestinationSettings
from truewatch_lineage.courier import Courier, binding_of
from truewatch_lineage.events.model import identify
from truewatch_lineage.events.serialise import dumps
from truewatch_lineage.intake import compress
from truewatch_lineage.spool import Entry, Standing, Store

TWO = json.dumps({name: {"url": "http://127.0.0.1:9", "token": "a-token-of-the-tests-1234"} for name in ("one", "two")})
"""The setting ``destinations``: two of them, where nobody listens."""

DEAD_DELIVERY = """
from truewatch_lineage.courier.service import Service
run = Service._run
Service._run = lambda self: None if self._leader.binding.name == "two" else run(self)
"""
"""What a child runs first so that the thread of the destination ``two`` ends at once."""


@dataclass
class Clock:
    """A wall clock that tests set."""

    now: float = 1_800_000_000.0

    def __call__(self) -> float:
        """Return epoch seconds."""
        return self.now


@dataclass(frozen=True)
class Post:
    """A spool with a courier for it."""

    store: Store
    courier: Courier

    def put(self, destination: DestinationSettings, events: Iterable[Mapping[str, Any]]) -> None:
        """Store events in one commit."""
        self.store.put([entry(destination, event) for event in events])

    def standing(self, destination: DestinationSettings) -> Standing:
        """Return how a destination stands in the spool."""
        return self.store.standing(binding_of(destination))


def entry(destination: DestinationSettings, event: Mapping[str, Any]) -> Entry:
    """Make an event ready to be stored."""
    found = identify(event)
    return Entry(binding_of(destination), found.lane, compress(dumps(event)), found.event_type, found.job, found.run_id)


@contextmanager
def post(
    folder: Path,
    *destinations: DestinationSettings,
    connections: int = 8,
    clock: Callable[[], float] = time.time,
    chance: Callable[[], float] = lambda: 0.02,
) -> Iterator[Post]:
    """Open a spool in ``folder`` with a courier for ``destinations``, and close both afterwards."""
    store = Store(folder, durability="process", clock=clock)
    courier = Courier(store, destinations, connections=connections, chance=chance)
    try:
        yield Post(store, courier)
    finally:
        courier.finish(0)
        courier.stop()
        store.close()
