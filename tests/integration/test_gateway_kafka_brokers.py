"""Kafka in, where the broker is away, hangs, asks for a login or lacks the topic."""

from __future__ import annotations

import contextlib
import logging
import time

import pytest
from support.cli import run_child
from support.kafka import PASSWORD, Broker, login
from support.kafka_intake import STOP_SECONDS, Running, keyed, new_topic, until
from support.private import write_private
from support.receiver import Receiver

from truewatch_lineage.config import load
from truewatch_lineage.errors import ConfigError
from truewatch_lineage.gateway.kafka import KafkaIntake, KafkaOptions
from truewatch_lineage.spool import Store


@pytest.fixture
def receiver():
    """Give a receiver that asks for no token."""
    with Receiver() as receiver:
        yield receiver


@pytest.fixture
def settings(receiver):
    """Give the settings of a destination: the receiver."""
    return {"url": receiver.url, "token": "not-asked-for", "destination": "dataway"}


def test_a_broker_that_dies_is_told_and_comes_back(receiver, settings, tmp_path, caplog, capfd):
    """Not ready without it; once a minute in the log; nothing on stderr; then it goes on by itself."""
    with Broker(tmp_path / "kafka") as broker:
        topic = new_topic(broker)
        broker.produce(topic, keyed(5))
        with caplog.at_level(logging.WARNING), Running(broker, topic, tmp_path / "spool", settings) as running:
            receiver.wait_for_events(5)
            broker.kill()
            until(lambda: running.intake.problem() == "no Kafka broker answers")
            assert not running.intake.has_ended()
            broker.start()
            broker.produce(topic, keyed(5, first=5))
            receiver.wait_for_events(10, timeout=30)
            until(lambda: running.intake.problem() is None)
            until(lambda: broker.committed(topic, "gateways") == {0: 10})
    assert receiver.stats()["stored"] == 10
    told = [record.message for record in caplog.records if record.message.startswith("Kafka: ")]
    assert 1 <= len(told) == len(set(told)) <= 6
    assert capfd.readouterr().err == ""


def test_it_stops_in_time_while_the_broker_hangs(guarded, settings, tmp_path):
    """What was not committed is read again by whoever comes next."""
    topic = new_topic(guarded)
    guarded.produce(topic, keyed(5))
    running = Running(guarded, topic, tmp_path / "spool", settings)
    with running:
        until(lambda: running.metrics()["consumed_total"] == 5)
        guarded.freeze()
        try:
            began = time.monotonic()
            running.stop()
            assert time.monotonic() - began < STOP_SECONDS + 1
        finally:
            guarded.thaw()


def test_without_a_broker_it_starts_and_waits(settings, tmp_path):
    """It is not ready, and says why; it ends as it should."""

    class Nowhere:
        address = "127.0.0.1:9"

    with Running(Nowhere(), "lineage", tmp_path / "spool", settings) as running:
        until(lambda: running.intake.problem() == "no Kafka broker answers")
        assert running.metrics()["broker_answers"] == 0


def test_a_missing_topic_is_told(kafka, settings, tmp_path, caplog):
    """Not ready, by its name; that of dead letters is looked for at the start too, and is not made by that."""
    with caplog.at_level(logging.WARNING), Running(kafka, "no-such-topic", tmp_path / "spool", settings) as running:
        until(lambda: "no-such-topic" in (running.intake.problem() or ""))
        assert running.intake.problem().endswith("create it, or check --topic")
        until(lambda: "no-such-topic.dead-letters, is not there. Create it" in caplog.text)


@pytest.mark.parametrize("listener", ["sasl", "tls"])
def test_properties_open_guarded_brokers(guarded, authority, receiver, settings, tmp_path, listener):
    """A login by SASL, a certificate by TLS; dead letters are written by the same properties."""
    topic = new_topic(guarded)
    guarded.produce(topic, [*keyed(2), (None, b"[]")])
    lines = {
        "sasl": login(PASSWORD),
        "tls": f"security.protocol=SSL\nssl.ca.location={authority.file}\n",
    }
    config = write_private(tmp_path / "kafka.properties", lines[listener])
    address = getattr(guarded, listener)
    with Running(guarded, topic, tmp_path / "spool", settings, bootstrap=address, config=config):
        receiver.wait_for_events(2)
        until(lambda: guarded.committed(topic, "gateways") == {0: 3})
    assert len(guarded.read(f"{topic}.dead-letters")) == 1


def test_a_wrong_password_is_told_and_not_shown(guarded, settings, tmp_path, caplog, capfd):
    """Neither in the log nor on stderr."""
    topic = new_topic(guarded)
    wrong = "wrong-password-123"
    config = write_private(tmp_path / "kafka.properties", login(wrong))
    with Running(guarded, topic, tmp_path / "spool", settings, bootstrap=guarded.sasl, config=config) as running:
        until(lambda: "uthentication" in caplog.text)
        until(lambda: running.intake.problem() == "no Kafka broker answers")
    assert wrong not in caplog.text + "".join(capfd.readouterr())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sasl.pasword=swordfish-1234", "`sasl.pasword` is no property of librdkafka"),
        ("\nsecurity.protocol=swordfish-1234", "`security.protocol` is refused by librdkafka (from {path}, line 2)"),
        ("group.id=other", "`group.id` can't be set here (from {path}, line 1). Give --group."),
        ("security.protocol=sasl_plaintext\nsasl.mechanism=PLAIN", "Set sasl.password and sasl.username."),
    ],
)
def test_wrong_properties_are_refused_before_the_start(settings, tmp_path, capfd, text, message):
    """By the line and the fix, without the value, and without a word of librdkafka's own."""
    path = write_private(tmp_path / "kafka.properties", text)
    store = Store(tmp_path / "spool")
    loaded = load({**settings, "spool_dir": str(tmp_path / "spool")})
    with pytest.raises(ConfigError) as caught:
        KafkaIntake(loaded, store, KafkaOptions("127.0.0.1:9", "lineage", "g", path))
    store.close()
    assert message.format(path=path) in str(caught.value)
    assert "swordfish" not in str(caught.value) + "".join(capfd.readouterr())


@pytest.mark.parametrize(
    ("url", "loops"),
    [
        ("kafka://127.0.0.1:9/lineage", True),
        ("kafka://elsewhere:9092,127.0.0.1:9/lineage.dead-letters", True),
        ("kafka://127.0.0.1:9/other", False),
        ("kafka://elsewhere:9092/lineage", False),
    ],
)
def test_events_are_not_written_to_where_they_come_from(tmp_path, url, loops):
    """A destination that is the topic itself, or that of its dead letters, is refused."""
    store = Store(tmp_path / "spool")
    loaded = load({"url": url, "spool_dir": str(tmp_path / "spool")})
    with pytest.raises(ConfigError, match="would write every event") if loops else contextlib.nullcontext():
        KafkaIntake(loaded, store, KafkaOptions("127.0.0.1:9", "lineage", "g")).stop(0)
    store.close()


def test_without_the_extra_it_is_told_what_to_install(settings, tmp_path):
    """By name."""
    (tmp_path / "confluent_kafka.py").write_text("raise ModuleNotFoundError(name='confluent_kafka')")
    env = {**settings, "spool_dir": tmp_path / "spool", "PYTHONPATH": tmp_path}
    ran = run_child("gateway", "--port", "0", "--kafka-bootstrap", "k:1", "--topic", "t", "--group", "g", env=env)
    assert ran.code == 2
    assert "Kafka needs confluent_kafka" in ran.err
    assert "pip install 'truewatch-lineage[kafka]'" in ran.err
