"""What errors mean for a spool, and how a damaged one is put away: `salvage` saves its rows."""

from __future__ import annotations

import contextlib
import errno
import logging
import os
import sqlite3
import time
from pathlib import Path
from typing import Final

from truewatch_lineage.errors import (
    SpoolBusyError,
    SpoolCorruptError,
    SpoolError,
    SpoolFullError,
    SpoolUnusableError,
)
from truewatch_lineage.spool import folder as folders
from truewatch_lineage.spool import schema
from truewatch_lineage.spool.salvage import salvage

log = logging.getLogger(__name__)

DISK_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_LARGEST_PAGE: Final = 65_536
_LOGS: Final = ("-wal", "-shm", "-journal")

# Python 3.10 has no error codes on its exceptions, so the texts of sqlite3ErrStr decide.
MEANINGS: Final[tuple[tuple[str, type[SpoolError], str], ...]] = (
    ("malformed", SpoolCorruptError, "The spool's file is damaged."),
    ("could not decode", SpoolCorruptError, "The spool's file holds a text that is none."),
    ("unsupported file format", SpoolCorruptError, "The spool's file is damaged."),
    ("not a database", SpoolCorruptError, "The spool's file is no SQLite database."),
    ("no such table", SpoolCorruptError, "The spool's file lacks a table."),
    ("no such column", SpoolCorruptError, "The spool's file lacks a column."),
    ("full", SpoolFullError, "The disk is full."),
    (
        "disk i/o error",
        SpoolFullError,
        "The disk can't be written to: it is full, or a limit on file sizes is reached.",
    ),
    ("locked", SpoolBusyError, "Other programs kept the spool locked."),
    ("locking protocol", SpoolBusyError, "Other programs kept the spool locked."),
    ("readonly", SpoolUnusableError, "The spool can't be written to."),
    ("unable to open", SpoolUnusableError, "The spool can't be opened."),
)


def explain(error: sqlite3.Error | OSError, path: Path) -> SpoolError:
    """Turn an error of SQLite or of the system into ours."""
    if isinstance(error, OSError):
        if error.errno in DISK_FULL:
            return SpoolFullError(f"The disk is full ({error.strerror}).", path=str(path))
        return SpoolUnusableError(f"The spool can't be used: {error.strerror or error}.", path=str(path))
    text = str(error).lower()
    for part, cls, problem in MEANINGS:
        if part in text:
            if cls is SpoolFullError and not os.access(path.parent, os.W_OK):
                return SpoolUnusableError("The spool can't be written to any more.", path=str(path))
            return cls(problem, path=str(path))
    return SpoolUnusableError(f"The spool can't be used: {error}.", path=str(path))


def move_aside(path: Path, inode: tuple[int, int], *, busy: float) -> None:
    """Put a new database, with what can be read of the damaged one, in its place, and keep the damaged one.

    The caller holds the write lock. Another process may have done it already: then the file is no longer the one that
    was found damaged, and nothing happens. Until the new one is complete and safe on the disk, nothing is moved, so a
    kill or a power cut before costs nothing; after one in between, `complete` does the rest.

    Args:
        path: The database.
        inode: Device and inode of the file that was found damaged.
        busy: As `schema.connect`.

    Raises:
        OSError: If the files can't be renamed.
        SpoolError: If the new file can't be made, or the disk has not enough room for it.
        sqlite3.Error: If the new file can't be written, as on a full disk.
    """
    found = path.stat()
    if (found.st_dev, found.st_ino) != inode:
        return
    saved = _build(path, busy)
    away = _away(path)
    path.rename(away)
    complete(path)
    log.error(
        "The lineage spool was damaged: it was moved to %s, a new one was begun, and %d waiting events were saved.",
        away,
        saved,
    )


def give_page(path: Path) -> None:
    """Give a database that was cut to nothing one page, since SQLite deletes an empty one's log, events and all.

    Raises:
        OSError: If it can't be lengthened.
    """
    log_file = Path(f"{path}-wal")
    if not path.stat().st_size and log_file.exists() and log_file.stat().st_size:
        os.truncate(path, _LARGEST_PAGE)


def complete(path: Path) -> None:
    """Put the salvaged database where the damaged one was; nothing happens unless that one has been moved away.

    Each step is made durable before the next: a log that outlived its database would be taken for the new one's.

    Raises:
        OSError: If the files can't be renamed.
    """
    fresh = _fresh(path)
    if path.exists() or not fresh.exists():
        return
    away = _away(path)
    folders.sync_folder(path.parent)
    for suffix in _LOGS:
        _move(f"{path}{suffix}", f"{away}{suffix}")
    folders.sync_folder(path.parent)
    fresh.rename(path)
    folders.sync_folder(path.parent)


def _away(path: Path) -> Path:
    return Path(f"{path}.corrupt-{time.strftime('%Y%m%dT%H%M%S', time.gmtime())}-{os.getpid()}")


def _fresh(path: Path) -> Path:
    return Path(f"{path}.salvaged")


def _move(old: str, new: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.rename(old, new)  # noqa: PTH104 - the suffix is no path of its own


def _build(path: Path, busy: float) -> int:
    """Make the new database under another name, durably; returns how many waiting events were saved."""
    draft = Path(f"{path}.salvaging")
    _discard(draft)
    try:
        folders.create_file(draft)
        with contextlib.closing(schema.connect(draft, full=True, busy=busy)) as new:
            saved = salvage(path, new)
        draft.rename(_fresh(path))
    except BaseException:
        _discard(draft)
        raise
    folders.sync_folder(path.parent)
    return saved


def _discard(draft: Path) -> None:
    for suffix in ("", *_LOGS):
        Path(f"{draft}{suffix}").unlink(missing_ok=True)
