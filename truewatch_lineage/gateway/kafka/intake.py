"""Kafka in, told in one place: reader → stage → courier, and what is done is committed.

An offset is committed once its event is delivered to each destination, skipped, written to the topic of dead letters,
or, where it waits for too long, committed to the gateway's own spool.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable
from typing import Final

from truewatch_lineage.config import DestinationSettings, Settings
from truewatch_lineage.config.kafka_url import servers_and_topic
from truewatch_lineage.courier import Courier, binding_of
from truewatch_lineage.errors import ConfigError
from truewatch_lineage.gateway.kafka.metrics import metrics
from truewatch_lineage.gateway.kafka.options import KafkaOptions
from truewatch_lineage.gateway.kafka.stage import Stage
from truewatch_lineage.serving.exposition import Metric
from truewatch_lineage.spool import Store

_POLL_SECONDS: Final = 0.5
_DELIVERING: Final = 0.7
"""Of the time to stop, the share that deliveries may take; the rest is for commits."""


class KafkaIntake:
    """Takes events from a topic and has them delivered.

    Args:
        settings: The destinations and what belongs to them.
        store: The gateway's spool, which takes what waits for too long.
        options: The topic.

    Raises:
        ConfigError: The options or the properties can't be used, or the extra ``kafka`` is not installed.
    """

    def __init__(self, settings: Settings, store: Store, options: KafkaOptions) -> None:
        options.check()
        for destination in settings.destinations:
            _check_no_loop(destination, options)
        try:
            from truewatch_lineage.gateway.kafka.client import Clients  # noqa: PLC0415 - needs the extra
            from truewatch_lineage.gateway.kafka.dead_letters import DeadLetters  # noqa: PLC0415
            from truewatch_lineage.gateway.kafka.preparing import Preparation  # noqa: PLC0415
            from truewatch_lineage.gateway.kafka.reader import Reader  # noqa: PLC0415
            from truewatch_lineage.gateway.kafka.spill import Spill  # noqa: PLC0415
        except ModuleNotFoundError as error:
            fix = "pip install 'truewatch-lineage[kafka]'"
            raise ConfigError(f"Kafka needs {error.name}, which is not installed.", fix=fix) from error
        bindings = [binding_of(destination) for destination in settings.destinations]
        clients = Clients(options)
        self._topic = options.topic
        self._stage = Stage(bindings, options.max_events, topic=options.topic)
        self._courier = Courier(self._stage, settings.destinations)
        self._preparation = Preparation(settings)
        self._spill = Spill(self._stage, store, bindings, options.hold_seconds)
        self._dead_letters = DeadLetters(clients.producer(), options.dead_letters, options.topic, self._stage)
        self._reader = Reader(
            clients,
            options.topic,
            self._stage,
            self._preparation,
            self._spill,
            self._dead_letters,
            self._courier.wake,
            1.0 + max(destination.timeout for destination in settings.destinations),
        )

    def start(self) -> None:
        """Join the group, read and deliver, in daemon threads."""
        self._courier.start(poll=_POLL_SECONDS)
        self._reader.start()
        name = "truewatch-lineage-kafka-look"
        threading.Thread(target=self._dead_letters.look_for_topic, name=name, daemon=True).start()

    def stop(self, timeout: float) -> None:
        """Read no more, deliver what is due, commit and leave the group; what is left stays in Kafka.

        Args:
            timeout: Seconds that this may take.
        """
        deadline = time.monotonic() + timeout
        self._reader.finish()
        self._courier.finish(timeout * _DELIVERING)
        self._courier.stop()
        self._reader.stop(max(0.0, deadline - time.monotonic()))

    def has_ended(self) -> bool:
        """Tell whether reading or delivering has ended, as by a fault or a fatal error of Kafka."""
        return not self._reader.is_alive() or not self._courier.all_live()

    def problem(self) -> str | None:
        """Say why no events come, or None; a gateway without partitions stands by and has none."""
        statistics = self._reader.statistics
        if statistics.answers is False:
            return "no Kafka broker answers"
        if self._reader.messages.trouble is not None:
            return self._reader.messages.trouble
        return None if statistics.joined else "the consumer group is not joined yet"

    def metrics(self) -> Iterable[Metric]:
        """Return counters since the start, and what is so now."""
        return metrics(self._topic, self._reader, self._stage, self._preparation, self._spill, self._dead_letters)


def _check_no_loop(destination: DestinationSettings, options: KafkaOptions) -> None:
    """Check that events are not written to where they come from.

    Raises:
        ConfigError: They would be.
    """
    if destination.profile.kind != "kafka":
        return
    servers, topic = servers_and_topic(destination.url)
    here = {server.strip() for server in options.bootstrap.split(",")}
    if topic in {options.topic, options.dead_letters} and here & set(servers.split(",")):
        raise ConfigError(
            f"Destination `{destination.name}` would write every event to the topic {topic}, which this gateway reads "
            "or keeps dead letters in.",
            key="url",
            fix="Name another topic.",
        )
