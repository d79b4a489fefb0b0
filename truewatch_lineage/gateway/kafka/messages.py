"""Messages of the topic, as many as there is room for; where there is none, Kafka still calls back."""

from __future__ import annotations

import logging
import time
from collections import deque
from typing import Final

from confluent_kafka import Consumer, KafkaError, Message

from truewatch_lineage.gateway.kafka.assignment import Assignment
from truewatch_lineage.gateway.kafka.preparing import Read
from truewatch_lineage.notices import Notices
from truewatch_lineage.protocol import MIB

log = logging.getLogger(__name__)

READ_AT_ONCE: Final = 250
FULL_SECONDS: Final = 1.0
"""How long room is waited for before partitions are paused, which throws away what was fetched ahead."""

_POLL_SECONDS: Final = 0.05
_REST: Final = 0.005
_AHEAD_BYTES: Final = 8 * MIB
_NO_TOPIC: Final = frozenset({KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError._UNKNOWN_TOPIC})  # noqa: SLF001 - public
_FIX: Final = "create it, or check --topic"


class Messages:
    """Reads messages one by one, since a batch of ``consume`` may hold some of a partition that was revoked meanwhile.

    Whoever polls for the answers to commits is given messages too: a few are kept until there is room.

    Args:
        consumer: Subscribed to the topic.
        assignment: Its partitions.

    Attributes:
        trouble: What Kafka says is wrong with the topic or the group, or None.
        is_full: Whether there was no room the last time.
    """

    def __init__(self, consumer: Consumer, assignment: Assignment) -> None:
        self._consumer = consumer
        self._assignment = assignment
        self._ahead: deque[Read] = deque()
        self._bytes = 0
        self._full_since = 0.0
        self._notices = Notices(log)
        self.is_full = False
        self.trouble: str | None = None

    def read(self, room: int, most: int) -> list[Read]:
        """Read what there is room for, waiting a moment for the first message.

        Args:
            room: How many.
            most: How many there would be room for if nothing were under way.
        """
        if room < self._enough(most):
            self._wait_for_room()
            return []
        self.is_full = False
        self._assignment.resume(self._consumer)
        room = min(room, READ_AT_ONCE)
        wait = 0.0 if self._ahead else _POLL_SECONDS
        while len(self._ahead) < room and self._bytes < _AHEAD_BYTES and self._poll(wait):
            wait = 0.0
        found = [self._ahead.popleft() for _ in range(min(room, len(self._ahead)))]
        self._bytes -= sum(len(message) for message, _ in found)
        return [(message, offsets) for message, offsets in found if not offsets.revoked]

    def wait(self) -> None:
        """Let Kafka call back, and keep nothing: what was not taken is read again by whoever comes next."""
        self._consumer.poll(_REST)

    def _enough(self, most: int) -> int:
        """Return how much room must be there to read: the more, the dearer it was to stop."""
        return most // 2 if self._assignment.paused else most // 8 if self.is_full else 1

    def _wait_for_room(self) -> None:
        now = time.monotonic()
        if not self.is_full:
            self.is_full, self._full_since = True, now
        if now - self._full_since >= FULL_SECONDS:
            self._assignment.pause(self._consumer)
            self._poll(_POLL_SECONDS)
            return
        if len(self._ahead) < READ_AT_ONCE and self._bytes < _AHEAD_BYTES:
            self._poll(0.0)
        time.sleep(_REST)

    def _poll(self, seconds: float) -> bool:
        message = self._consumer.poll(seconds)
        if message is None:
            return False
        offsets = self._assignment.get(message.partition())
        if self._is_good(message) and offsets is not None:
            self._ahead.append((message, offsets))
            self._bytes += len(message)
        return True

    def _is_good(self, message: Message) -> bool:
        error = message.error()
        if error is None:
            self.trouble = None
            return True
        if error.code() != KafkaError._PARTITION_EOF:  # noqa: SLF001 - its public name in confluent-kafka
            self.trouble = f"{error.str()}: {_FIX}" if error.code() in _NO_TOPIC else error.str()
            self._notices.warning(error.name(), "Kafka: %s", self.trouble)
        return False
