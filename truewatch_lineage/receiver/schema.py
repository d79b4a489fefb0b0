"""The receiver's SQLite file: its tables, opened only if they are ours."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from truewatch_lineage.errors import ConfigError

VERSION: Final = 2
_PAGE_BYTES: Final = 8192
_CHECKPOINT_PAGES: Final = 4000

TABLES: Final = """
CREATE TABLE events (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    event_id TEXT,
    kind TEXT NOT NULL,
    event_type TEXT,
    event_time TEXT,
    run_id TEXT,
    job_namespace TEXT,
    job_name TEXT,
    dataset_namespace TEXT,
    dataset_name TEXT,
    size INTEGER,
    at REAL NOT NULL,
    counts TEXT NOT NULL,
    body BLOB NOT NULL,
    records BLOB NOT NULL
);
CREATE INDEX events_by_id ON events (event_id);
CREATE INDEX events_by_run ON events (run_id);
CREATE INDEX events_by_job ON events (job_namespace, job_name);
CREATE INDEX events_by_dataset ON events (dataset_namespace, dataset_name) WHERE dataset_name IS NOT NULL;
CREATE TABLE arrivals (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    event INTEGER NOT NULL,
    destination TEXT NOT NULL,
    warnings TEXT NOT NULL,
    copies INTEGER NOT NULL DEFAULT 1,
    arrived_at REAL NOT NULL,
    last_at REAL NOT NULL,
    UNIQUE (event, destination)
);
CREATE TABLE nodes (
    node INTEGER PRIMARY KEY,
    type TEXT NOT NULL,
    namespace TEXT NOT NULL,
    name TEXT NOT NULL,
    field TEXT NOT NULL,
    ref TEXT NOT NULL,
    parent INTEGER,
    info TEXT NOT NULL,
    touched INTEGER NOT NULL,
    UNIQUE (type, namespace, name, field)
);
CREATE INDEX nodes_by_ref ON nodes (ref);
CREATE INDEX nodes_by_parent ON nodes (parent) WHERE parent IS NOT NULL;
CREATE TABLE edges (
    source INTEGER NOT NULL,
    target INTEGER NOT NULL,
    job INTEGER NOT NULL,
    type TEXT NOT NULL,
    info TEXT NOT NULL,
    touched INTEGER NOT NULL,
    PRIMARY KEY (source, target, job)
) WITHOUT ROWID;
CREATE INDEX edges_by_target ON edges (target, source, job);
CREATE TABLE runs (
    run_id TEXT NOT NULL,
    job INTEGER NOT NULL,
    state TEXT,
    state_at REAL NOT NULL,
    started REAL,
    ended REAL,
    first REAL NOT NULL,
    last REAL NOT NULL,
    events INTEGER NOT NULL,
    info TEXT NOT NULL,
    touched INTEGER NOT NULL,
    PRIMARY KEY (run_id, job)
) WITHOUT ROWID;
CREATE INDEX runs_by_job ON runs (job, first);
CREATE INDEX runs_by_time ON runs (first);
CREATE INDEX runs_open ON runs (first) WHERE ended IS NULL;
CREATE TABLE totals (name TEXT PRIMARY KEY, n INTEGER NOT NULL) WITHOUT ROWID;
"""


def open_file(path: Path) -> sqlite3.Connection:
    """Open the file for writing, made with mode 0600 and filled with the tables if it is absent.

    ``synchronous=NORMAL``: a commit survives kill -9, which is what an answer promises; a power cut may cost the last
    ones, which a test receiver can bear.

    Raises:
        ConfigError: It can't be opened or is no receiver's file.
    """
    try:
        with contextlib.suppress(FileExistsError):
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        connection = connect(path)
        _prepare(connection, path)
    except (OSError, sqlite3.Error) as error:
        fix = "Name a file of this receiver, or a new one in a folder that exists."
        raise ConfigError(f"The receiver can't use {path}: {error}.", key="--data", fix=fix) from error
    return connection


def connect(path: Path) -> sqlite3.Connection:
    """Open the file without looking at what it holds."""
    connection = sqlite3.connect(path, timeout=10, isolation_level=None, check_same_thread=False)
    connection.row_factory = sqlite3.Row
    connection.execute("PRAGMA synchronous = NORMAL")
    return connection


@contextlib.contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Commit what is done within, or nothing of it."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise


def _prepare(connection: sqlite3.Connection, path: Path) -> None:
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    filled = connection.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()[0]
    if version != VERSION and (version or filled):
        raise ConfigError(
            f"{path} was made by another program, or by another version of the receiver ({version}, not {VERSION}).",
            key="--data",
            fix="Name a new file, or delete this one.",
        )
    if not filled:
        connection.execute(f"PRAGMA page_size = {_PAGE_BYTES}")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute(f"PRAGMA wal_autocheckpoint = {_CHECKPOINT_PAGES}")
    if not filled:
        connection.executescript(f"BEGIN; {TABLES} PRAGMA user_version = {VERSION}; COMMIT;")
