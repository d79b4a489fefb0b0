"""Many requests share one durable commit, made in a thread of its own; each event is stored whole or not at all."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

from truewatch_lineage.errors import SpoolError, SpoolFullError
from truewatch_lineage.gateway.door import Door
from truewatch_lineage.intake import Batch
from truewatch_lineage.notices import Notices
from truewatch_lineage.protocol import MIB
from truewatch_lineage.serving.answers import Refusal
from truewatch_lineage.spool import Binding, Store

log = logging.getLogger(__name__)

MAX_EVENTS: Final = 256
"""Events of one commit; the next ones wait for the commit after it."""

MAX_BYTES: Final = 16 * MIB
"""Bytes of one commit, so that one of large events does not let small ones wait for long."""

TROUBLE_SECONDS: Final = 10.0
"""How long a commit that failed counts as the spool's state, where none came after it."""

RETRY_AFTER: Final = {"Retry-After": "2"}


@dataclass(frozen=True, slots=True)
class Waiting:
    """A request that waits for its commit.

    Attributes:
        data: The event's JSON.
        secrets: Texts to mask in it.
        done: Gets None, or the refusal.
    """

    data: bytes
    secrets: Sequence[str]
    done: asyncio.Future[Refusal | None]


class GroupCommit:
    """Takes events one by one and commits them together.

    Args:
        store: The spool.
        door: Decides what is taken.
        committed: Is called after each commit that has stored an event.

    Attributes:
        counts: Events by what became of them: ``accepted``, ``skipped`` (no destination wants it), ``refused`` (4xx),
            ``failed`` (5xx).
        commits: How many commits were made.
    """

    def __init__(self, store: Store, door: Door, committed: Callable[[], None]) -> None:
        self._store = store
        self._door = door
        self._committed = committed
        self._waiting: list[Waiting] = []
        self._flusher: asyncio.Task[None] | None = None
        self._thread = ThreadPoolExecutor(1, "truewatch-lineage-commit")
        self._thread.submit(int).result()  # where no thread can be started, let it be known now, and not by a request
        self._notices = Notices(log)
        self._trouble: tuple[float, str] | None = None
        self._full_at: float | None = None
        self.counts: Counter[str] = Counter(accepted=0, skipped=0, refused=0, failed=0)
        self.commits = 0

    async def add(self, data: bytes, secrets: Sequence[str]) -> None:
        """Store an event; returns after the commit.

        Args:
            data: Its JSON.
            secrets: Texts to mask in it.

        Raises:
            Refusal: 4xx as of `Door.enter`; 503 where it could not be stored now.
        """
        loop = asyncio.get_running_loop()
        waiting = Waiting(data, secrets, loop.create_future())
        self._waiting.append(waiting)
        if self._flusher is None:
            self._flusher = loop.create_task(self._flush())
        refusal = await waiting.done
        if refusal is not None:
            try:
                raise refusal
            finally:  # its traceback would keep itself, and the event
                del refusal, waiting

    def trouble(self) -> str | None:
        """Say why events can't be stored now, or None."""
        trouble = self._trouble
        if trouble is None or time.monotonic() - trouble[0] > TROUBLE_SECONDS:
            return None
        return trouble[1]

    def close(self) -> None:
        """End the thread; nothing waits any more."""
        self._thread.shutdown()

    async def _flush(self) -> None:
        loop = asyncio.get_running_loop()
        while self._waiting:
            batch = self._next()
            try:
                results = await loop.run_in_executor(self._thread, self._commit, batch)
            except Exception as error:  # noqa: BLE001 - the outermost guard: no request may wait for ever
                results = [self._fault(error)] * len(batch)
                self.counts.update(failed=len(batch))
            for waiting, refusal in zip(batch, results, strict=True):
                if not waiting.done.done():  # else the server has ended and cancelled the request
                    waiting.done.set_result(refusal)
        self._flusher = None

    def _next(self) -> list[Waiting]:
        """Take what one commit is to hold: at least one event."""
        sizes = accumulate(len(waiting.data) for waiting in self._waiting[:MAX_EVENTS])
        count = max(1, sum(1 for size in sizes if size <= MAX_BYTES))
        batch, self._waiting = self._waiting[:count], self._waiting[count:]
        return batch

    def _commit(self, batch: Sequence[Waiting]) -> list[Refusal | None]:
        """Store a batch; returns the answer to each of its events."""
        entered = [self._enter(waiting) for waiting in batch]
        taken = [one for one in entered if isinstance(one, Batch)]
        answers = self._put(taken)
        in_order = iter(answers)
        results = [next(in_order) if isinstance(one, Batch) else one for one in entered]
        done = [one for one, answer in zip(taken, answers, strict=True) if answer is None]
        for one in done:
            self._door.tell_dead(one)
        self._count(done, results)
        return results

    def _enter(self, waiting: Waiting) -> Batch | Refusal:
        try:
            return self._door.enter(waiting.data, waiting.secrets)
        except Refusal as refusal:
            # Or the frames that it went through stay, with the event as a tree, until garbage is collected.
            refusal.__context__ = refusal.__cause__ = None
            return refusal.with_traceback(None)
        except Exception as error:  # noqa: BLE001 - the outermost guard: the other events of the batch are to be stored
            return self._fault(error)

    def _fault(self, error: Exception) -> Refusal:
        fault = type(error).__name__  # its text may quote the event
        self._notices.error("fault", "An event was refused by a fault of truewatch-lineage: %s", fault)
        return Refusal(500, "fault", f"A fault of the gateway: {fault}. The event was not taken.")

    def _put(self, taken: Sequence[Batch]) -> list[Refusal | None]:
        """Store what some destination wants; what none does is answered as if it had been."""
        wanted = [batch for batch in taken if batch.entries]
        answers = iter(self._store_all(wanted) if wanted else ())
        return [next(answers) if batch.entries else None for batch in taken]

    def _store_all(self, wanted: Sequence[Batch]) -> list[Refusal | None]:
        try:
            stored = self._store.put_groups([batch.entries for batch in wanted])
            self.commits += 1
        except SpoolError as error:
            return [self._failure(error)] * len(wanted)
        except Exception as error:  # noqa: BLE001 - as in _enter
            return [self._failure(SpoolError(type(error).__name__, path=str(self._store.folder)))] * len(wanted)
        if any(stored):
            self._committed()
        refused = [batch for batch, one in zip(wanted, stored, strict=True) if not one]
        if not refused:
            self._has_room()
            return [None] * len(wanted)
        refusal = self._full(self._crowded(refused))
        return [None if one else refusal for one in stored]

    def _crowded(self, refused: Sequence[Batch]) -> str:
        """Say whose share of the spool has no room for events."""
        try:
            names = dict.fromkeys(name for batch in refused for name in self._store.crowded(batch.entries))
        except SpoolError:
            names = {}
        return f": the share of {' and '.join(names)} is used up" if names else ""

    def _failure(self, error: SpoolError) -> Refusal:
        self._notices.warning("spool", "Events are refused until the spool can be written: %s", error)
        if isinstance(error, SpoolFullError):
            return self._full()
        self._trouble = (time.monotonic(), "the spool can't be written")
        return Refusal(503, "spoolUnavailable", "The event can't be stored now; send it again.", RETRY_AFTER)

    def _full(self, whose: str = "") -> Refusal:
        """Note that there is no room, and say so once."""
        now = time.monotonic()
        self._trouble = (now, f"the spool is full{whose}")
        if self._full_at is None:
            log.warning("The spool is full%s. Events are refused with 503 until there is room.", whose)
        self._full_at = now
        return Refusal(503, "spoolFull", f"There is no room for the event now{whose}. Send it again.", RETRY_AFTER)

    def _has_room(self) -> None:
        """Note that all fitted; said once it no longer goes back and forth with each delivery."""
        self._trouble = None
        if self._full_at is not None and time.monotonic() - self._full_at > TROUBLE_SECONDS:
            self._full_at = None
            log.info("The spool has room again: events are taken.")

    def _count(self, done: Sequence[Batch], results: Sequence[Refusal | None]) -> None:
        """Count a commit: what is refused comes again, so that what it skips is counted then."""
        unwanted = sum(1 for batch in done if not batch.entries)
        statuses = [refusal.status for refusal in results if refusal is not None]
        failed = sum(1 for status in statuses if status >= 500)  # noqa: PLR2004 - the class of the server's own faults
        accepted = len(results) - len(statuses) - unwanted
        self.counts.update(accepted=accepted, skipped=unwanted, failed=failed, refused=len(statuses) - failed)
        self._count_skipped(Counter(binding for batch in done for binding in batch.skipped))

    def _count_skipped(self, skipped: Counter[Binding]) -> None:
        try:
            for binding, number in skipped.items():
                self._store.count(binding, skipped=number)
        except SpoolError as error:
            self._notices.warning("count", "Skipped events were not counted in the spool: %s", error)
