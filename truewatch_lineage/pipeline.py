"""The way an event goes, told in one place: intake → spool (commit) → courier, or, without room, one direct try."""

from __future__ import annotations

import contextlib
import logging
import os
import queue
import threading
import time
from typing import Final

from truewatch_lineage import endings
from truewatch_lineage.config import Settings
from truewatch_lineage.courier import binding_of
from truewatch_lineage.errors import SpoolBusyError, SpoolError
from truewatch_lineage.intake import Batch, Intake
from truewatch_lineage.notices import Notices
from truewatch_lineage.overflow import Overflow
from truewatch_lineage.runtime import Runtime, start
from truewatch_lineage.spool import Binding, Store

log = logging.getLogger(__name__)

MAX_NESTED: Final = 100
"""Events that an emit takes over from those that were emitted in its middle; the rest waits for the next one."""

SHORT_WAIT: Final = 0.5
IMPATIENT_SECONDS: Final = 30.0
"""Once the spool was found locked for a whole budget, emits of this long wait only `SHORT_WAIT` seconds for it."""


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
        self._closed = False
        self._impatient_until = 0.0
        self.after_fork()
        endings.watch(self)

    def after_fork(self) -> None:
        """Forget in a child what belongs to the parent: threads, sockets, counts, a lock that may be held."""
        self._lock = threading.RLock()
        self._thread = threading.local()
        self._nested: queue.SimpleQueue[Batch] = queue.SimpleQueue()
        self._overflow = Overflow(self._notices)
        self._runtime: Runtime | None = None
        self._is_empty = True

    def emit(self, event: object) -> None:
        """Store an event, then try within the budget to have it delivered; never raises.

        Args:
            event: An OpenLineage event object, a mapping, or JSON as text or bytes.
        """
        if self.settings.disabled:
            return
        deadline = self._deadline()
        try:
            self._enter(self._intake.accept(event, self.bindings), deadline)
        except Exception as error:  # noqa: BLE001 - the outermost guard: lineage must never fail a job
            self._tell_fault(error)

    def close(self, timeout: float = -1) -> bool:
        """Deliver what is due for at most ``exit_budget`` seconds; a later `emit` still works; never raises.

        Args:
            timeout: Seconds, if less than ``exit_budget``; negative for all of it.

        Returns:
            Whether nothing is pending.
        """
        budget = self.settings.exit_budget if timeout < 0 else min(timeout, self.settings.exit_budget)
        try:
            self._hand_over_nested()  # what an exception in the middle of the last emit has left
        except Exception as error:  # noqa: BLE001 - as in emit
            self._tell_fault(error)
        with self._lock:
            runtime, self._runtime, self._closed = self._runtime, None, True
        if runtime is not None and runtime.pid == os.getpid():
            try:
                self._is_empty = runtime.store is None or self._close(runtime, runtime.store, budget)
            except Exception as error:  # noqa: BLE001 - as in emit
                self._is_empty = False
                told = error if isinstance(error, SpoolError) else type(error).__name__
                self._notices.warning("close", "Lineage stays in the spool: %s", told)
            runtime.direct.close()
            self._overflow.tell()
        return self._is_empty

    def _tell_fault(self, error: Exception) -> None:
        # Its text may quote the event, so only its class is told.
        fault = type(error).__name__
        self._notices.error("fault", "An event was lost by a fault of truewatch-lineage: %s", fault)

    def _deadline(self) -> float:
        return time.monotonic() + self.settings.delivery_budget

    def _enter(self, batch: Batch, deadline: float) -> None:
        """Hand an event over, unless this thread is doing so already: then do it afterwards.

        A signal handler, a log handler or a destructor may emit in the middle of an emit.
        """
        if getattr(self._thread, "is_inside", False):
            self._nested.put(batch)
            return
        self._thread.is_inside = True
        try:
            self._hand_over(batch, deadline)
            self._hand_over_nested()
        finally:
            self._thread.is_inside = False

    def _hand_over_nested(self) -> None:
        with contextlib.suppress(queue.Empty):
            for _ in range(MAX_NESTED):
                self._hand_over(self._nested.get_nowait(), self._deadline())

    def _hand_over(self, batch: Batch, deadline: float) -> None:
        """Commit an event and have it delivered; what found no room is tried directly."""
        runtime = self._current()
        ids, is_busy = self._store(runtime, batch)
        if is_busy:  # the wait for the spool has used the budget up, and the direct try may be the event's only one
            deadline = self._deadline()
        waiting: dict[Binding, int] = {}
        for entry, event_id in zip(batch.entries, ids, strict=True):
            if event_id is None:
                self._overflow.send(entry, runtime.direct, runtime.store, deadline, is_busy=is_busy)
            elif entry.dead is None:
                waiting[entry.binding] = event_id
        if runtime.store is not None and not is_busy:
            self._overflow.write(runtime.store)
        if not waiting or runtime.courier is None:
            return
        if runtime.background:
            runtime.courier.wake()
        else:
            runtime.courier.deliver(waiting, deadline)

    def _store(self, runtime: Runtime, batch: Batch) -> tuple[list[int | None], bool]:
        """Commit, with what waits in memory before it; returns an id each, and whether the spool was locked."""
        for binding in batch.skipped:
            self._overflow.skip(binding)
        nothing: list[int | None] = [None] * len(batch.entries)
        if runtime.store is None or not batch.entries:
            return nothing, False
        held = self._overflow.take_held()
        is_impatient = time.monotonic() < self._impatient_until
        wait = SHORT_WAIT if is_impatient else max(SHORT_WAIT, self.settings.delivery_budget)
        try:
            return runtime.store.put([*held, *batch.entries], wait=wait)[len(held) :], False
        except SpoolBusyError as error:
            self._impatient_until = time.monotonic() + IMPATIENT_SECONDS
            self._notices.warning("spool", "Lineage is kept in memory until the spool is free: %s", error)
            self._overflow.hold(held)
            return nothing, True
        except SpoolError as error:
            self._notices.warning("spool", "Lineage can't be spooled and is sent directly: %s", error)
            self._overflow.hold(held)
            return nothing, False

    def _close(self, runtime: Runtime, store: Store, budget: float) -> bool:
        deadline = time.monotonic() + budget
        try:
            self._write_held(store, budget)
            if runtime.courier is not None:
                if not runtime.background:
                    runtime.courier.drain(max(0.0, deadline - time.monotonic()))
                runtime.courier.finish(max(0.0, deadline - time.monotonic()))
                runtime.courier.stop()
            self._overflow.write(store)
            return not sum(store.pending(binding) for binding in self.bindings)
        finally:
            store.close()

    def _write_held(self, store: Store, wait: float) -> None:
        held = self._overflow.take_held()
        try:
            if held:
                store.put(held, wait=wait)
        except SpoolError:
            self._overflow.hold(held)
            self._overflow.give_up_held()

    def _current(self) -> Runtime:
        with self._lock:
            runtime = self._runtime
            if runtime is not None and runtime.is_current():
                return runtime
            last = runtime if runtime is not None and runtime.pid == os.getpid() else None
            made = start(self.settings, self.bindings, self._notices, inline=self._closed, last=last)
            if made.background and made.courier is not None:
                endings.adopt_when_dropped(self, made.courier, self.settings.exit_budget)
            self._runtime = made
            return made
