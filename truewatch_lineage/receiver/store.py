"""The receiver's SQLite file: an event is acknowledged only after its commit, and many share one commit."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from truewatch_lineage.errors import ConfigError

T = TypeVar("T")
SCHEMA_VERSION = 1
MAX_PAGE_BYTES = 32 * 1024 * 1024
"""One answer of the API holds no more of events than this."""

_SCHEMA = """
CREATE TABLE events (
    event_id TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    event_type TEXT,
    event_time TEXT,
    run_id TEXT,
    job_namespace TEXT,
    job_name TEXT,
    size INTEGER NOT NULL,
    body BLOB NOT NULL
) WITHOUT ROWID;
CREATE INDEX events_by_run ON events (run_id);
CREATE INDEX events_by_job ON events (job_namespace, job_name);
CREATE TABLE arrivals (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    event_id TEXT NOT NULL,
    destination TEXT NOT NULL,
    warnings TEXT NOT NULL,
    copies INTEGER NOT NULL DEFAULT 1,
    arrived_at REAL NOT NULL,
    last_at REAL NOT NULL,
    UNIQUE (event_id, destination)
);
"""
_ADD_EVENT = "INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"
_ADD_ARRIVAL = (
    "INSERT INTO arrivals (event_id, destination, warnings, arrived_at, last_at) VALUES (?, ?, ?, ?, ?) "
    "ON CONFLICT DO UPDATE SET copies = copies + 1, last_at = excluded.last_at"
)
_FILTERS = ("run_id", "job_namespace", "job_name", "event_id", "destination")


@dataclass(frozen=True, slots=True)
class Arrival:
    """An accepted event as it came.

    Attributes:
        event_id: The sha256 of its decoded bytes, in hex: the same bytes are the same event.
        destination: The name of the rules that took it.
        arrived_at: Seconds since the epoch.
        warnings: What the rules advise, a JSON array.
        kind: ``RunEvent``, ``JobEvent`` or ``DatasetEvent``.
        event_type, event_time, run_id, job_namespace, job_name: From the event; None where absent.
        size: Its decoded bytes.
        body: Its JSON, redacted.
    """

    event_id: str
    destination: str
    arrived_at: float
    warnings: str
    kind: str
    event_type: str | None
    event_time: str | None
    run_id: str | None
    job_namespace: str | None
    job_name: str | None
    size: int
    body: bytes


class Store:
    """The file, written by one thread and read by another.

    ``synchronous=NORMAL``: a commit survives kill -9, which is what an answer promises; a power cut may cost the last
    ones, which a test receiver can bear.

    Args:
        path: The file; made with mode 0600 if absent.

    Raises:
        ConfigError: It can't be opened or is no receiver's file.
    """

    def __init__(self, path: Path) -> None:
        self._pending: list[tuple[Arrival, asyncio.Future[None]]] = []
        self._flusher: asyncio.Task[None] | None = None
        self._writing = ThreadPoolExecutor(1, "receiver-writer")
        self._reading = ThreadPoolExecutor(1, "receiver-reader")
        self._writer = _open(path)
        self._reader = _connect(path)

    async def add(self, arrival: Arrival) -> None:
        """Keep an event, or count it once more; returns after the commit. Raises sqlite3.Error."""
        done = asyncio.get_running_loop().create_future()
        self._pending.append((arrival, done))
        if self._flusher is None:
            self._flusher = asyncio.create_task(self._flush())
        await done

    async def page(self, filters: dict[str, str], *, after: int, limit: int) -> list[dict[str, Any]]:
        """Return arrivals in their order, each with its event's row; at most ``limit``, of ``MAX_PAGE_BYTES``.

        Args:
            filters: ``run_id``, ``job_namespace``, ``job_name``, ``event_id`` and ``destination``; others are ignored.
            after: Only arrivals with a greater ``seq``.
            limit: How many at most.
        """
        return await self._run(self._reading, lambda: list(self._select(filters, after, limit)))

    async def counts(self) -> tuple[int, int]:
        """Return how many (event, destination) pairs are stored and how many duplicates of them came."""
        query = "SELECT COUNT(*), COALESCE(SUM(copies - 1), 0) FROM arrivals"
        row = await self._run(self._reading, lambda: self._reader.execute(query).fetchone())
        return row[0], row[1]

    async def clear(self) -> None:
        """Forget every event."""
        await self._run(self._writing, self._clear)

    def close(self) -> None:
        """Finish what is being written and close the file."""
        for pool in (self._writing, self._reading):
            pool.shutdown()
        self._reader.close()
        self._writer.close()

    @staticmethod
    async def _run(pool: ThreadPoolExecutor, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(pool, work)

    async def _flush(self) -> None:
        while self._pending:
            batch, self._pending = self._pending, []
            arrivals = [arrival for arrival, _ in batch]
            try:
                await self._run(self._writing, lambda rows=arrivals: self._commit(rows))  # type: ignore[misc]
            except sqlite3.Error as error:
                _settle(batch, error)
            else:
                _settle(batch, None)
        self._flusher = None

    def _commit(self, arrivals: Sequence[Arrival]) -> None:
        events = [
            (
                item.event_id,
                item.kind,
                item.event_type,
                item.event_time,
                item.run_id,
                item.job_namespace,
                item.job_name,
                item.size,
                item.body,
            )
            for item in arrivals
        ]
        taken = [
            (item.event_id, item.destination, item.warnings, item.arrived_at, item.arrived_at) for item in arrivals
        ]
        with _transaction(self._writer):
            self._writer.executemany(_ADD_EVENT, events)
            self._writer.executemany(_ADD_ARRIVAL, taken)

    def _select(self, filters: dict[str, str], after: int, limit: int) -> Iterator[dict[str, Any]]:
        wanted = {name: filters[name] for name in _FILTERS if name in filters}
        where = "".join(f" AND {name} = :{name}" for name in wanted)
        query = (
            "SELECT * FROM arrivals JOIN events USING (event_id) "  # noqa: S608 - names come from _FILTERS
            f"WHERE seq > :after{where} ORDER BY seq LIMIT :limit"
        )
        total = 0
        with contextlib.closing(self._reader.execute(query, {**wanted, "after": after, "limit": limit})) as rows:
            for row in rows:
                total += row["size"]
                if total > MAX_PAGE_BYTES and total > row["size"]:
                    return
                yield dict(row)

    def _clear(self) -> None:
        with _transaction(self._writer):
            self._writer.execute("DELETE FROM arrivals")
            self._writer.execute("DELETE FROM events")


def _settle(batch: list[tuple[Arrival, asyncio.Future[None]]], error: sqlite3.Error | None) -> None:
    for _, done in batch:
        if done.done():
            continue
        if error is None:
            done.set_result(None)
        else:
            done.set_exception(error)


@contextlib.contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _open(path: Path) -> sqlite3.Connection:
    try:
        with contextlib.suppress(FileExistsError):
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        connection = _connect(path)
        _prepare(connection, path)
    except (OSError, sqlite3.Error) as error:
        fix = "Name a file of this receiver, or a new one in a folder that exists."
        raise ConfigError(f"The receiver can't use {path}: {error}.", key="--data", fix=fix) from error
    return connection


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=10, isolation_level=None, check_same_thread=False)
    connection.row_factory = sqlite3.Row
    connection.execute("PRAGMA synchronous = NORMAL")
    return connection


def _prepare(connection: sqlite3.Connection, path: Path) -> None:
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    filled = connection.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()[0]
    if version != SCHEMA_VERSION and (version or filled):
        raise ConfigError(
            f"{path} was made by another version or another program.",
            key="--data",
            fix="Name a new file, or delete this one.",
        )
    connection.execute("PRAGMA journal_mode = WAL")
    if not filled:
        connection.executescript(f"BEGIN; {_SCHEMA} PRAGMA user_version = {SCHEMA_VERSION}; COMMIT;")
