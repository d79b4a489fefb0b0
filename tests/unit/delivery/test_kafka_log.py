"""What Kafka's client library says, in our log."""

from __future__ import annotations

import logging
import time

import pytest
from confluent_kafka import Consumer, KafkaError

from truewatch_lineage.delivery.kafka_log import ClientLog

log = logging.getLogger("test.kafka")
TEMPLATE = "%s [%s] %s"


@pytest.mark.parametrize(
    ("level", "facility", "told"),
    [
        (logging.WARNING, "OFFSET", ["Kafka: text"]),
        (logging.ERROR, "SASL", ["Kafka: text"]),
        (logging.INFO, "OFFSET", []),
        (logging.WARNING, "CONFWARN", []),
        (logging.ERROR, "FAIL", []),
    ],
)
def test_warnings_and_errors_are_told_that_tell_something(caplog, level, facility, told):
    """What is for debugging, what another callback tells, and what one shared file brings with it, is not."""
    with caplog.at_level(logging.DEBUG):
        ClientLog(log).log(level, TEMPLATE, facility, "rdkafka#consumer-1", "text")
    assert [record.message for record in caplog.records] == told


def test_an_error_is_told_once_a_minute(caplog):
    """Each kind by itself."""
    told = ClientLog(log)
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            told.error(KafkaError(KafkaError._TRANSPORT, "connection refused"))
            told.error(KafkaError(KafkaError._ALL_BROKERS_DOWN, "1/1 brokers are down"))
    assert [record.message for record in caplog.records] == [
        "Kafka: connection refused",
        "Kafka: 1/1 brokers are down",
    ]


def test_librdkafka_writes_nothing_to_stderr(capfd, caplog):
    """A client whose broker is away speaks through our log alone."""
    told = ClientLog(log)
    settings = {"bootstrap.servers": "127.0.0.1:1", "group.id": "g", "acks": "all", "error_cb": told.error}
    with caplog.at_level(logging.WARNING):
        consumer = Consumer(settings, logger=told)
        end = time.monotonic() + 20
        while "Connection refused" not in caplog.text and time.monotonic() < end:
            consumer.poll(0.02)
        consumer.close()
    assert capfd.readouterr().err == ""
    assert "Connection refused" in caplog.text
