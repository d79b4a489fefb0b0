"""The broker that the tests of Kafka start: what it took survives its kill, and its listeners are guarded."""

from __future__ import annotations

import confluent_kafka
import pytest
from confluent_kafka.admin import AdminClient
from support import kafka_server
from support.kafka import PASSWORD, Broker, login


def answers(address, more):
    """Whether a client with these settings is let in."""
    try:
        AdminClient({"bootstrap.servers": address, "log_level": 0, **more}).list_topics(timeout=3)
    except confluent_kafka.KafkaException:
        return False
    return True


@pytest.mark.parametrize(("version", "here"), [(None, "there is none"), (8, "this is 8")])
def test_without_its_java_the_test_is_skipped_with_the_package_to_install(version, here, monkeypatch):
    """As those of Spark are."""
    monkeypatch.setattr(kafka_server, "java_version", lambda: version)
    with pytest.raises(pytest.skip.Exception, match=f"{here}; on Debian: apt-get install openjdk"):
        kafka_server.command.__wrapped__()


def test_what_a_broker_took_is_there_after_its_kill(tmp_path):
    """A killed broker starts on the same port with all its messages, keys, headers and offsets."""
    with Broker(tmp_path / "kafka") as broker:
        broker.create_topic("lineage", partitions=2)
        broker.produce("lineage", [(b"a", b"1"), (b"b", None)], partition=1, headers={"from": b"here"})
        before = broker.read("lineage")
        broker.kill()
        broker.start()
        broker.produce("lineage", [(b"c", b"3")], partition=0)
        after = broker.read("lineage")
    assert [(r.partition, r.offset, r.key, r.value, r.headers) for r in before] == [
        (1, 0, b"a", b"1", (("from", b"here"),)),
        (1, 1, b"b", None, (("from", b"here"),)),
    ]
    assert after[1:] == before


def test_a_topic_takes_the_largest_events(kafka):
    """A message of more than 8 MiB is taken and read."""
    kafka.create_topic("large")
    kafka.produce("large", [(None, b"x" * (9 * 1024 * 1024))])
    assert [len(record.value) for record in kafka.read("large")] == [9 * 1024 * 1024]


@pytest.mark.parametrize(("password", "let_in"), [(PASSWORD, True), ("wrong-password", False)])
def test_a_listener_asks_for_the_password(guarded, password, let_in):
    """Only who knows the password is let in."""
    assert answers(guarded.sasl, dict(line.split("=") for line in login(password).split())) is let_in


@pytest.mark.parametrize("trusted", [True, False])
def test_a_listener_speaks_tls(guarded, authority, trusted):
    """Only who trusts the authority talks to it."""
    more = {"ssl.ca.location": str(authority.file)} if trusted else {}
    assert answers(guarded.tls, {"security.protocol": "SSL", **more}) is trusted
