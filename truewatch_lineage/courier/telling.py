"""What a job's log says of deliveries: where a destination stops and why, when it is back, and what was refused."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from datetime import datetime, timezone

from truewatch_lineage.notices import Notices
from truewatch_lineage.spool import Settlement, Standing

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
            if one.result == "dead":
                self._notices.warning(
                    "dead", "An event for %s was refused and is kept as a dead letter: %s", self._name, one.reason
                )
        if after.state == "ready":
            if self._stopped:  # by whomever it was opened: `spool resume` as well
                self._stopped = False
                log.info("Lineage to %s is delivered again.", self._name)
        elif after.state != before.state or (after.state == "parked" and after.reason != before.reason):
            self._tell_stop(after)

    def _tell_stop(self, after: Standing) -> None:
        self._stopped = True
        if after.state == "parked":
            self._notices.warning("parked", "Lineage to %s is stopped until you fix this: %s", self._name, after.reason)
        else:
            when = datetime.fromtimestamp(after.until or 0.0, timezone.utc).isoformat(timespec="seconds")
            self._notices.warning("paused", "Lineage to %s waits, retry at %s: %s", self._name, when, after.reason)
