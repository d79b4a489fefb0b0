"""The spool as the pipeline and the courier use it: put events in, take heads of lanes, settle what became of them."""

from __future__ import annotations

import contextlib
import hashlib
import sqlite3
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import astuple
from functools import partial
from pathlib import Path
from typing import Final, TypeVar

from truewatch_lineage.errors import SpoolCorruptError, SpoolError, SpoolFullError
from truewatch_lineage.protocol import MIB
from truewatch_lineage.spool import folder as folders
from truewatch_lineage.spool import queries, receipts, rows
from truewatch_lineage.spool.ballast import Ballast
from truewatch_lineage.spool.database import Database
from truewatch_lineage.spool.interval import Interval
from truewatch_lineage.spool.locks import FileLock
from truewatch_lineage.spool.putting import Putting
from truewatch_lineage.spool.records import Binding, Entry, Queued, Settlement, Standing
from truewatch_lineage.spool.share import Share

TIDY_SECONDS: Final = 600.0
CHECKPOINT_BYTES: Final = 4 * MIB
GIVING_SECONDS: Final = 1.0
"""How often room is given back on a full disk while it is drained."""

_T = TypeVar("_T")


class Store:
    """A spool folder, opened.

    Args:
        folder: Where it is; made if missing.
        durability: ``power``: what `put` returned from survives a power cut; ``process``: a kill.
        max_bytes: Bytes of bodies at most, or None for what `Share` takes then.
        shares: Into how many equal shares they are cut: one for each destination.
        receipts_days: How long a delivered event leaves a receipt.
        clock: The wall clock, in epoch seconds.

    Raises:
        SpoolUnusableError: If the folder can't hold a spool.
    """

    def __init__(
        self,
        folder: Path,
        *,
        durability: str = "power",
        max_bytes: int | None = None,
        shares: int = 1,
        receipts_days: float = 7.0,
        clock: Callable[[], float] = time.time,
    ) -> None:
        folders.prepare(folder)
        self.folder = folder
        self.clock = clock
        self.database = Database(folder, full=durability == "power", clock=clock)
        self.ballast = Ballast(folder)
        self._receipt_seconds = receipts_days * 86_400
        self._share = Share(folder, max_bytes, shares, clock)
        self._fillings = Interval(TIDY_SECONDS, clock)
        self._givings = Interval(GIVING_SECONDS, clock)
        self._ids: dict[Binding, int] = {}
        self._generation = 0
        self._key: tuple[int, bytes] = (-1, b"")

    @property
    def capacity(self) -> int:
        """Return how many bytes of bodies may be stored, over all destinations, each of which has an equal share."""
        return self._share.total

    def leadership(self, binding: Binding) -> FileLock:
        """Return the lock of whoever delivers to a destination, not taken yet; a killed holder frees it."""
        text = f"{binding.name}\0{binding.kind}\0{binding.url}"
        return FileLock(self.folder / f"leader-{hashlib.sha256(text.encode()).hexdigest()[:16]}.lock")

    def put(self, entries: Sequence[Entry], *, wait: float | None = None) -> list[int | None]:
        """Store events in one durable commit.

        Args:
            entries: The events.
            wait: Seconds to wait for other threads and processes, if less than usual.

        Returns:
            An id each, in order; None where the destination's share is used up and the event was not stored.

        Raises:
            SpoolError: If nothing was stored.
        """
        return self._stored(lambda: self._put(entries, wait))

    def put_groups(self, groups: Sequence[Sequence[Entry]], *, wait: float | None = None) -> list[bool]:
        """Store groups of events in one durable commit, each group whole or not at all.

        Args:
            groups: Of each group, what one event comes to for all of its destinations.
            wait: As of `put`.

        Returns:
            Whether each group was stored; one was not where the share of any of its destinations is used up.

        Raises:
            SpoolError: If nothing was stored.
        """
        return self._stored(lambda: self._put_groups(groups, wait))

    def crowded(self, entries: Iterable[Entry]) -> list[str]:
        """Name the destinations whose share has no room for what an event comes to for them.

        Args:
            entries: As of one of `put_groups`'s groups.

        Raises:
            SpoolError: If the spool can't be read.
        """

        def look(connection: sqlite3.Connection) -> list[str]:
            ids = ((entry, self._id(connection, entry.binding)) for entry in entries if entry.dead is None)
            used = ((entry, queries.body_bytes(connection, destination)) for entry, destination in ids)
            return [entry.binding.name for entry, size in used if not self._share.holds(size + len(entry.body or b""))]

        return self._read(look)

    def heads(self, binding: Binding, limit: int, *, leave_out: Collection[int] = ()) -> list[Queued]:
        """Return the oldest events that may leave now: the first of each lane whose time has come.

        Args:
            binding: The destination.
            limit: How many at most.
            leave_out: Ids of those that are under way already.

        Raises:
            SpoolError: If the spool can't be read.
        """
        now = self.clock()
        return self._read(
            lambda connection: queries.heads(connection, self._id(connection, binding), limit, now, leave_out)
        )

    def probe(self, binding: Binding) -> list[Queued]:
        """Return the one event to probe a stopped destination with, due or not.

        The head that was tried least, so that lanes take turns and a poisoned one can't keep the destination shut.

        Raises:
            SpoolError: If the spool can't be read.
        """
        return self._read(lambda connection: queries.least_tried(connection, self._id(connection, binding)))

    def place(self, event_id: int) -> str:
        """Return the command that shows an event."""
        return f"`truewatch-lineage spool show {event_id}`"

    def settle(self, binding: Binding, settlements: Iterable[Settlement], standing: Standing) -> None:
        """Write down what became of attempts and how the destination stands now, in one commit.

        The commit does not wait for the disk: losing it repeats a delivery, and loses none. A full disk gives up the
        ballast.

        Raises:
            SpoolError: If it could not be written; then the events are still pending.
        """
        self._with_ballast(lambda: self._settle(binding, list(settlements), standing))

    def count(self, binding: Binding, *, delivered: int = 0, skipped: int = 0, tombstones: int = 0) -> None:
        """Add to the counters of events that were not stored: delivered directly, skipped, or lost.

        Raises:
            SpoolError: If it could not be written.
        """

        def write() -> None:
            with self.database.write(durable=tombstones > 0) as connection:
                connection.execute(
                    "UPDATE destination SET delivered = delivered + ?, skipped = skipped + ?, "
                    "tombstones = tombstones + ? WHERE id = ?",
                    (delivered, skipped, tombstones, self._id(connection, binding, create=True)),
                )

        self._with_ballast(write)

    def standing(self, binding: Binding) -> Standing:
        """Return how a destination stands.

        Raises:
            SpoolError: If the spool can't be read.
        """
        return self._read(lambda connection: queries.standing(connection, self._id(connection, binding)))

    def register(self, binding: Binding) -> None:
        """Note that a process uses these settings, so that commands without settings know which are current.

        Raises:
            SpoolError: If it could not be written.
        """

        def write() -> None:
            with self.database.write(durable=False) as connection:
                connection.execute(
                    "UPDATE destination SET used = ? WHERE id = ?",
                    (self.clock(), self._id(connection, binding, create=True)),
                )

        self._with_ballast(write)

    def is_pending(self, event_id: int) -> bool:
        """Tell whether an event still waits.

        Raises:
            SpoolError: If the spool can't be read.
        """
        with self.database.read() as connection:
            return queries.is_pending(connection, event_id)

    def lane_due(self, event_id: int) -> float | None:
        """Return when the head of a waiting event's lane is due, in epoch seconds; None if the event waits no more.

        Raises:
            SpoolError: If the spool can't be read.
        """
        with self.database.read() as connection:
            return queries.lane_due(connection, event_id)

    def pending(self, binding: Binding, *, before: int | None = None, limit: int = -1) -> int:
        """Count the events that wait for a destination, up to ``limit``, or those before an id.

        Raises:
            SpoolError: If the spool can't be read.
        """
        with self.database.read() as connection:
            return queries.pending(connection, self._id(connection, binding), before, limit)

    def next_due(self, binding: Binding) -> float | None:
        """Return when the first waiting head is due, in epoch seconds, or None if nothing waits.

        A time so far ahead that the clock must have been turned back counts as past, as in `heads`.

        Raises:
            SpoolError: If the spool can't be read.
        """
        with self.database.read() as connection:
            return queries.next_due(connection, self._id(connection, binding), self.clock())

    def fingerprint_key(self) -> bytes:
        """Return the key under which this spool keeps fingerprints of settings.

        Raises:
            SpoolError: If the spool can't be read.
        """
        if self._key[0] != self.database.generation:
            with self.database.read() as connection:
                self._key = (self.database.generation, queries.fingerprint_key(connection))
        return self._key[1]

    def version(self) -> int:
        """Return a number that changes when another connection has committed.

        Raises:
            SpoolError: If the spool can't be read.
        """
        return self.database.version()

    def relieve(self) -> None:
        """Bring the log into the database where it has grown large; on a full disk give back what was delivered.

        Raises:
            SpoolError: If it could not be written.
        """
        if self.database.wal_bytes() > CHECKPOINT_BYTES:
            self.database.checkpoint()
        if not self.ballast.is_kept() and self._givings.is_due():
            with contextlib.suppress(SpoolError):  # then it is tried again
                self._give_back()

    def tidy_if_due(self) -> None:
        """Do at most every ten minutes, whichever process does it: `tidy`; on a full disk give back room now.

        Raises:
            SpoolError: If it could not be written.
        """
        with self.database.read() as connection:
            last = queries.tidied(connection)
        if last is None or not 0 <= self.clock() - last < TIDY_SECONDS:
            self.tidy()
        elif not self.ballast.is_kept():
            self._give_back()

    def tidy(self) -> None:
        """Forget receipts that are old or too many, give room back, bring the log in and fill the ballast.

        Raises:
            SpoolError: If it could not be written.
        """
        with self.database.write(durable=False) as connection:
            connection.execute("INSERT OR REPLACE INTO meta VALUES ('tidied', ?)", (self.clock(),))
        write = partial(self.database.write, durable=False)
        receipts.forget(write, self.clock() - self._receipt_seconds, self._share.receipts)
        self._give_back()

    def close(self) -> None:
        """Close the database; the next call opens it again."""
        self.database.close()

    def _read(self, query: Callable[[sqlite3.Connection], _T]) -> _T:
        def read() -> _T:
            with self.database.read() as connection:
                return query(connection)

        return self._retried(read)

    def _put(self, entries: Sequence[Entry], wait: float | None) -> list[int | None]:
        with self._putting(wait) as putting:
            return [putting.one(entry) for entry in entries]

    def _put_groups(self, groups: Sequence[Sequence[Entry]], wait: float | None) -> list[bool]:
        with self._putting(wait) as putting:
            return [putting.group(group) for group in groups]

    @contextlib.contextmanager
    def _putting(self, wait: float | None) -> Iterator[Putting]:
        with self.database.write(wait=wait) as connection:
            id_of = partial(self._id, connection, create=True)
            putting = Putting(connection, self._share, id_of, self.clock(), self.database.path)
            yield putting
            putting.finish()

    def _settle(self, binding: Binding, settlements: list[Settlement], standing: Standing) -> None:
        with self.database.write(durable=False) as connection:
            destination = self._id(connection, binding, create=True)
            names = queries.STANDING.replace(", ", " = ?, ") + " = ?"
            connection.execute(
                f"UPDATE destination SET {names} WHERE id = ?",  # noqa: S608 - our own column names
                (*astuple(standing), destination),
            )
            delivered = [one for one in settlements if one.result == "delivered"]
            rows.deliver(connection, destination, delivered, self.clock(), receipts=self._receipt_seconds > 0)
            rows.postpone(connection, [one for one in settlements if one.result == "wait"], self.clock())
            for one in settlements:
                if one.result == "dead":
                    rows.bury(connection, one, self._share.holds_dead)

    def _id(self, connection: sqlite3.Connection, binding: Binding, *, create: bool = False) -> int:
        """Return a destination's row id, 0 if it has none.

        Ids are void once the database is another one or a transaction, which may have made one, was rolled back.
        """
        if self._generation != self.database.generation:
            self._ids.clear()
            self._generation = self.database.generation
        found = self._ids.get(binding, 0)
        if not found:
            found = rows.destination_id(connection, binding, create=create)
            if found:
                self._ids[binding] = found
        return found

    def _retried(self, action: Callable[[], _T]) -> _T:
        """Run an action once more where the database was found damaged, since a new one is in its place now."""
        try:
            return action()
        except SpoolCorruptError:
            return action()

    def _give_back(self) -> None:
        self.database.checkpoint()
        self.database.shrink()
        self.ballast.fill()

    def _stored(self, action: Callable[[], _T]) -> _T:
        """Run an action that stores events, unless it would take the room that deliveries need."""

        def store() -> _T:
            if not self.ballast.is_kept():
                fix = "Make room on it, or set a smaller spool_max_bytes."
                raise SpoolFullError("The disk has no room but what deliveries need.", path=str(self.folder), fix=fix)
            return action()

        if self._fillings.is_due():  # a process that never delivers never tidies, but fills the disk too
            self.ballast.fill()
        return self._retried(lambda: self._with_room(store))

    def _with_ballast(self, action: Callable[[], None]) -> None:
        try:
            self._retried(lambda: self._with_room(action))
        except SpoolFullError:
            if not self.ballast.drop():
                raise
            self._with_room(action)

    def _with_room(self, action: Callable[[], _T]) -> _T:
        """Run an action once more on a full disk, with the room that bringing in the log gives back."""
        try:
            return action()
        except SpoolFullError:
            with contextlib.suppress(SpoolError):
                self.database.checkpoint()
            return action()
