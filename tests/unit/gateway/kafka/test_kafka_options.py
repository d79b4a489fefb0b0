"""What the Kafka intake is told."""

from __future__ import annotations

import pytest

from truewatch_lineage.errors import ConfigError
from truewatch_lineage.gateway.kafka import KafkaOptions


@pytest.mark.parametrize("bootstrap", ["k:9092", "k1.example:9092, k2.example:9092", "127.0.0.1:1", "[::1]:9092"])
def test_brokers_are_a_list_of_addresses(bootstrap):
    """As librdkafka takes them."""
    KafkaOptions(bootstrap, "lineage", "g").check()


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"bootstrap": ""}, "--kafka-bootstrap"),
        ({"bootstrap": "k:9092,"}, "--kafka-bootstrap"),
        ({"bootstrap": "k"}, "--kafka-bootstrap"),
        ({"bootstrap": "k1:9092,k2"}, "--kafka-bootstrap"),
        ({"bootstrap": "k1:9092 k2:9092"}, "--kafka-bootstrap"),
        ({"bootstrap": "k:0"}, "--kafka-bootstrap"),
        ({"bootstrap": "k:65536"}, "--kafka-bootstrap"),
        ({"bootstrap": "http://k:9092"}, "--kafka-bootstrap"),
        ({"bootstrap": "user:password@k:9092"}, "--kafka-bootstrap"),
        ({"topic": ""}, "--topic"),
        ({"topic": "^lin.*"}, "--topic"),
        ({"topic": ".."}, "--topic"),
        ({"group": " "}, "--group"),
        ({"dead_letter_topic": "lineage"}, "--dead-letter-topic"),
        ({"dead_letter_topic": "a b"}, "--dead-letter-topic"),
        ({"topic": "x" * 249}, "--dead-letter-topic"),
    ],
)
def test_what_can_not_work_is_refused(changes, key):
    """Before a broker is asked; the option is named, and a password in the brokers' place is not shown."""
    given = {"bootstrap": "k:9092", "topic": "lineage", "group": "g", **changes}
    with pytest.raises(ConfigError) as caught:
        KafkaOptions(**given).check()
    assert caught.value.key == key
    assert "password" not in str(caught.value)


@pytest.mark.parametrize(("named", "topic"), [("", "lineage.dead-letters"), ("other", "other")])
def test_dead_letters_have_a_topic_of_their_own(named, topic):
    """By default the topic's name with .dead-letters."""
    assert KafkaOptions("k:9092", "lineage", "g", dead_letter_topic=named).dead_letters == topic


def test_a_url_in_the_brokers_place_is_told_how_to_write_it():
    """A destination's url begins with kafka://; librdkafka would try its own way with it, and say nothing."""
    with pytest.raises(ConfigError, match=r"host:port\. Write host:9092,host2:9092, without kafka://\."):
        KafkaOptions("kafka://k:9092", "lineage", "g").check()
