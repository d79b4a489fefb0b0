"""A gateway that leaves delivery to a courier notices that there is none."""

from __future__ import annotations

import pytest
from support.kafka_staged import HERE, THERE

from truewatch_lineage.gateway.unattended import PATIENCE_SECONDS, Attendance
from truewatch_lineage.spool import Entry, Settlement, Standing, Store


class Scene:
    """A spool, and who looks at it, with a clock of its own."""

    def __init__(self, folder):
        self.now = 1000.0
        self.store = Store(folder, durability="process")
        self.attendance = Attendance(self.store, [HERE, THERE], clock=lambda: self.now)

    def look_for(self, seconds):
        """Look every second for a while."""
        for _ in range(int(seconds) + 1):
            self.attendance.look()
            self.now += 1

    def put(self):
        """Store an event, and return its number."""
        (event_id,) = self.store.put([Entry(HERE, "run:1", b"")])
        return event_id


@pytest.fixture
def scene(tmp_path):
    """Give an empty one."""
    scene = Scene(tmp_path / "spool")
    yield scene
    scene.attendance.close()
    scene.store.close()


def test_events_that_nobody_delivers_are_told_of_after_a_while(scene, caplog):
    """Not while a courier is only being started."""
    scene.put()
    scene.look_for(PATIENCE_SECONDS - 2)
    assert caplog.text == ""
    scene.look_for(3)
    assert "Events wait, and no courier delivers them. Run `truewatch-lineage courier`" in caplog.text


def test_where_nothing_waits_nothing_is_told(scene, caplog):
    """Nor where what waited is delivered now and then."""
    scene.look_for(PATIENCE_SECONDS * 2)
    for attempt in range(1, 4):
        event_id = scene.put()
        scene.look_for(PATIENCE_SECONDS / 2)
        scene.store.settle(HERE, [Settlement(event_id, attempt, "delivered")], Standing())
        scene.look_for(PATIENCE_SECONDS / 2)
    assert caplog.text == ""


def test_a_destination_that_is_down_is_no_missing_courier(scene, caplog):
    """What waits for its own time is nobody's fault."""
    scene.put()
    scene.store.settle(HERE, [], Standing("paused", "refused", scene.store.clock() + 1000))
    scene.look_for(PATIENCE_SECONDS * 2)
    assert caplog.text == ""


def test_a_courier_that_is_at_work_is_seen(scene, caplog):
    """It holds the lock of the destination, though it may have much to do."""
    scene.put()
    lock = scene.store.leadership(THERE)
    assert lock.try_acquire()
    scene.look_for(PATIENCE_SECONDS * 2)
    assert caplog.text == ""
    lock.release()
    lock.close()
    scene.look_for(PATIENCE_SECONDS)
    assert "no courier delivers them" in caplog.text
