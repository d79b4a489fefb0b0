"""One attempt to write one event to a topic of Kafka: key and body put together, written once, and judged."""

from __future__ import annotations

import gzip
import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import orjson

from truewatch_lineage.config import DestinationSettings
from truewatch_lineage.config.kafka_settings import EXTRA, client_properties
from truewatch_lineage.config.kafka_url import servers_and_topic
from truewatch_lineage.delivery.fingerprint import FileState, file_state, keyed_hash
from truewatch_lineage.delivery.forks import PerProcess
from truewatch_lineage.delivery.kafka_outcome import judge
from truewatch_lineage.delivery.outcome import Outcome, Verdict
from truewatch_lineage.errors import ConfigError
from truewatch_lineage.events.message_key import message_key

if TYPE_CHECKING:
    from truewatch_lineage.delivery.kafka_producer import Producer


@dataclass(slots=True)
class _Held:
    """A process's producer, and the state of the file that it was made by."""

    producer: Producer | None = None
    state: FileState = None
    lock: threading.Lock = field(default_factory=threading.Lock)


class KafkaSender:
    """Writes events to one topic; safe to use from threads and after a fork.

    Args:
        destination: Where to and how.
    """

    def __init__(self, destination: DestinationSettings) -> None:
        self._destination = destination
        self._topic = servers_and_topic(destination.url)[1]
        self._held: PerProcess[_Held] = PerProcess(lambda _parent: _Held())

    def send(self, body_gz: bytes, *, deadline: float) -> Outcome:
        """Try once to write an event; never raises, but for a body that is no gzip.

        Args:
            body_gz: The event's JSON, gzipped as the spool keeps it.
            deadline: By ``time.monotonic()``; the destination's timeout counts too, whichever is earlier.
        """
        deadline = min(deadline, time.monotonic() + self._destination.timeout)
        body = gzip.decompress(body_gz)
        producer = self._open(deadline)
        if isinstance(producer, Outcome):
            return producer
        return judge(producer.post(_key(body), body, deadline), self._topic)

    def look(self, deadline: float) -> Outcome | None:
        """See that the topic can be written to.

        Args:
            deadline: By ``time.monotonic()``.

        Returns:
            What an attempt would come to, or None where nothing is wrong.
        """
        producer = self._open(deadline)
        return producer if isinstance(producer, Outcome) else None

    def fingerprint(self, key: bytes) -> str:
        """Return a truncated keyed hash of all that decides how the topic is reached.

        Args:
            key: The spool's own secret.
        """
        there = self._destination
        return keyed_hash(key, [there.url, file_state(there.kafka_config), there.compression])

    def close(self) -> None:
        """Close the connections."""
        held = self._held.get()
        with held.lock:
            if held.producer is not None:
                held.producer.close()
                held.producer = None

    def _open(self, deadline: float) -> Producer | Outcome:
        """Return this process's producer with the topic at hand, or what an attempt comes to without."""
        try:
            producer = self._producer()
        except ConfigError as error:
            return Outcome(Verdict.PARK, str(error))
        except ModuleNotFoundError:
            return Outcome(Verdict.PARK, f"Kafka's client is not installed. Run: {EXTRA}")
        problem = producer.open(deadline)
        return producer if problem is None else judge(problem, self._topic)

    def _producer(self) -> Producer:
        """Return this process's producer, made anew where the file of properties has changed.

        Raises:
            ConfigError: The file can't be read or says what Kafka's client does not take.
            ModuleNotFoundError: Kafka's client is not installed.
        """
        held, state = self._held.get(), file_state(self._destination.kafka_config)
        with held.lock:
            if held.producer is None or held.state != state or held.producer.is_broken:
                made = _make(self._destination)
                if held.producer is not None:
                    held.producer.close()
                held.producer, held.state = made, state
            return held.producer


def _make(destination: DestinationSettings) -> Producer:
    """Make a producer.

    Raises:
        ConfigError: As of ``KafkaSender._producer``.
        ModuleNotFoundError: As there.
    """
    from confluent_kafka import KafkaException  # noqa: PLC0415 - few have it

    from truewatch_lineage.delivery.kafka_producer import Producer  # noqa: PLC0415 - as above

    properties = client_properties(destination.kafka_config) if destination.kafka_config else None
    try:
        return Producer(destination, properties.values if properties else {})
    except (KafkaException, TypeError) as error:  # TypeError: a property of confluent-kafka's own that is no text
        if properties is None:
            raise ConfigError("Kafka's client does not take these settings.", fix="Check timeout.") from None
        raise properties.refused(error.args[0].str() if isinstance(error, KafkaException) else str(error)) from None


def _key(body: bytes) -> str | None:
    try:
        tree = orjson.loads(body)
    except orjson.JSONDecodeError:  # nested too deep for it, though JSON: any partition will do
        return None
    return message_key(tree) if isinstance(tree, dict) else None
