"""A real Airflow and a receiver that is well: every event arrives, once, in order."""

from __future__ import annotations

import pytest
from support.airflow_scene import EVENTS, expected, out_of_order, told

pytestmark = pytest.mark.timeout(300)


def test_every_event_of_every_kind_of_task_arrives_once_and_in_order(scene):
    """Success, failure, retry, SQL, mapped tasks and assets tell all that they should."""
    with scene.receiver() as receiver:
        scene.run(*EVENTS)
        wanted = expected(*EVENTS)
        events = receiver.wait_for_events(wanted.total(), timeout=60)
    assert told(events) == wanted
    assert out_of_order(events) == {}
