"""The Kafka intake in this process, with a courier of its spool beside it, as the gateway runs them."""

from __future__ import annotations

import contextlib
import itertools
import json
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from support.events import tree
from support.kafka import Broker
from support.private import write_private
from truewatch_lineage.config import load
from truewatch_lineage.courier import Courier
from truewatch_lineage.gateway.kafka import KafkaIntake, KafkaOptions
from truewatch_lineage.spool import Store

QUICK = "session.timeout.ms=3000\nheartbeat.interval.ms=200\n"
"""Properties with which members of a group notice each other soon."""

STOP_SECONDS = 5
_TOPICS = itertools.count()


class Running:
    """An intake that reads a topic.

    Args:
        broker: Where the topic is.
        topic: The topic.
        spool: The folder of the spool.
        settings: Of the destinations.
        options: More of the intake's options.
    """

    def __init__(self, broker: Broker, topic: str, spool: Path, settings: Mapping[str, Any], **options: Any) -> None:
        loaded = load({**settings, "spool_dir": str(spool), "delivery": "background"})
        self.store = Store(loaded.spool_dir, shares=len(loaded.destinations))
        config = write_private(spool.with_suffix(".properties"), QUICK)
        given = {"config": config, "bootstrap": broker.address, "topic": topic, "group": "gateways", **options}
        self.intake = KafkaIntake(loaded, self.store, KafkaOptions(**given))
        self._courier = Courier(Store(loaded.spool_dir), loaded.destinations, connections=8)

    def __enter__(self) -> Running:  # noqa: PYI034 - Self is in typing from 3.11 on
        self._courier.start(poll=0.05)
        self.intake.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Stop it in an orderly way; once more does nothing."""
        self.intake.stop(STOP_SECONDS)
        self._courier.finish(0)
        self._courier.stop()
        self.store.close()

    def metrics(self) -> dict[str, float]:
        """Return its metrics without their prefix, labels as they are written, as in ``lag{partition="0"}``."""
        found = {}
        for metric in self.intake.metrics():
            for labels, value in metric.samples:
                inner = ",".join(f'{name}="{text}"' for name, text in labels.items() if name != "topic")
                name = metric.name.removeprefix("truewatch_gateway_kafka_")
                found[f"{name}{{{inner}}}" if inner else name] = value
        return found


def new_topic(broker: Broker, partitions: int = 1, *, dead_letters: bool = True, **config: str) -> str:
    """Make a topic, and one for its dead letters."""
    topic = f"lineage-{next(_TOPICS)}"
    broker.create_topic(topic, partitions=partitions, config=config)
    if dead_letters:
        broker.create_topic(f"{topic}.dead-letters")
    return topic


def keyed(count: int, keys: int = 1, first: int = 0) -> list[tuple[bytes, bytes]]:
    """Make messages of ``keys`` jobs in turn, as OpenLineage's Kafka transports key them, numbered in their run id."""
    made = []
    for number in range(first, first + count):
        job = f"job-{number % keys}"
        event = tree(job={"namespace": "ns", "name": job}, run={"runId": str(uuid.UUID(int=number))})
        made.append((f"run:ns/{job}".encode(), json.dumps(event).encode()))
    return made


def number_of(event: Mapping[str, Any]) -> int:
    """Return the number that `keyed` gave to an event."""
    return uuid.UUID(event["run"]["runId"]).int


def until(condition: Callable[[], Any], timeout: float = 15) -> Any:
    """Wait until something is so, and return what was found; AssertionError after ``timeout`` seconds."""
    end = time.monotonic() + timeout
    while not (found := condition()):
        assert time.monotonic() < end, "it did not become so"
        time.sleep(0.02)
    return found


@contextlib.contextmanager
def two_running(broker: Broker, topic: str, folder: Path, settings: Mapping[str, Any], **options: Any) -> Iterator[Any]:
    """Give two intakes of one group, with a spool each, once both have partitions."""
    with (
        Running(broker, topic, folder / "one", settings, **options) as one,
        Running(broker, topic, folder / "two", settings, **options) as two,
    ):
        until(lambda: one.metrics()["assigned_partitions"] and two.metrics()["assigned_partitions"])
        yield one, two
