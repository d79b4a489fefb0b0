"""Forgetting receipts: those that are too old, and those above a number, so that they never fill the disk."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Final

BYTES: Final = 200
"""What one takes in the database, measured."""

AT_ONCE: Final = 20_000
"""So many in one transaction (40 ms), since whoever stores events waits for it."""

Write = Callable[[], AbstractContextManager[sqlite3.Connection]]


def forget(write: Write, before: float, most: int) -> None:
    """Delete receipts, the oldest first, in transactions that are short.

    Args:
        write: Begins a transaction.
        before: Epoch seconds: whatever was delivered earlier.
        most: How many may stay.

    Raises:
        SpoolError: If it could not be written.
    """
    _delete(write, "delivered < ?", before)
    with write() as connection:
        row = connection.execute("SELECT id FROM receipt ORDER BY id DESC LIMIT 1 OFFSET ?", (most,)).fetchone()
    if row is not None:
        _delete(write, "id <= ?", row[0])


def _delete(write: Write, condition: str, value: float) -> None:
    statement = f"DELETE FROM receipt WHERE id IN (SELECT id FROM receipt WHERE {condition} LIMIT {AT_ONCE})"  # noqa: S608 - ours
    gone = AT_ONCE
    while gone == AT_ONCE:
        with write() as connection:
            gone = connection.execute(statement, (value,)).rowcount
