"""The spool's tables, and how a connection to them is opened."""

from __future__ import annotations

import sqlite3
import sys
from pathlib import Path
from typing import Final

from truewatch_lineage.errors import SpoolCorruptError, SpoolTooNewError

VERSION: Final = 1
PENDING: Final = 0
DEAD: Final = 1
MOSTLY: Final = 0.75
SMALL: Final = 256
"""Pages (1 MiB): a file that is not worth shrinking."""

SHRINK_PAGES: Final = 1024
"""So few at a time that SQLite's cache holds them: what it spills goes through the log."""

TABLES: Final = """
CREATE TABLE meta (
    key   TEXT PRIMARY KEY,
    value BLOB NOT NULL
) WITHOUT ROWID;

-- A destination as events were bound to it: a deliverer takes only rows where name, kind and url are its own.
CREATE TABLE destination (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    name        TEXT NOT NULL,
    kind        TEXT NOT NULL,
    url         TEXT NOT NULL,
    state       TEXT NOT NULL DEFAULT 'ready',  -- ready, paused, parked
    reason      TEXT,
    until       REAL,                           -- epoch seconds of the next probe
    failures    INTEGER NOT NULL DEFAULT 0,     -- in a row, of the destination itself
    attempts    INTEGER NOT NULL DEFAULT 0,     -- number of the last attempt: compared instead of clocks
    stopped_at  INTEGER NOT NULL DEFAULT 0,     -- the attempt that paused or parked it
    passed_at   INTEGER NOT NULL DEFAULT 0,     -- the last attempt that was delivered
    passed_with TEXT,                           -- fingerprint of the settings of that attempt
    parked_with TEXT,                           -- fingerprint of the settings that were parked
    delivered   INTEGER NOT NULL DEFAULT 0,
    cached      INTEGER NOT NULL DEFAULT 0,
    not_json    INTEGER NOT NULL DEFAULT 0,
    skipped     INTEGER NOT NULL DEFAULT 0,
    tombstones  INTEGER NOT NULL DEFAULT 0,
    bytes       INTEGER NOT NULL DEFAULT 0,     -- of bodies, pending and dead
    dead_bytes  INTEGER NOT NULL DEFAULT 0,     -- of bodies of dead letters alone
    used        REAL NOT NULL DEFAULT 0,        -- when a process last had these settings
    UNIQUE (name, kind, url)
);

CREATE TABLE body (
    id     INTEGER PRIMARY KEY AUTOINCREMENT,
    digest BLOB NOT NULL UNIQUE,                -- sha256 of data, so that equal bodies are stored once
    data   BLOB NOT NULL,                       -- gzip
    refs   INTEGER NOT NULL
);

-- AUTOINCREMENT, since a plain rowid is used again once the table drains and the id is the order of emit.
CREATE TABLE event (
    id             INTEGER PRIMARY KEY AUTOINCREMENT,
    destination_id INTEGER NOT NULL,
    body_id        INTEGER,
    lane           TEXT NOT NULL,
    state          INTEGER NOT NULL,            -- 0 pending, 1 dead
    head           INTEGER NOT NULL,            -- 1: the first pending one of its lane, the only one that may leave
    due            REAL NOT NULL DEFAULT 0,     -- epoch seconds
    attempts       INTEGER NOT NULL DEFAULT 0,
    failed_at      INTEGER NOT NULL DEFAULT 0,  -- number of the first attempt of this event that failed
    failed_first   REAL,                        -- epoch seconds of that attempt
    event_type     TEXT,
    job            TEXT,
    run_id         TEXT,
    reason         TEXT,
    status         INTEGER,
    bytes          INTEGER NOT NULL,
    created        REAL NOT NULL
);
CREATE INDEX event_head ON event (destination_id, id) WHERE head = 1;
CREATE INDEX event_lane ON event (destination_id, lane, id) WHERE state = 0;
CREATE INDEX event_dead ON event (destination_id, id) WHERE state = 1;
CREATE INDEX event_body ON event (body_id);

CREATE TABLE receipt (
    id             INTEGER PRIMARY KEY,         -- the event's
    destination_id INTEGER NOT NULL,
    event_type     TEXT,
    job            TEXT,
    run_id         TEXT,
    status         INTEGER,
    note           TEXT,
    attempts       INTEGER NOT NULL,
    created        REAL NOT NULL,
    delivered      REAL NOT NULL
);
CREATE INDEX receipt_delivered ON receipt (delivered);
CREATE INDEX receipt_run ON receipt (run_id);

-- The key makes fingerprints of tokens useless outside of this spool.
INSERT INTO meta VALUES
    ('fingerprint_key', randomblob(16)),
    ('created', (julianday('now') - 2440587.5) * 86400);
"""


def connect(path: Path, *, full: bool, busy: float) -> sqlite3.Connection:
    """Open the database and make its tables if they are missing.

    The caller holds the write lock, so that two processes never make the tables at once.

    Args:
        path: The file, which must exist with mode 0600, since SQLite would make it 0644.
        full: ``synchronous=FULL``: a commit survives a power cut. Otherwise NORMAL: it survives a kill.
        busy: Seconds that SQLite waits for a lock.

    Raises:
        SpoolTooNewError: If a newer version of this package wrote it.
        SpoolCorruptError: If its tables are not ours.
        sqlite3.Error: Whatever SQLite says.
    """
    connection = sqlite3.connect(path, timeout=busy, isolation_level=None, check_same_thread=False)
    try:
        _prepare(connection, path, full=full)
    except BaseException:
        connection.close()
        raise
    return connection


def _prepare(connection: sqlite3.Connection, path: Path, *, full: bool) -> None:
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    if version > VERSION:
        raise SpoolTooNewError(
            f"A newer version of truewatch-lineage made this spool (format {version}; this one knows {VERSION}).",
            path=str(path),
            fix="Upgrade this installation, or give it a spool_dir of its own.",
        )
    if version == 0:  # has to be chosen before the first page is written; lets the file shrink after an outage
        connection.execute("PRAGMA auto_vacuum=INCREMENTAL").fetchone()
    connection.execute("PRAGMA journal_mode=WAL").fetchone()
    set_synchronous(connection, full=full)
    connection.execute("PRAGMA wal_autocheckpoint=0").fetchone()
    # The log shrinks when it starts anew, so that its size tells how much a checkpoint has to do.
    connection.execute("PRAGMA journal_size_limit=0").fetchone()
    # Debian's SQLite overwrites a deleted body page by page, each of which would go through the log.
    connection.execute("PRAGMA secure_delete=FAST").fetchone()
    if sys.platform == "darwin":  # fsync alone does not reach the platter there
        connection.execute("PRAGMA fullfsync=1")
        connection.execute("PRAGMA checkpoint_fullfsync=1")
    if version == 0:
        _create(connection, path)
    elif not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'event'").fetchone():
        raise SpoolCorruptError("The spool has no table of events.", path=str(path))


def _create(connection: sqlite3.Connection, path: Path) -> None:
    if connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone():
        raise SpoolCorruptError("The file is an SQLite database, but no spool.", path=str(path))
    # One transaction: a kill between two would leave tables without a key.
    connection.executescript(f"BEGIN IMMEDIATE; {TABLES} PRAGMA user_version = {VERSION}; COMMIT;")


def set_synchronous(connection: sqlite3.Connection, *, full: bool) -> None:
    """Choose what the next commits survive: a power cut (FULL) or a kill (NORMAL)."""
    connection.execute(f"PRAGMA synchronous={'FULL' if full else 'NORMAL'}")


def checkpoint(connection: sqlite3.Connection, mode: str, *, busy: float) -> None:
    """Bring the log's content into the database, as far as readers in other processes allow.

    Syncs whatever the level. Nobody waits for a reader, since all writers would wait with us.

    Args:
        connection: Not in a transaction; its process holds the write lock.
        mode: ``PASSIVE``, or ``TRUNCATE`` to empty the log too.
        busy: As `connect`.

    Raises:
        sqlite3.Error: Whatever SQLite says.
    """
    connection.execute("PRAGMA busy_timeout=0").fetchone()
    try:
        connection.execute(f"PRAGMA wal_checkpoint({mode})").fetchall()
    finally:
        connection.execute(f"PRAGMA busy_timeout={int(busy * 1000)}").fetchone()


def limit_pages(connection: sqlite3.Connection, reserved: int) -> None:
    """Keep the database some pages below the process's limit on file sizes, if it has one.

    A page beyond it could be committed to the log, but no checkpoint could ever bring it in.
    """
    if sys.platform == "win32":  # pragma: no cover - no such limit there
        return
    import resource  # noqa: PLC0415 - not on Windows

    limit = resource.getrlimit(resource.RLIMIT_FSIZE)[0]
    if limit != resource.RLIM_INFINITY:
        pages = limit // int(connection.execute("PRAGMA page_size").fetchone()[0]) - reserved
        connection.execute(f"PRAGMA max_page_count={max(pages, 1)}").fetchone()


def shrink(connection: sqlite3.Connection) -> bool:
    """Give some pages back to the disk where most of the file is free, as after an outage; not in a transaction.

    Returns:
        Whether there were any to give; they go with the next checkpoint.
    """
    pages, free = (connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "freelist_count"))
    is_worth_it: bool = free > pages * MOSTLY and pages > SMALL
    if is_worth_it:
        connection.executescript(f"PRAGMA incremental_vacuum({SHRINK_PAGES})")  # `execute` would stop after one page
    return is_worth_it
