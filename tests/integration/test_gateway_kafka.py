"""Kafka in, with a real broker and a real receiver: what is delivered, in which order, and what is committed."""

from __future__ import annotations

import secrets
from collections import defaultdict

import confluent_kafka
import pytest
from support.kafka_intake import Running, keyed, new_topic, number_of, two_running, until
from support.private import write_private
from support.receiver import Receiver
from support.spooled import spooled

TOKEN = "kafka-test-token-1"


@pytest.fixture
def receiver():
    """Give a receiver."""
    with Receiver(tokens=[TOKEN]) as receiver:
        yield receiver


@pytest.fixture
def settings(receiver):
    """Give the settings of a destination: the receiver."""
    return {"url": receiver.url, "token": TOKEN, "destination": "dataway"}


@pytest.fixture
def soon(monkeypatch):
    """Let a destination that was down be tried again at once."""
    monkeypatch.setattr("truewatch_lineage.courier.policy.full_jitter", lambda *_: 0.2)


def lag(running):
    """Give how many messages of the partitions that an intake has are not done."""
    return sum(value for name, value in running.metrics().items() if name.startswith("lag"))


def numbers(receiver):
    """Give the numbers of all that arrived, by job."""
    found = defaultdict(list)
    for one in receiver.events():
        found[one["event"]["job"]["name"]].append(number_of(one["event"]))
    return found


def test_every_event_arrives_once_in_the_order_of_its_key(kafka, receiver, settings, tmp_path):
    """And what is delivered is committed: whoever reads next begins after it."""
    topic = new_topic(kafka, 3)
    kafka.produce(topic, keyed(300, keys=7))
    with Running(kafka, topic, tmp_path, settings) as running:
        receiver.wait_for_events(300)
        until(lambda: sum(kafka.committed(topic, "gateways").values()) == 300)
        metrics = running.metrics()
        assert running.intake.problem() is None
        assert not running.intake.has_ended()
    assert all(found == sorted(found) for found in numbers(receiver).values())
    assert sum(one["duplicates"] for one in receiver.events()) == 0
    assert (metrics["consumed_total"], metrics['delivered_total{destination="default"}']) == (300, 300)
    with Running(kafka, topic, tmp_path, settings):
        kafka.produce(topic, keyed(1, first=300))
        receiver.wait_for_events(301)
    assert receiver.statuses() == {"200": 301}


def test_what_says_nothing_is_skipped(kafka, receiver, tmp_path):
    """Tombstones and events that no destination takes are counted and committed, and hold up nothing."""
    topic = new_topic(kafka)
    settings = {"url": receiver.url, "token": TOKEN, "match": {"drop": [{"job": "ns/job-1"}]}}
    kafka.produce(topic, [(b"k", None), *keyed(4, keys=2), (None, None)])
    with Running(kafka, topic, tmp_path, settings) as running:
        receiver.wait_for_events(2)
        until(lambda: kafka.committed(topic, "gateways") == {0: 6})
        metrics = running.metrics()
    assert (metrics["empty_total"], metrics["skipped_total"], metrics["consumed_total"]) == (2, 2, 6)
    assert dict(numbers(receiver)) == {"job-0": [0, 2]}


def test_what_can_not_be_delivered_goes_to_the_topic_of_dead_letters(kafka, receiver, settings, tmp_path, caplog):
    """With the reason, whence it came, and no secret, whether it is no event or the destination refuses it."""
    topic = new_topic(kafka)
    [(key, refused), *rest] = keyed(3)
    receiver.faults([{"status": 422, "body": {"message": "odd"}}])
    kafka.produce(topic, [(key, refused)])
    with Running(kafka, topic, tmp_path, settings) as running:
        until(lambda: len(kafka.read(f"{topic}.dead-letters")) == 1)
        kafka.produce(topic, [(f"key {TOKEN}".encode(), f'{{"half": "{TOKEN}'.encode()), *rest])
        until(lambda: kafka.committed(topic, "gateways") == {0: 4})
        metrics = running.metrics()
    first, second = kafka.read(f"{topic}.dead-letters")
    assert first.key == key
    assert b'"runId":"00000000-' in first.value
    headers = dict(first.headers)
    assert headers.pop("truewatch.time").startswith(b"20")
    assert b"odd" not in headers.pop("truewatch.reason")
    assert headers == {
        "truewatch.status": b"422",
        "truewatch.destination": b"default",
        "truewatch.topic": topic.encode(),
        "truewatch.partition": b"0",
        "truewatch.offset": b"0",
    }
    assert (second.key, second.value) == (b"key ***", b'{"half": "***')
    assert dict(second.headers)["truewatch.reason"].startswith(b"$: Not JSON")
    untried = f"{topic}[0]@1 can't be sent to default and is a dead letter: $: Not JSON"
    assert [untried in text for text in caplog.messages].count(True) == 1
    assert any(f"lane kafka:{key.decode()}, {topic}[0]@0)" in text for text in caplog.messages)
    assert metrics['dead_total{destination="default"}'] == metrics["dead_letters_written_total"] == 2
    assert [number for found in numbers(receiver).values() for number in found] == [1, 2]


def test_dead_letters_without_a_topic_wait_and_are_kept_in_the_spool(kafka, receiver, settings, tmp_path):
    """Their offset is not committed before that; other events go on."""
    topic = new_topic(kafka, dead_letters=False)
    kafka.produce(topic, [(None, b"[]"), *keyed(2)])
    with Running(kafka, topic, tmp_path, settings, hold_seconds=4) as running:
        receiver.wait_for_events(2)
        until(lambda: running.metrics()["dead_letters_waiting"] == 1)
        assert kafka.committed(topic, "gateways") == {}
        until(lambda: kafka.committed(topic, "gateways") == {0: 3})
        assert running.metrics()['spilled_total{destination="default"}'] == 1
        assert running.metrics()["dead_letters_waiting"] == 0


def test_a_dead_letter_that_its_topic_does_not_take_is_kept_in_the_spool(kafka, receiver, settings, tmp_path):
    """At once where it is too large for it."""
    topic = new_topic(kafka, dead_letters=False)
    kafka.create_topic(f"{topic}.dead-letters", config={"max.message.bytes": "2000"})
    kafka.produce(topic, [(None, secrets.token_hex(5000).encode()), (None, b"[]"), *keyed(1)])
    with Running(kafka, topic, tmp_path / "spool", settings) as running:
        until(lambda: kafka.committed(topic, "gateways") == {0: 3})
        assert running.metrics()['spilled_total{destination="default"}'] == 1
        assert running.metrics()["dead_letters_written_total"] == 1
    assert spooled(tmp_path / "spool").dead == 1
    assert [record.value for record in kafka.read(f"{topic}.dead-letters")] == [b"[]"]


def test_an_outage_keeps_events_in_kafka_and_then_in_the_spool(kafka, receiver, settings, tmp_path, soon):
    """What waits too long is committed to the spool, what comes later waits for it, and all of it arrives in order."""
    topic = new_topic(kafka)
    receiver.stop()
    kafka.produce(topic, keyed(3))
    with Running(kafka, topic, tmp_path, settings, hold_seconds=1) as running:
        until(lambda: running.metrics()["staged_events"] == 3)
        assert kafka.committed(topic, "gateways") == {}
        until(lambda: kafka.committed(topic, "gateways") == {0: 3})
        kafka.produce(topic, keyed(2, first=3))
        until(lambda: running.metrics()["staged_events"] == 2)
        receiver.start()
        receiver.wait_for_events(5)
    assert numbers(receiver) == {"job-0": [0, 1, 2, 3, 4]}


def test_a_destination_that_is_down_does_not_hold_up_another(kafka, receiver, tmp_path):
    """Where what waits for it fills the stage, it is moved to the spool before its time."""
    topic = new_topic(kafka)
    settings = {
        "destinations": {
            "up": {"url": receiver.url, "token": TOKEN},
            "down": {"url": "http://127.0.0.1:9", "token": TOKEN},
        }
    }
    kafka.produce(topic, keyed(100, keys=100))
    with Running(kafka, topic, tmp_path, settings, max_events=20) as running:
        receiver.wait_for_events(100, timeout=40)
        until(lambda: running.metrics()['spilled_total{destination="down"}'] >= 80)
        assert running.metrics()['spilled_total{destination="up"}'] == 0


def test_a_full_stage_pauses_and_stays_in_the_group(kafka, receiver, settings, tmp_path, soon):
    """Partitions that come meanwhile are paused too; it goes on when there is room, and what comes back is read."""
    topic = new_topic(kafka, 4)
    receiver.faults([{"status": 503, "times": None}])
    kafka.produce(topic, keyed(400, keys=40))
    with Running(kafka, topic, tmp_path / "a", settings, max_events=50) as first:
        until(lambda: first.metrics()["paused"])
        with Running(kafka, topic, tmp_path / "b", settings, max_events=50) as second:
            until(lambda: second.metrics()["paused"] and second.metrics()["assigned_partitions"] == 2)
            until(lambda: lag(first) + lag(second) == 400)
            assert first.metrics()["staged_events"] <= 50
            receiver.faults([])
            receiver.wait_for_events(400, timeout=40)
        until(lambda: first.metrics()["assigned_partitions"] == 4)
        kafka.produce(topic, keyed(40, keys=40, first=400))
        receiver.wait_for_events(440)
    assert all(found == sorted(found) for found in numbers(receiver).values())


def test_partitions_move_without_loss_or_repetition(kafka, receiver, settings, tmp_path):
    """Two gateways share them; when one stops, the other takes over at once."""
    topic = new_topic(kafka, 4)
    slow = write_private(tmp_path / "slow", "session.timeout.ms=40000\nheartbeat.interval.ms=200\n")
    with two_running(kafka, topic, tmp_path, settings, config=slow) as (one, two):
        kafka.produce(topic, keyed(400, keys=40))
        receiver.wait_for_events(200)
        one.stop()
        until(lambda: two.metrics()["assigned_partitions"] == 4, timeout=20)
        kafka.produce(topic, keyed(100, keys=40, first=400))
        receiver.wait_for_events(500)
        until(lambda: sum(kafka.committed(topic, "gateways").values()) == 500)
    assert all(found == sorted(found) for found in numbers(receiver).values())
    assert sum(map(len, numbers(receiver).values())) == 500


def test_what_is_under_way_ends_before_its_partition_moves(kafka, receiver, settings, tmp_path):
    """The next owner begins after it, however long the destination takes to answer."""
    topic = new_topic(kafka, 2)
    receiver.faults([{"delay": 2, "times": 2}])
    for partition in range(2):
        kafka.produce(topic, keyed(1, keys=2, first=partition), partition=partition)
    with Running(kafka, topic, tmp_path / "one", settings) as one:
        until(lambda: one.metrics()["staged_events"] == 2)
        with Running(kafka, topic, tmp_path / "two", settings) as two:
            until(lambda: two.metrics()["assigned_partitions"] == 1)
            receiver.wait_for_events(2)
            until(lambda: kafka.committed(topic, "gateways") == {0: 1, 1: 1})
            assert two.metrics()["consumed_total"] == 0
    assert receiver.statuses() == {"200": 2}


def test_what_a_producer_took_back_is_not_delivered(kafka, receiver, settings, tmp_path):
    """Events of a transaction count once it is committed."""
    topic = new_topic(kafka)
    producer = confluent_kafka.Producer(kafka.client({"transactional.id": topic}))
    producer.init_transactions(20)
    for number, commits in enumerate([True, False, True]):
        producer.begin_transaction()
        [(key, value)] = keyed(1, first=number)
        producer.produce(topic, value, key)
        (producer.commit_transaction if commits else producer.abort_transaction)(20)
    with Running(kafka, topic, tmp_path, settings):
        receiver.wait_for_events(2)
    assert numbers(receiver) == {"job-0": [0, 2]}


def test_the_largest_events_pass(kafka, receiver, tmp_path):
    """One of more than 8 MiB, to a destination that takes it."""
    topic = new_topic(kafka)
    [(key, value)] = keyed(1)
    large = value[:-1] + b', "x": "' + b"y" * (9 * 1024 * 1024) + b'"}'
    kafka.produce(topic, [(key, large)])
    with Running(kafka, topic, tmp_path, {"url": receiver.url, "token": TOKEN, "destination": "openlineage"}):
        [found] = receiver.wait_for_events(1, timeout=20)
    assert len(found["event"]["x"]) == 9 * 1024 * 1024
