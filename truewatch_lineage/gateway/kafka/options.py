"""What the Kafka intake is told: which topic of which cluster, as which group."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from truewatch_lineage.errors import ConfigError

HOLD_SECONDS: Final = 300.0
MAX_EVENTS: Final = 2000
DEAD_LETTERS: Final = ".dead-letters"
"""What follows the topic's name in that of its dead letters, where none is named."""

_TOPIC: Final = re.compile(r"[a-zA-Z0-9._-]{1,249}")
_ADDRESS: Final = re.compile(r"(?:[\w.-]+|\[[0-9a-fA-F:.]+\]):(?P<port>\d{1,5})")
_LARGEST_PORT: Final = 65_535


@dataclass(frozen=True)
class KafkaOptions:
    """Where events are taken from.

    Attributes:
        bootstrap: Brokers to begin with: ``host:9092,host2:9092``.
        topic: The topic that OpenLineage's Kafka transports write.
        group: The consumer group, whose gateways share the partitions.
        config: A file of librdkafka's properties, for SASL and TLS, or None.
        dead_letter_topic: Where events go that no try can deliver; empty for the topic's name with ``.dead-letters``.
        hold_seconds: After how long an event that waits is moved to the gateway's own spool.
        max_events: How many events may be read and not be committed: so many at most are delivered twice after a kill.
    """

    bootstrap: str
    topic: str
    group: str
    config: Path | None = None
    dead_letter_topic: str = ""
    hold_seconds: float = HOLD_SECONDS
    max_events: int = MAX_EVENTS

    @property
    def dead_letters(self) -> str:
        """The topic of dead letters."""
        return self.dead_letter_topic or f"{self.topic}{DEAD_LETTERS}"

    def check(self) -> None:
        """Check what can be checked without a broker.

        Raises:
            ConfigError: One of them can't be used.
        """
        if not all(map(_is_address, self.bootstrap.split(","))):
            without = ", without kafka://" if "://" in self.bootstrap else ""
            problem, fix = "The brokers are no list of host:port.", f"Write host:9092,host2:9092{without}."
            raise ConfigError(f"--kafka-bootstrap: {problem}", key="--kafka-bootstrap", fix=fix)
        _check_topic(self.topic, "--topic")
        _check_topic(self.dead_letters, "--dead-letter-topic")
        if self.dead_letters == self.topic:
            raise ConfigError(
                "Dead letters would come back into the topic they come from.",
                key="--dead-letter-topic",
                fix="Name another topic.",
            )
        if not self.group.strip():
            raise ConfigError("The consumer group has no name.", key="--group", fix="Name one for all gateways.")


def _is_address(text: str) -> bool:
    found = _ADDRESS.fullmatch(text.strip())
    return found is not None and 0 < int(found["port"]) <= _LARGEST_PORT


def _check_topic(name: str, key: str) -> None:
    if not _TOPIC.fullmatch(name) or name in {".", ".."}:
        fix = "Kafka takes up to 249 letters, digits, dots, underscores and hyphens."
        raise ConfigError("This can't be a topic's name.", key=key, fix=fix)
