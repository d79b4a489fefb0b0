"""Commits what is done of each partition: often and without waiting, and at the end with a wait."""

from __future__ import annotations

import logging
import time
from collections.abc import Collection, Sequence
from typing import Final

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from truewatch_lineage.gateway.kafka.offsets import Offsets
from truewatch_lineage.gateway.kafka.stage import Stage
from truewatch_lineage.notices import Notices

log = logging.getLogger(__name__)

EVERY_SECONDS: Final = 0.1


class Commits:
    """Commits offsets, in the reader's thread.

    Args:
        topic: The topic.
        stage: Whose lock guards offsets.

    Attributes:
        failed: How many commits of a partition failed.
    """

    def __init__(self, topic: str, stage: Stage) -> None:
        self._topic = topic
        self._stage = stage
        self._asked: dict[int, Offsets] = {}
        self._notices = Notices(log)
        self._next = 0.0
        self.failed = 0

    def turn(self, consumer: Consumer, partitions: Collection[Offsets]) -> None:
        """Ask for a commit of what is done since the last one, at most every 0.1 s; `answered` takes the answer."""
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + EVERY_SECONDS
        wanted = self._wanted(partitions)
        if wanted:
            try:
                consumer.commit(offsets=wanted, asynchronous=True)
            except KafkaException as error:
                self.answered(error.args[0], wanted)

    def now(self, consumer: Consumer, partitions: Collection[Offsets]) -> None:
        """Commit what is done and wait for the answer; what fails is delivered again by whoever reads it next."""
        self._stage.withdraw_commits(partitions)
        wanted = self._wanted(partitions)
        if wanted:
            try:
                self.answered(None, consumer.commit(offsets=wanted, asynchronous=False) or [])
            except KafkaException as error:
                self.answered(error.args[0], wanted)

    def are_outstanding(self, partitions: Collection[Offsets]) -> bool:
        """Tell whether anything that is done is not committed."""
        return any(offsets.position != offsets.committed for offsets in partitions if offsets.position is not None)

    def answered(self, error: KafkaError | None, partitions: Sequence[TopicPartition]) -> None:
        """Take the answer to a commit, as ``on_commit``; what failed is asked for again."""
        for one in partitions:
            offsets, problem = self._asked.get(one.partition), error or one.error
            if problem is not None:
                self.failed += 1
                self._notices.warning("failed", "What is done can't be committed to Kafka yet: %s", problem.str())
            if offsets is not None:
                self._stage.committed(offsets, one.offset, committed=problem is None)

    def _wanted(self, partitions: Collection[Offsets]) -> list[TopicPartition]:
        found = self._stage.to_commit(partitions)
        self._asked.update((offsets.partition, offsets) for offsets, _ in found)
        return [TopicPartition(self._topic, offsets.partition, position) for offsets, position in found]
