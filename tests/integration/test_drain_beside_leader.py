"""A drain while another process leads: waited for, or left to that one."""

from __future__ import annotations

import time

import pytest
from support.couriers import entry, post
from support.destinations import destination
from support.events import tree

from truewatch_lineage.courier.leader import Leader

TIMEOUT = 1.0


@pytest.mark.parametrize(("follow", "waits"), [(True, True), (False, False)])
def test_a_drain_waits_for_the_leader_only_where_it_is_told_to(tmp_path, follow, waits):
    """An Airflow task that ends beside a courier has nothing to wait for: the other one goes on."""
    there = destination("http://127.0.0.1:9")
    with post(tmp_path / "spool", there) as ours:
        ours.store.put([entry(there, tree())])
        other = Leader(ours.store, there, 1)
        assert other.try_lead()
        began = time.monotonic()
        ours.courier.drain(TIMEOUT, follow=follow)
        took = time.monotonic() - began
        other.resign()
        other.close()
    assert (took >= TIMEOUT) if waits else (took < TIMEOUT / 2)
