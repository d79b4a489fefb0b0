"""What a job's log says of deliveries: where a destination stops and why, when it is back, and what was refused."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from datetime import datetime, timezone

from truewatch_lineage.courier.refused import Refused
from truewatch_lineage.notices import Notices
from truewatch_lineage.spool import Settlement, Standing
from truewatch_lineage.words import counted

log = logging.getLogger(__name__)


class Telling:
    """Tells what changes; each kind of message at most once a minute.

    Args:
        name: The destination's.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._notices = Notices(log)
        self._stopped = False

    def settled(self, before: Standing, after: Standing, settlements: Iterable[Settlement]) -> None:
        """Tell what attempts have changed."""
        for one in settlements:
            log.debug("%s: attempt %d, event %d: %s, %s", self._name, one.attempt, one.id, one.result, one.reason)
        if after.state == "ready":
            # By whomever it was opened, as by `spool resume`, and by whomever it was stopped, as before a restart.
            if self._stopped or before.state != "ready":
                self._stopped = False
                log.info("Lineage to %s is delivered again.", self._name)
        elif after.state != before.state or (after.state == "parked" and after.reason != before.reason):
            self._tell_stop(after)

    def refused(self, letters: Iterable[Refused]) -> None:
        """Tell what was refused for good."""
        for letter in letters:
            self._notices.warning(
                "dead", "An event for %s was refused and is kept as a dead letter: %s", self._name, letter
            )

    def _tell_stop(self, after: Standing) -> None:
        self._stopped = True
        if after.state == "parked":
            self._notices.warning("parked", "Lineage to %s is stopped until you fix this: %s", self._name, after.reason)
        else:
            when = _iso(after.until)
            self._notices.warning("paused", "Lineage to %s waits, retry at %s: %s", self._name, when, after.reason)


def at_start(standing: Standing, waiting: int, now: float) -> str:
    """Say what a process finds that begins to deliver.

    Args:
        standing: How the destination stands.
        waiting: How many events wait for it.
        now: Epoch seconds.
    """
    wait = f"{counted(waiting, 'event')} {'waits' if waiting == 1 else 'wait'}"
    if standing.state == "parked":
        return f"{wait}, stopped until you fix this: {standing.reason}"
    if standing.state == "paused" and (standing.until or 0.0) > now:
        return f"{wait}, retry at {_iso(standing.until)} and once now: {standing.reason}"
    return f"{wait}."


def _iso(seconds: float | None) -> str:
    return datetime.fromtimestamp(seconds or 0.0, timezone.utc).isoformat(timespec="seconds")
