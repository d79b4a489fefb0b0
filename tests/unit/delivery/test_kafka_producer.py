"""A producer in a fork, and what the library tells beside any message."""

from __future__ import annotations

import socket
import sys
import weakref
from contextlib import contextmanager

import pytest
from confluent_kafka import KafkaError

from truewatch_lineage.config import load
from truewatch_lineage.delivery import kafka_producer
from truewatch_lineage.delivery.kafka_producer import Producer


@contextmanager
def producer(**properties):
    """Make a producer of a broker that takes connections and says nothing, and close it afterwards."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"kafka://127.0.0.1:{server.getsockname()[1]}/lineage"
        made = Producer(load({"url": url}, environ={}).destinations[0], properties)
        try:
            yield made
        finally:
            made.close()


class Inherited:
    """What a fork has of a producer; a real one's count of references changes with what its thread does."""

    leave = Producer.leave

    def __init__(self):
        self._client = object()


def test_a_fork_never_lets_go_of_the_parents_producer(monkeypatch):
    """Its end would wait in the child, for a second and for threads that only the parent has."""
    inherited = Inherited()
    monkeypatch.setattr(kafka_producer, "_live", weakref.WeakSet([inherited]))
    before = sys.getrefcount(inherited._client)
    kafka_producer._after_fork()
    after = sys.getrefcount(inherited._client)  # within an assertion pytest holds it too
    assert after == before + 1


def test_a_producer_is_known_to_forks_until_it_is_closed():
    """Then there is nothing to let go of."""
    with producer() as made:
        assert made in kafka_producer._live
    assert made not in kafka_producer._live


@pytest.mark.parametrize(
    ("told", "trouble"),
    [
        (["_TRANSPORT"], None),
        (["_RESOLVE", "_ALL_BROKERS_DOWN"], "_RESOLVE"),
        (["_ALL_BROKERS_DOWN", "_RESOLVE"], "_RESOLVE"),
        (["_ALL_BROKERS_DOWN"], "_ALL_BROKERS_DOWN"),
        (["_AUTHENTICATION", "_ALL_BROKERS_DOWN"], "_AUTHENTICATION"),
        (["_TRANSPORT", "_SSL", "_TRANSPORT"], "_SSL"),
    ],
)
def test_what_waiting_does_not_mend_is_known(told, trouble):
    """The reason that is told is the one that can be mended."""
    with producer() as made:
        made._forget()
        for name in told:
            made._hear(KafkaError(getattr(KafkaError, name)))
        assert (made._trouble and made._trouble.error) == trouble


def test_a_fatal_error_breaks_the_producer():
    """The next attempt makes another; why it broke is told."""
    with producer() as made:
        made._hear(KafkaError(KafkaError.CLUSTER_AUTHORIZATION_FAILED, "no", True))
        assert (made.is_broken, made._trouble.error) == (True, "CLUSTER_AUTHORIZATION_FAILED")


def test_a_secret_that_the_library_repeats_is_masked():
    """It does not, but whatever a broker says is shown."""
    with producer(**{"sasl.password": "hunter2hunter2"}) as made:
        told = made._told(KafkaError(KafkaError._AUTHENTICATION, "no such hunter2hunter2. Go away"))
        assert told.detail == "no such ***; Go away"
