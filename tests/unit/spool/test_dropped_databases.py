"""Databases that nobody closes: the garbage collector closes them, in the middle of anything."""

from __future__ import annotations

import threading

from truewatch_lineage.spool import locks
from truewatch_lineage.spool.database import Database


def test_the_collector_may_drop_a_database_while_its_thread_opens_a_lock(tmp_path):
    """Any allocation may run the collector, also inside the few lines that open a lock file."""
    database = Database(tmp_path)
    with database.write() as connection:
        connection.execute("SELECT 1")
    dropped = threading.Event()

    def drop_inside():
        nonlocal database
        with locks._opening:
            del database
        dropped.set()

    thread = threading.Thread(target=drop_inside, daemon=True)
    thread.start()
    assert dropped.wait(10)
