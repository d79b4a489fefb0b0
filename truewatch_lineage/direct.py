"""Delivery without a spool, where it is full or can't be used: one bounded try, and a memory of who does not answer."""

from __future__ import annotations

import random
import time
from collections.abc import Mapping
from contextlib import suppress

from truewatch_lineage.config import DestinationSettings
from truewatch_lineage.delivery.backoff import full_jitter
from truewatch_lineage.delivery.outcome import Outcome, Verdict
from truewatch_lineage.delivery.senders import Sends, sender_of
from truewatch_lineage.spool import Binding, Entry


class Direct:
    """Tries events once each.

    A destination that has just failed is left alone for a while, so that a job without a spool does not spend its
    budget at each event of an outage.

    Args:
        destinations: By binding.
    """

    def __init__(self, destinations: Mapping[Binding, DestinationSettings]) -> None:
        self._destinations = destinations
        self._senders: dict[Binding, Sends] = {}
        self._failures: dict[Binding, tuple[int, float]] = {}

    def send(self, entry: Entry, deadline: float) -> Outcome:
        """Try one event.

        Args:
            entry: The event; it has a body.
            deadline: Of ``time.monotonic()``.
        """
        failures, until = self._failures.get(entry.binding, (0, 0.0))
        if time.monotonic() < min(until, deadline):
            return Outcome(Verdict.RETRY, "the destination did not answer a moment ago")
        destination = self._destinations[entry.binding]
        limit = min(deadline, time.monotonic() + destination.timeout)
        outcome = self._sender(entry.binding, destination).send(entry.body or b"", deadline=limit)
        if outcome.verdict in {Verdict.RETRY, Verdict.PARK}:
            wait = max(full_jitter(failures + 1, random.random), outcome.retry_after or 0.0)
            self._failures[entry.binding] = (failures + 1, time.monotonic() + wait)
        else:
            self._failures.pop(entry.binding, None)
        return outcome

    def close(self) -> None:
        """Close the connections, also while other threads send."""
        while self._senders:
            with suppress(KeyError):  # another thread has taken the last
                self._senders.popitem()[1].close()

    def _sender(self, binding: Binding, destination: DestinationSettings) -> Sends:
        found = self._senders.get(binding)
        return found or self._senders.setdefault(binding, sender_of(destination, connections=1))
