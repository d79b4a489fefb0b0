"""A real Kafka broker (3.9, KRaft, one node) in a folder of a test, and the least to fill and to read it.

with Broker(tmp_path / "kafka") as broker:
    broker.create_topic("lineage", partitions=4)
    broker.produce("lineage", [(b"run:ns/job", b"{}")])
    broker.kill()                       # as kill -9 does; start() is on the same port, with the same data
    broker.start()
    assert [record.key for record in broker.read("lineage")] == [b"run:ns/job"]

A first run downloads jars of 27 MB; a start takes 1 to 2 seconds. A session's tests share the fixture ``kafka``, with
topics of their own.
"""

from __future__ import annotations

import contextlib
import signal
import socket
import subprocess
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final

import confluent_kafka
from confluent_kafka.admin import AdminClient
from confluent_kafka.admin._acl import AclBinding, AclOperation, AclPermissionType
from confluent_kafka.admin._resource import ResourcePatternType, ResourceType
from confluent_kafka.cimpl import NewTopic

from support.certificates import Authority
from support.kafka_server import LARGEST, META, PASSWORD, USER, command, free_addresses, properties

__all__ = ["LARGEST", "PASSWORD", "USER", "Broker", "Record", "login"]

_START_SECONDS: Final = 60
_STOP_SECONDS: Final = 15
_ANSWER_SECONDS: Final = 20
_POLL_SECONDS: Final = 0.02
# In order without idempotence, for which a producer waits a second when it starts.
_ORDERED: Final = {"acks": "all", "max.in.flight": 1, "message.max.bytes": LARGEST, "queue.buffering.max.messages": 0}
_TO_THE_END: Final = {"enable.partition.eof": True, "isolation.level": "read_committed", "fetch.wait.max.ms": 10}


@dataclass(frozen=True)
class Record:
    """A message of a topic."""

    partition: int
    offset: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes], ...]


class Broker:
    """A broker on 127.0.0.1, on free ports that it keeps.

    Args:
        folder: Where its data, its settings and its log (``broker.log``) go; made where it is not there.
        password: Adds a listener ``sasl``, where the user ``USER`` logs in with it (mechanism PLAIN).
        authority: Adds a listener ``tls``, with a certificate of it for 127.0.0.1 and localhost.
        settings: More of a broker's properties.

    Attributes:
        address: Of the listener without security, as ``127.0.0.1:12345``.
        sasl: Of the listener with a password, where there is one.
        tls: Of the listener with TLS, where there is one.
    """

    def __init__(
        self,
        folder: Path,
        *,
        password: str | None = None,
        authority: Authority | None = None,
        settings: Mapping[str, str] | None = None,
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None
        names = ["CONTROLLER", "PLAINTEXT"] + ["SASL"] * (password is not None) + ["TLS"] * (authority is not None)
        addresses = dict(zip(names, free_addresses(len(names)), strict=True))
        self.address = addresses["PLAINTEXT"]
        self.sasl = addresses.get("SASL", "")
        self.tls = addresses.get("TLS", "")
        own = properties(addresses, folder, password=password, authority=authority)
        self._settings = {**own, **(settings or {})}

    def __enter__(self) -> Broker:  # noqa: PYI034 - Self is in typing from 3.11 on
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._process is not None:
            self.kill()

    @property
    def log(self) -> str:
        """What it wrote since the first start: warnings and errors."""
        return (self._folder / "broker.log").read_text(errors="replace")

    def start(self) -> None:
        """Start it and wait until it answers; skips the test where there is no Java, or no jars come.

        Raises:
            AssertionError: It ended, or did not answer; with the end of its log.
        """
        assert self._process is None, "it is running"
        words = command()
        self._write_files()
        with (self._folder / "broker.log").open("ab") as log:
            self._process = _spawn([*words, str(self._folder / "server.properties")], log)
        end = time.monotonic() + _START_SECONDS
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > end:
                self.kill()
                raise AssertionError(f"Kafka did not start:\n{self.log[-2000:]}")
            time.sleep(_POLL_SECONDS)

    def stop(self) -> None:
        """Stop it in an orderly way (SIGTERM)."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """Kill it (SIGKILL)."""
        self._end(signal.SIGKILL)

    def freeze(self) -> None:
        """Let it hang: its connections stay open and nothing answers, until ``thaw``."""
        self._running().send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Let it go on after ``freeze``."""
        self._running().send_signal(signal.SIGCONT)

    def create_topic(self, name: str, *, partitions: int = 1, config: Mapping[str, str] | None = None) -> None:
        """Create a topic and wait until it can be written to."""
        admin = AdminClient(self.client())
        made = admin.create_topics([NewTopic(name, partitions, 1, config=dict(config or {}))])
        made[name].result(_ANSWER_SECONDS)
        end = time.monotonic() + _ANSWER_SECONDS
        while len(admin.list_topics(name, timeout=_ANSWER_SECONDS).topics[name].partitions) < partitions:
            assert time.monotonic() < end, f"the topic {name} has no partitions"
            time.sleep(_POLL_SECONDS)

    def allow_only(self, principal: str, topic: str) -> None:
        """Let nobody but ``principal``, such as ``User:name``, use a topic of a broker that has an authorizer."""
        allowed = AclBinding(
            ResourceType.TOPIC,
            topic,
            ResourcePatternType.LITERAL,
            principal,
            "*",
            AclOperation.ALL,
            AclPermissionType.ALLOW,
        )
        admin = AdminClient(self.client())
        admin.create_acls([allowed])[allowed].result(_ANSWER_SECONDS)

    def produce(
        self,
        topic: str,
        messages: Iterable[tuple[bytes | None, bytes | None]],
        *,
        partition: int = -1,
        headers: Mapping[str, bytes] | None = None,
    ) -> None:
        """Write messages (key, value) in this order and wait until the broker has them.

        Args:
            topic: Where to.
            messages: Keys and values; a value of None is a tombstone.
            partition: Where to; -1 lets the key choose.
            headers: Of each of them.

        Raises:
            AssertionError: The broker refused one, or did not answer.
        """
        errors: list[str] = []
        producer = confluent_kafka.Producer(self.client(_ORDERED))
        for key, value in messages:
            producer.produce(
                topic,
                value,
                key,
                partition,
                on_delivery=lambda error, _: errors.append(str(error)) if error else None,
                headers=dict(headers or {}),
            )
            producer.poll(0)
        assert producer.flush(_ANSWER_SECONDS) == 0, "the broker did not answer"
        assert not errors, errors[:5]

    def read(self, topic: str) -> list[Record]:
        """Return what a topic holds now, each partition in order of its offsets."""
        with self._consumer(_TO_THE_END) as consumer:
            partitions = _partitions(consumer, topic)
            consumer.assign([confluent_kafka.TopicPartition(topic, number, 0) for number in partitions])
            return sorted(_until_ends(consumer, len(partitions)), key=lambda record: (record.partition, record.offset))

    def committed(self, topic: str, group: str) -> dict[int, int]:
        """Return the offsets that a group committed, by partition; a partition without one is left out."""
        with self._consumer({"group.id": group}) as consumer:
            wanted = [confluent_kafka.TopicPartition(topic, number) for number in _partitions(consumer, topic)]
            found = consumer.committed(wanted, timeout=_ANSWER_SECONDS)
        return {each.partition: each.offset for each in found if each.offset >= 0}

    def client(self, more: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Return the settings of a client of this broker that says nothing on stderr."""
        return {"bootstrap.servers": self.address, "log_level": 0, **(more or {})}

    @contextlib.contextmanager
    def _consumer(self, more: Mapping[str, Any]) -> Iterator[confluent_kafka.Consumer]:
        consumer = confluent_kafka.Consumer(self.client({"group.id": "reader", "enable.auto.commit": False, **more}))
        try:
            yield consumer
        finally:
            consumer.close()

    def _write_files(self) -> None:
        data = self._folder / "data"
        if not data.exists():
            data.mkdir()
            (data / "meta.properties").write_text(META)
        lines = [f"{key}={value}\n" for key, value in self._settings.items()]
        (self._folder / "server.properties").write_text("".join(lines))

    def _answers(self) -> bool:
        """Whether it is registered and lets clients in; a port alone opens before that."""
        host, _, port = self.address.partition(":")
        try:
            socket.create_connection((host, int(port)), 1).close()
            found = AdminClient(self.client()).list_topics(timeout=1)
        except (OSError, confluent_kafka.KafkaException):
            return False
        return bool(found.brokers)

    def _running(self) -> subprocess.Popen[bytes]:
        assert self._process is not None, "it is not running"
        return self._process

    def _end(self, number: int) -> None:
        process, self._process = self._running(), None
        process.send_signal(number)
        try:
            process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def login(password: str) -> str:
    """Give the properties of a client that logs in as ``USER``, as a file of librdkafka's."""
    return f"security.protocol=SASL_PLAINTEXT\nsasl.mechanisms=PLAIN\nsasl.username={USER}\nsasl.password={password}\n"


def _spawn(command: list[str], log: IO[bytes]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, cwd="/")


def _partitions(consumer: confluent_kafka.Consumer, topic: str) -> list[int]:
    return sorted(consumer.list_topics(topic, timeout=_ANSWER_SECONDS).topics[topic].partitions)


def _until_ends(consumer: confluent_kafka.Consumer, partitions: int) -> Iterator[Record]:
    """Read until the end of each of the assigned partitions."""
    ended = 0
    while ended < partitions:
        message: Any = consumer.poll(_ANSWER_SECONDS)
        assert message is not None, "the broker did not answer"
        if message.error() is None:
            yield _record(message)
        else:
            assert message.error().code() == confluent_kafka.KafkaError._PARTITION_EOF, message.error()
            ended += 1


def _record(message: Any) -> Record:
    """Give what a message holds; confluent-kafka's own types allow for messages that never were sent."""
    headers = tuple((name, value or b"") for name, value in message.headers() or ())
    return Record(message.partition(), message.offset(), message.key(), message.value(), headers)
