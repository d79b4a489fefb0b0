"""The receiver's store: an event is acknowledged only after its commit, and many share one commit."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Concatenate, Final, ParamSpec, TypeVar

from truewatch_lineage.receiver.arrival import Entry
from truewatch_lineage.receiver.retention import Keep, Retention
from truewatch_lineage.receiver.schema import connect, open_file
from truewatch_lineage.receiver.writer import Stored, Writer

T = TypeVar("T")
P = ParamSpec("P")
Listener = Callable[[Sequence[Entry], Sequence[Stored]], None]

MAX_BATCH: Final = 256
"""Entries of one commit; the next ones wait for the commit after it."""

_SWEEP_SECONDS: Final = 60.0


class Store:
    """The file, written by one thread and read by another.

    Args:
        path: The file; made with mode 0600 if absent.
        keep: How much is kept.

    Attributes:
        listeners: Called on the event loop after each commit with what was committed and which events are new.

    Raises:
        ConfigError: It can't be opened or is no receiver's file.
    """

    def __init__(self, path: Path, keep: Keep | None = None) -> None:
        self.path = path
        self.keep = keep or Keep()
        self.listeners: list[Listener] = []
        self._pending: list[tuple[Entry, asyncio.Future[None]]] = []
        self._flusher: asyncio.Task[None] | None = None
        self._writing = ThreadPoolExecutor(1, "receiver-writer")
        self._reading = ThreadPoolExecutor(1, "receiver-reader")
        self._connection = open_file(path)
        self._writer = Writer(self._connection)
        self._retention = Retention(self._connection, self.keep)
        self._reader = connect(path)

    async def add(self, entry: Entry) -> None:
        """Keep an event, or count it once more, or note a refusal; returns after the commit. Raises sqlite3.Error."""
        done = asyncio.get_running_loop().create_future()
        self._pending.append((entry, done))
        if self._flusher is None:
            self._flusher = asyncio.create_task(self._flush())
        await done

    def fill(self, entries: Sequence[Entry]) -> None:
        """Keep events before the receiver serves, in one commit. Raises sqlite3.Error."""
        self._commit(entries)

    async def read(self, work: Callable[Concatenate[sqlite3.Connection, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a query of ``queries.py`` or ``graph.py`` in the reading thread and return what it returns."""
        return await _run(self._reading, lambda: work(self._reader, *args, **kwargs))

    async def clear(self) -> None:
        """Forget every event."""
        await _run(self._writing, self._writer.clear)

    async def keep_sweeping(self) -> None:
        """Take away what is too old, also while nothing comes; runs until cancelled."""
        while True:
            with contextlib.suppress(sqlite3.Error):  # the next commit tells whoever sends
                while await _run(self._writing, lambda: self._retention.sweep(time.time())):
                    pass
            await asyncio.sleep(_SWEEP_SECONDS)

    def close(self) -> None:
        """Finish what is being written and close the file."""
        for pool in (self._writing, self._reading):
            pool.shutdown()
        self._reader.close()
        self._connection.close()

    async def _flush(self) -> None:
        while self._pending:
            batch, self._pending = self._pending[:MAX_BATCH], self._pending[MAX_BATCH:]
            entries = [entry for entry, _ in batch]
            try:
                stored = await _run(self._writing, lambda rows=entries: self._commit(rows))  # type: ignore[misc]
            except sqlite3.Error as error:
                _settle(batch, error)
            else:
                _settle(batch, None)
                for listener in self.listeners:
                    listener(entries, stored)
        self._flusher = None

    def _commit(self, entries: Sequence[Entry]) -> list[Stored]:
        stored = self._writer.commit(entries)
        with contextlib.suppress(sqlite3.Error):  # what was committed is acknowledged; a later sweep catches up
            self._retention.sweep(time.time())
        return stored


async def _run(pool: ThreadPoolExecutor, work: Callable[[], T]) -> T:
    return await asyncio.get_running_loop().run_in_executor(pool, work)


def _settle(batch: list[tuple[Entry, asyncio.Future[None]]], error: sqlite3.Error | None) -> None:
    for _, done in batch:
        if done.done():
            continue
        if error is None:
            done.set_result(None)
        else:
            done.set_exception(error)
