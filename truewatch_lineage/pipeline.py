"""The way an event goes, told in one place: intake → spool (commit) → courier, or, without room, one direct try."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Mapping

from truewatch_lineage import endings
from truewatch_lineage.config import Settings
from truewatch_lineage.courier import binding_of
from truewatch_lineage.errors import SpoolError
from truewatch_lineage.intake import Batch, Intake
from truewatch_lineage.notices import Notices
from truewatch_lineage.overflow import Overflow
from truewatch_lineage.runtime import Runtime, start
from truewatch_lineage.spool import Binding, Store

log = logging.getLogger(__name__)


class Pipeline:
    """Takes events and has them delivered.

    Args:
        settings: What to do with them.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.bindings = [binding_of(destination) for destination in settings.destinations]
        self._intake = Intake(settings)
        self._notices = Notices(log)
        self._overflow = Overflow(self._notices)
        self._closed = False
        self._is_empty = True
        self._runtime: Runtime | None = None
        self._lock = threading.Lock()
        endings.watch(self)

    def emit(self, event: object) -> None:
        """Store an event, then try within the budget to have it delivered; never raises.

        Args:
            event: An OpenLineage event object, a mapping, or JSON as text or bytes.
        """
        if self.settings.disabled:
            return
        try:
            runtime = self._current()
            batch = self._intake.accept(event, self.bindings)
            ids = self._store(runtime, batch)
            deadline = time.monotonic() + self.settings.delivery_budget
            waiting = self._settle(runtime, batch, ids, deadline)
            if not waiting or runtime.courier is None:
                return
            if runtime.background:
                runtime.courier.wake()
            else:
                runtime.courier.deliver(waiting, deadline)
        except Exception as error:  # noqa: BLE001 - the outermost guard: lineage must never fail a job
            # Its text may quote the event, so only its class is told.
            fault = type(error).__name__
            self._notices.error("fault", "An event was lost by a fault of truewatch-lineage: %s", fault)

    def close(self, timeout: float = -1) -> bool:
        """Deliver what is due for at most ``exit_budget`` seconds; a later `emit` still works.

        Args:
            timeout: Seconds, if less than ``exit_budget``; negative for all of it.

        Returns:
            Whether nothing is pending.
        """
        budget = self.settings.exit_budget if timeout < 0 else min(timeout, self.settings.exit_budget)
        with self._lock:
            runtime, self._runtime, self._closed = self._runtime, None, True
        if runtime is None or runtime.pid != os.getpid():
            return self._is_empty
        runtime.direct.close()
        self._overflow.tell()
        self._is_empty = runtime.store is None or self._close(runtime, runtime.store, budget)
        return self._is_empty

    def _close(self, runtime: Runtime, store: Store, budget: float) -> bool:
        try:
            if runtime.courier is not None:
                if not runtime.background:
                    runtime.courier.drain(budget)
                runtime.courier.finish(budget)
                runtime.courier.stop()
            self._overflow.write(store)
            return not sum(store.pending(binding) for binding in self.bindings)
        except SpoolError as error:
            self._notices.warning("close", "The spool can't be read: %s", error)
            return False
        finally:
            store.close()

    def after_fork(self) -> None:
        """Forget in a child what belongs to the parent: threads, sockets, counts, a lock that may be held."""
        self._lock = threading.Lock()
        self._runtime = None
        self._is_empty = True
        self._overflow = Overflow(self._notices)

    def _current(self) -> Runtime:
        with self._lock:
            runtime = self._runtime
            if runtime is None or not runtime.is_current():
                runtime = self._runtime = start(self.settings, self.bindings, self._notices, inline=self._closed)
                if runtime.background and runtime.courier is not None:
                    endings.adopt_when_dropped(self, runtime.courier, self.settings.exit_budget)
            return runtime

    def _store(self, runtime: Runtime, batch: Batch) -> list[int | None] | None:
        """Commit; returns an id each, None for what found no room, or None where nothing could be stored."""
        for binding in batch.skipped:
            self._overflow.skip(binding)
        if runtime.store is None:
            return None
        try:
            return runtime.store.put(batch.entries) if batch.entries else []
        except SpoolError as error:
            self._notices.warning("spool", "Lineage can't be spooled and is sent directly: %s", error)
            return None

    def _settle(
        self, runtime: Runtime, batch: Batch, ids: list[int | None] | None, deadline: float
    ) -> Mapping[Binding, int]:
        """Return the ids of what waits now; what found no room is tried directly."""
        waiting: dict[Binding, int] = {}
        for entry, event_id in zip(batch.entries, ids or [None] * len(batch.entries), strict=True):
            if event_id is None:
                self._overflow.send(entry, runtime.direct, runtime.store, deadline)
            elif entry.dead is None:
                waiting[entry.binding] = event_id
        if ids is not None and runtime.store is not None:
            self._overflow.write(runtime.store)
        return waiting
