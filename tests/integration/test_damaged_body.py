"""A body that went bad on the disk."""

from __future__ import annotations

from dataclasses import replace

from support.couriers import entry, post
from support.destinations import destination
from support.events import tree
from support.raw_server import RawServer, answer

from truewatch_lineage.courier import binding_of


def test_a_body_that_can_not_be_unpacked_is_a_dead_letter_and_stops_nobody(tmp_path):
    """The thread that finds it goes on; what can't be sent is told, and the next lane's event leaves."""
    with RawServer([], default=answer(201)) as server:
        there = destination(server.url, "portal")
        bad = replace(entry(there, tree(run={"runId": "bad"})), body=b"no gzip")
        with post(tmp_path / "spool", there) as ours:
            ours.store.put([bad, entry(there, tree(run={"runId": "good"}))])
            ours.courier.drain(10)
            with ours.store.database.read() as connection:
                left = connection.execute("SELECT run_id, state, reason FROM event").fetchall()
            assert ours.store.pending(binding_of(there)) == 0
        assert left == [("bad", 1, "its body in the spool is damaged")]
        assert len(server.requests) == 1
