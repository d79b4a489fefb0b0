"""Whether anybody delivers what a gateway leaves to a courier."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from typing import Final

from truewatch_lineage.errors import SpoolError
from truewatch_lineage.notices import Notices
from truewatch_lineage.spool import Binding, Store
from truewatch_lineage.spool.glance import has_due

log = logging.getLogger(__name__)

PATIENCE_SECONDS: Final = 30.0
"""A courier takes what is due within a moment; one that is being started or updated takes some seconds."""


class Attendance:
    """Warns where events are due for a while and nobody delivers them.

    Args:
        store: The spool.
        bindings: Whose events a courier is to deliver.
        clock: The monotonic clock, in seconds.
    """

    def __init__(self, store: Store, bindings: Sequence[Binding], clock: Callable[[], float] = time.monotonic) -> None:
        self._store = store
        self._turns = [store.leadership(binding) for binding in bindings]
        self._clock = clock
        self._notices = Notices(log)
        self._since: float | None = None

    def look(self) -> None:
        """Look now; to be called every second or so."""
        try:
            is_left = has_due(self._store) and not self._leads()
        except SpoolError:  # whoever takes or delivers events tells of it
            return
        now = self._clock()
        self._since = (self._since or now) if is_left else None
        if self._since is not None and now - self._since >= PATIENCE_SECONDS:
            how = "Run `truewatch-lineage courier` with the same settings and the destinations' tokens."
            self._notices.warning("unattended", "Events wait, and no courier delivers them. %s", how)

    def close(self) -> None:
        """Close what is open; nothing is looked at any more."""
        for turn in self._turns:
            turn.close()

    def _leads(self) -> bool:
        """Tell whether a process leads any of the destinations now."""
        for turn in self._turns:
            if not turn.try_acquire():
                return True
            turn.release()
        return False
