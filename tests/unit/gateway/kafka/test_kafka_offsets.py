"""What may be committed of a partition."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from truewatch_lineage.gateway.kafka.offsets import Offsets


@given(st.lists(st.integers(1, 3), min_size=1, max_size=30), st.randoms())
def test_nothing_is_committed_past_an_event_that_is_not_done(gaps, dice):
    """Whatever the order in which events are done, and with gaps as transactions and compaction leave them."""
    offsets, places, at = Offsets(0), [], 100
    for gap in gaps:
        places.append((at, offsets.take(at)))
        at += gap
    left = dict(places)
    assert (offsets.first, offsets.position, len(offsets)) == (100, None, len(places))
    for offset, mark in dice.sample(places, len(places)):
        offsets.done(mark)
        del left[offset]
        first = min(left, default=None)
        before = [one for one, _ in places if first is None or one < first]
        assert offsets.position == (before[-1] + 1 if before else None)
        assert len(offsets) == len(places)


def test_the_same_offset_may_come_again():
    """A topic that was made anew begins at its old offsets: each event counts by itself."""
    offsets = Offsets(0)
    first, second = offsets.take(5), offsets.take(5)
    offsets.done(second)
    assert (offsets.position, len(offsets)) == (None, 2)
    offsets.done(first)
    assert offsets.position == 6


def test_what_is_read_counts_until_it_is_committed():
    """So many events are delivered twice after a kill."""
    offsets = Offsets(0)
    marks = [offsets.take(offset) for offset in range(4)]
    assert offsets.ask() is None
    offsets.done(marks[0])
    assert (offsets.ask(), len(offsets)) == (1, 4)
    offsets.done(marks[1])
    assert offsets.ask() is None
    offsets.answer(1, committed=True)
    assert (offsets.committed, len(offsets), offsets.ask()) == (1, 3, 2)


def test_a_commit_that_failed_is_asked_for_again():
    """And an answer that was not waited for changes nothing."""
    offsets = Offsets(0)
    offsets.done(offsets.take(7))
    assert offsets.ask() == 8
    offsets.answer(8, committed=False)
    assert (offsets.committed, len(offsets), offsets.ask()) == (None, 1, 8)
    offsets.withdraw()
    offsets.answer(8, committed=True)
    assert (offsets.committed, offsets.ask()) == (None, 8)
    offsets.answer(8, committed=True)
    assert (offsets.committed, len(offsets), offsets.ask()) == (8, 0, None)
