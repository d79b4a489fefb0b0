"""An event behind one that waits, while another process leads."""

from __future__ import annotations

import time

import pytest
from support.couriers import Clock, entry, post
from support.destinations import destination
from support.events import tree

from truewatch_lineage.courier.leader import Leader, binding_of
from truewatch_lineage.spool import Settlement, Standing

BUDGET = 5.0


@pytest.mark.parametrize(("due_in", "is_waited_for"), [(60.0, False), (0.0, True)])
def test_no_budget_is_spent_on_a_lane_that_waits(tmp_path, due_in, is_waited_for):
    """Design section 4: "a waiting head stops only its own lane"; nobody has to watch it wait."""
    there, clock = destination("http://127.0.0.1:9"), Clock()
    binding = binding_of(there)
    with post(tmp_path / "spool", there, clock=clock) as ours:
        first, second = ours.store.put([entry(there, tree()), entry(there, tree(eventType="COMPLETE"))])
        failed = Settlement(first, 1, "wait", "503", 503, due=clock.now + due_in)
        ours.store.settle(binding, [failed], Standing(attempts=1, passed_at=1))
        other = Leader(ours.store, there, 1)
        assert other.try_lead()
        began = time.monotonic()
        ours.courier.deliver({binding: second}, began + (0.5 if is_waited_for else BUDGET))
        took = time.monotonic() - began
        other.resign()
        other.close()
    assert (took >= 0.5) if is_waited_for else (took < BUDGET / 2)
