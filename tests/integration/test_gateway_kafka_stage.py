"""The stage with a courier and a receiver, without a broker."""

from __future__ import annotations

from support.kafka_intake import until
from support.kafka_staged import message
from support.receiver import Receiver

from truewatch_lineage.config import load
from truewatch_lineage.courier import Courier, binding_of
from truewatch_lineage.gateway.kafka.offsets import Offsets
from truewatch_lineage.gateway.kafka.stage import Stage


def test_events_that_come_while_a_destination_is_stopped_and_nothing_waits_are_tried(monkeypatch):
    """The partitions that had stopped it went elsewhere, and others came: nobody else would look again."""
    monkeypatch.setattr("truewatch_lineage.courier.policy.full_jitter", lambda *_: 0.3)
    with Receiver() as receiver:
        settings = load({"url": receiver.url, "token": "not-asked-for", "destination": "openlineage"})
        binding = binding_of(settings.destinations[0])
        stage = Stage([binding])
        courier = Courier(stage, settings.destinations, connections=4)
        courier.start(poll=0.1)
        receiver.stop()
        going, coming = Offsets(0), Offsets(1)
        stage.add([message(going, 0, bindings=[binding])])
        courier.wake()
        until(lambda: stage.standing(binding).state == "paused" and not stage.flying([going]))
        stage.revoke([going])
        stage.forget([going])
        until(lambda: courier._services[0]._quiet_until == float("inf"))
        receiver.start()
        stage.add([message(coming, 0, bindings=[binding])])
        courier.wake()
        [dead] = until(stage.take_dead)
        courier.finish(1)
        courier.stop()
    assert (dead.event.offsets, dead.status) == (coming, 400)


def test_a_refused_message_is_told_by_its_place_in_the_topic(caplog):
    """Whoever looks for it looks in the topic, not in the spool."""
    with Receiver() as receiver:
        settings = load({"url": receiver.url, "token": "not-asked-for", "destination": "openlineage"})
        binding = binding_of(settings.destinations[0])
        stage = Stage([binding], topic="orders")
        stage.add([message(Offsets(3), 17, bindings=[binding])])
        courier = Courier(stage, settings.destinations, connections=1)
        courier.drain(5)
        courier.stop()
    [told] = [text for text in caplog.messages if "kept as a dead letter" in text]
    assert "(lane kafka:a, orders[3]@17) $.eventTime: Missing." in told
