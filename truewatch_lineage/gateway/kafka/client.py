"""How the clients of Kafka are made: a consumer of the topic, and a producer of its dead letters."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

from confluent_kafka import Consumer, KafkaException, Producer

from truewatch_lineage.config.kafka_properties import Properties, read
from truewatch_lineage.delivery.kafka_log import ClientLog
from truewatch_lineage.gateway.kafka.options import KafkaOptions
from truewatch_lineage.protocol import MIB

log = logging.getLogger(__name__)

MAX_POLL_SECONDS: Final = 300.0
"""librdkafka's own ``max.poll.interval.ms``: a consumer that is silent for longer loses its partitions."""

_RESERVED: Final = {
    "acks": "Dead letters are acknowledged by all replicas.",
    "bootstrap.servers": "Give --kafka-bootstrap.",
    "enable.auto.commit": "The gateway commits what is done.",
    "enable.auto.offset.store": "The gateway commits what is done.",
    "enable.idempotence": "A dead letter may come twice; none is lost.",
    "enable.partition.eof": "The gateway reads on.",
    "group.id": "Give --group.",
    "group.protocol": "All gateways of a group share partitions in one way.",
    "group.remote.assignor": "All gateways of a group share partitions in one way.",
    "isolation.level": "Events of a transaction count once it is committed.",
    "metadata.broker.list": "Give --kafka-bootstrap.",
    "partition.assignment.strategy": "All gateways of a group share partitions in one way.",
    "request.required.acks": "Dead letters are acknowledged by all replicas.",
    "statistics.interval.ms": "Readiness and metrics are made of the statistics.",
}
_COMMON: Final = {
    "client.id": "truewatch-lineage-gateway",
    "reconnect.backoff.max.ms": 2000,
    "topic.metadata.refresh.interval.ms": 30_000,  # a topic that is made later is found within this time
}
_CONSUMER: Final = {
    "auto.offset.reset": "earliest",
    "enable.auto.commit": False,
    "enable.auto.offset.store": False,
    # A gateway that stops or comes is noticed within a second, one that was killed within 15.
    "heartbeat.interval.ms": 1000,
    "session.timeout.ms": 15_000,
    "isolation.level": "read_committed",
    "partition.assignment.strategy": "cooperative-sticky",
    "statistics.interval.ms": 2000,
    # What is fetched ahead is memory too; the stage has its own bound.
    "queued.max.messages.kbytes": 16 * 1024,
    "fetch.max.bytes": 4 * MIB,  # as compressed: events of many columns grow a hundredfold
    "fetch.queue.backoff.ms": 50,
}
_PRODUCER: Final = {
    "acks": "all",
    "queue.buffering.max.kbytes": 64 * 1024,
    "compression.type": "gzip",
    "batch.num.messages": 1,  # a batch is refused whole where one letter is too large
    "message.timeout.ms": 10_000,
    "topic.metadata.propagation.max.ms": 2000,  # for so long a topic that is not there may still appear
    "message.max.bytes": 100_000_000,  # the topic's own limit decides
}

_Client = TypeVar("_Client")


class Clients:
    """Makes both clients of the same options and properties.

    Args:
        options: Where the cluster is.

    Raises:
        ConfigError: The properties can't be read.
    """

    def __init__(self, options: KafkaOptions) -> None:
        self._given = Properties() if options.config is None else read(options.config, _RESERVED)
        self._log = ClientLog(log)
        self._common = {**_COMMON, "bootstrap.servers": options.bootstrap, "error_cb": self._log.error}
        self._group = options.group

    @property
    def max_poll_seconds(self) -> float:
        """Seconds that the consumer may be silent."""
        text = self._given.values.get("max.poll.interval.ms", "")
        return int(text) / 1000 if text.isdigit() else MAX_POLL_SECONDS

    def consumer(self, **callbacks: Callable[..., None]) -> Consumer:
        """Make a consumer.

        Args:
            callbacks: ``stats_cb`` and ``on_commit``.

        Raises:
            ConfigError: librdkafka refuses the properties.
        """
        return self._made(Consumer, {**_CONSUMER, "group.id": self._group, **callbacks})

    def producer(self) -> Producer:
        """Make a producer that waits for all replicas.

        Raises:
            ConfigError: librdkafka refuses the properties.
        """
        return self._made(Producer, _PRODUCER)

    def _made(self, make: Callable[..., _Client], settings: Mapping[str, Any]) -> _Client:
        try:
            return make({**self._common, **settings, **self._given.values}, logger=self._log)
        except (KafkaException, TypeError, ValueError) as error:  # whose text may hold a value
            raise self._given.refused(str(error)) from None
