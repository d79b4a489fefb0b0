"""A producer of Kafka's client library, for threads that each wait for their own message.

The only module that imports confluent-kafka for delivery, so that others need not have it.
"""

from __future__ import annotations

import ctypes
import os
import threading
import time
import weakref
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

import confluent_kafka

from truewatch_lineage.config import DestinationSettings
from truewatch_lineage.config.kafka_settings import SECRET
from truewatch_lineage.config.kafka_url import servers_and_topic
from truewatch_lineage.delivery.kafka_outcome import KafkaResult
from truewatch_lineage.events.redact import Redactor

_POLL_SECONDS: Final = 0.5
_FIRST_LOOK: Final = 0.05
_LONGEST_LOOK: Final = 1.0
_CREATION_SECONDS: Final = 1.0
"""How long a topic that is not there may take to be made by a broker that makes topics by itself."""

_SECOND_LOOK_SECONDS: Final = 1.5
"""How long a look lasts after one that failed: longer than the library waits between two tries to connect."""

_REPORT_SECONDS: Final = 0.25
"""How much earlier than an attempt its message times out, so that the reason is heard."""

_LARGEST_MESSAGE: Final = 1_000_000_000
"""Bytes; the most that librdkafka takes: the topic has a limit of its own, and answers with it."""

_NO_TOPIC: Final = frozenset({"UNKNOWN_TOPIC_OR_PART", "_UNKNOWN_TOPIC"})
_LATE: Final = frozenset({"_MSG_TIMED_OUT", "_FATAL"})
"""Why a message was given up, for which what the library told beside it is the better reason."""

_ALL_DOWN: Final = "_ALL_BROKERS_DOWN"
_SETTLED: Final = frozenset({"_AUTHENTICATION", "_SSL"})
"""What the library tells beside any message, and what waiting does not mend."""

_live: weakref.WeakSet[Producer] = weakref.WeakSet()


class Producer:
    """Writes messages to one topic; made by one process, and of no use in its forks.

    Args:
        destination: The topic, and how it is written to.
        properties: What the user wants of the client besides.

    Attributes:
        is_broken: Whether the library has given up for good, so that another has to be made.

    Raises:
        confluent_kafka.KafkaException: A property is none, or has a value that it can't have.
    """

    def __init__(self, destination: DestinationSettings, properties: Mapping[str, str]) -> None:
        servers, self._topic = servers_and_topic(destination.url)
        secrets = tuple(value for key, value in properties.items() if SECRET.search(key))
        self._redactor = Redactor(secrets=lambda: secrets)
        self._opening = threading.Lock()
        self._failed: tuple[float, KafkaResult] | None = None
        self._heard: KafkaResult | None = None
        self._trouble: KafkaResult | None = None
        self._is_ready = self._is_closed = self.is_broken = False
        client = {
            "client.id": "truewatch-lineage",
            "enable.idempotence": True,
            "linger.ms": 1,
            "socket.nagle.disable": True,
            "reconnect.backoff.max.ms": 1000,
            **properties,
            "bootstrap.servers": servers,
            "acks": "all",
            "compression.type": destination.compression,
            "message.timeout.ms": round(
                1000 * max(destination.timeout - _REPORT_SECONDS, destination.timeout / 2, 0.01)
            ),
            "message.max.bytes": _LARGEST_MESSAGE,
            "logger": _Log(self._overhear),
            "error_cb": self._hear,
        }
        self._client = confluent_kafka.Producer(client)
        _live.add(self)
        self._is_served = self._start()

    def open(self, deadline: float) -> KafkaResult | None:
        """See that the topic can be written to; without this, the first message waits for a second.

        Args:
            deadline: Of ``time.monotonic()``.

        Returns:
            What is wrong, or None.
        """
        if self._is_ready:
            return None
        came = time.monotonic()
        if not self._opening.acquire(timeout=max(0.0, deadline - came)):
            return KafkaResult("_TIMED_OUT")
        try:
            return self._look_unless_known(came, deadline)
        finally:
            self._opening.release()

    def post(self, key: str | None, value: bytes, deadline: float) -> KafkaResult:
        """Write a message and wait until all replicas have it.

        Args:
            key: Its key, or None.
            value: What it holds.
            deadline: Of ``time.monotonic()``.
        """
        ticket = _Ticket()
        try:
            self._client.produce(self._topic, value, key, on_delivery=ticket.report)
        except BufferError:
            return KafkaResult("_QUEUE_FULL")
        except confluent_kafka.KafkaException as error:
            told = self._told(error.args[0])
            return self._late(told) if told.error in _LATE else told
        self._wait(ticket, deadline)
        if ticket.message is None:
            # What has not left yet would arrive beside the next try.
            self._client.purge(in_queue=True, in_flight=False)
            return self._late(KafkaResult("_TIMED_OUT", sent=True))
        if ticket.error is not None:
            told = self._told(ticket.error)
            return self._late(replace(told, sent=True)) if told.error in _LATE else told
        self._forget()
        return KafkaResult(None, partition=ticket.message.partition(), offset=ticket.message.offset())

    def close(self) -> None:
        """Give up what is under way and close the connections."""
        self._is_closed = True
        self._client.purge()
        _live.discard(self)

    def leave(self) -> None:
        """Never touch the library's part again, which in a fork waits for ever for threads that it has not."""
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(self._client))

    def _late(self, result: KafkaResult) -> KafkaResult:
        """Return why a message was too late, and have the topic looked for before the next."""
        result = replace(self._trouble, sent=result.sent) if self._trouble else result
        self._failed, self._is_ready = (time.monotonic(), result), False
        return result

    def _look_unless_known(self, came: float, deadline: float) -> KafkaResult | None:
        """Look, unless another thread has found out since ``came``."""
        if not self._is_ready and (self._failed is None or self._failed[0] < came):
            problem = self._look(deadline)
            self._is_ready = problem is None
            self._failed = None if problem is None else (time.monotonic(), problem)
        return self._failed[1] if self._failed else None

    def _look(self, deadline: float) -> KafkaResult | None:
        """Ask for the topic again and again until it is there, or until it is clear that it will not be."""
        self._forget()
        wait, began = _FIRST_LOOK, time.monotonic()
        known = self._failed[1] if self._failed else None
        problem = KafkaResult("_TIMED_OUT")
        if known:
            deadline = min(deadline, began + _SECOND_LOOK_SECONDS)
        while self._trouble is None and (left := deadline - time.monotonic()) > 0:
            wait = min(wait, left)
            try:
                topic = self._client.list_topics(self._topic, timeout=wait).topics[self._topic]
            except confluent_kafka.KafkaException as error:
                problem = self._told(error.args[0])
            else:
                if topic.error is None:
                    return None
                problem = self._told(topic.error)
                if problem.error not in _NO_TOPIC or time.monotonic() - began > _CREATION_SECONDS:
                    return problem
                time.sleep(wait)
            if not self._is_served:
                self._poll(0)
            wait = min(wait * 2, _LONGEST_LOOK)
        if self._trouble is not None and self._trouble.error == _ALL_DOWN:  # why is told a moment later
            time.sleep(max(0.0, min(_FIRST_LOOK, deadline - time.monotonic())))
        return self._trouble or self._heard or known or problem

    def _forget(self) -> None:
        self._heard = self._trouble = None

    def _wait(self, ticket: _Ticket, deadline: float) -> None:
        if self._is_served:
            ticket.done.wait(max(0.0, deadline - time.monotonic()))
        while not ticket.done.is_set() and (left := deadline - time.monotonic()) > 0:
            self._poll(min(left, _POLL_SECONDS))

    def _hear(self, error: confluent_kafka.KafkaError) -> None:
        """Note what the library tells beside any message."""
        told = self._told(error)
        if error.fatal():
            self.is_broken, self._trouble = True, told
        elif told.error == _ALL_DOWN:
            self._trouble = self._trouble or self._heard or told
        elif told.error in _SETTLED:
            self._trouble = told
        else:
            self._note(told)

    def _overhear(self, text: str) -> None:
        if self._heard is None:
            self._note(KafkaResult("_TRANSPORT", self._shown(text)))

    def _note(self, told: KafkaResult) -> None:
        """Keep why a connection has failed, which may be told after that all have."""
        self._heard = told
        if self._trouble is not None and self._trouble.error == _ALL_DOWN:
            self._trouble = told

    def _told(self, error: Any) -> KafkaResult:
        return KafkaResult(error.name(), self._shown(error.str()))

    def _shown(self, text: str) -> str:
        return self._redactor.text(text).replace(". ", "; ")

    def _start(self) -> bool:
        thread = threading.Thread(target=self._serve, name="truewatch-lineage-kafka", daemon=True)
        try:
            thread.start()
        except RuntimeError:  # at interpreter exit; whoever waits then serves
            return False
        return True

    def _serve(self) -> None:
        """Have reports and errors told until this is closed and nobody waits any more."""
        while not self._is_closed:
            self._poll(_POLL_SECONDS)
        self._client.flush(_POLL_SECONDS)

    def _poll(self, seconds: float) -> None:
        """Have the library report; what breaks it for good is raised here instead of being told to `_hear`."""
        try:
            self._client.poll(seconds)
        except confluent_kafka.KafkaException as error:
            self._hear(error.args[0])


class _Log:
    """Keeps the library from writing to stderr.

    Args:
        failed: Takes why a connection has failed, which is not always told as an error too.
    """

    def __init__(self, failed: Callable[[str], None]) -> None:
        self._failed = failed

    def log(self, _level: int, _template: str, facility: str, _client: str, text: str) -> None:
        """Take a line of the library's log."""
        if facility == "FAIL":
            self._failed(text.partition("]: ")[2])


class _Ticket:
    """What a thread waits with for the report on its message."""

    __slots__ = ("done", "error", "message")

    def __init__(self) -> None:
        self.done = threading.Event()
        self.error: confluent_kafka.KafkaError | None = None
        self.message: Any = None

    def report(self, error: confluent_kafka.KafkaError | None, message: Any) -> None:
        self.error, self.message = error, message
        self.done.set()


def _after_fork() -> None:
    for producer in list(_live):
        producer.leave()
    _live.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
