"""Delivery in the caller's thread, within a budget."""

from __future__ import annotations

import time
from typing import Final

from truewatch_lineage.courier.leader import Leader
from truewatch_lineage.courier.queue import Queue

MAX_AHEAD: Final = 100
"""No emit spends time on delivery while more events than this wait ahead of its own."""

_FIRST_WAIT: Final = 0.002
_LONGEST_WAIT: Final = 0.02


def deliver(queue: Queue, leader: Leader, event_id: int, deadline: float) -> None:
    """Have one event delivered, and what waits ahead of it, by leading or by waiting for whoever leads.

    Returns at once where the destination is paused or parked, where more than 100 events wait ahead, or where another
    process leads and the event's lane waits for a later time.

    Args:
        queue: What the leader drains.
        leader: Of the event's destination.
        event_id: The event.
        deadline: Of ``time.monotonic()``.

    Raises:
        SpoolError: If the spool can't be read or written.
    """
    wait = _FIRST_WAIT
    while time.monotonic() < deadline and leader.may_try(leader.standing()):
        if queue.pending(leader.binding, before=event_id, limit=MAX_AHEAD + 1) > MAX_AHEAD:
            return
        if leader.try_lead():
            try:
                leader.lead(goal=lambda: not queue.is_pending(event_id), deadline=deadline, threads=False)
            finally:
                leader.resign()
            return
        due = queue.lane_due(event_id)
        if due is None or leader.seconds_until(due) > 0.0:
            return
        time.sleep(min(wait, max(0.0, deadline - time.monotonic())))
        wait = min(wait * 2, _LONGEST_WAIT)


def drain(leader: Leader, deadline: float, *, probe: bool = False, wait: bool = False, follow: bool = True) -> None:
    """Deliver all that is due, in threads, by leading or by waiting for whoever leads.

    Args:
        leader: Of the destination to drain.
        deadline: Of ``time.monotonic()``.
        probe: Try a stopped destination once at the start, due or not.
        wait: Wait for what becomes due before the deadline; otherwise return when nothing is due.
        follow: Wait while another process leads; otherwise leave it to that one.

    Raises:
        SpoolError: If the spool can't be read or written.
    """
    pause = _FIRST_WAIT
    while time.monotonic() < deadline:
        seconds = 0.0 if probe else leader.wait_seconds(leader.standing())
        if seconds > (deadline - time.monotonic() if wait else 0.0):
            return
        if seconds == 0.0 and leader.try_lead():
            try:
                leader.lead(goal=lambda: False, deadline=deadline, threads=True, probe=probe)
            finally:
                leader.resign()
            probe, pause = False, _FIRST_WAIT
        elif seconds == 0.0 and not follow:
            return
        else:
            time.sleep(min(max(seconds, pause), max(0.0, deadline - time.monotonic())))
            pause = min(pause * 2, _LONGEST_WAIT)
