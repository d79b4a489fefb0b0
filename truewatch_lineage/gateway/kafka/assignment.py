"""Which partitions this gateway reads, and what happens when they come and go."""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from confluent_kafka import Consumer, KafkaException, TopicPartition

from truewatch_lineage.gateway.kafka.commits import Commits
from truewatch_lineage.gateway.kafka.dead_letters import DeadLetters
from truewatch_lineage.gateway.kafka.offsets import Offsets
from truewatch_lineage.gateway.kafka.stage import Stage
from truewatch_lineage.gateway.kafka.statistics import Statistics
from truewatch_lineage.words import counted

log = logging.getLogger(__name__)

_WAIT: Final = 0.005
_LOOK_SECONDS: Final = 10.0
_ASK_SECONDS: Final = 0.5


class Assignment:
    """The partitions of a topic that are assigned now; all of it in the reader's thread, the callbacks too.

    Args:
        topic: The topic.
        stage: Where their events wait.
        dead_letters: Writes what can't be delivered.
        commits: Commits what is done.
        statistics: Tells where partitions end.
        handover_seconds: How long attempts under way may take to end where their partition goes elsewhere.

    Attributes:
        rebalances: How often it has changed.
        paused: Whether nothing is read.
        closing: Whether the consumer is being closed, so that what can be committed has been.
    """

    def __init__(
        self,
        topic: str,
        stage: Stage,
        dead_letters: DeadLetters,
        commits: Commits,
        statistics: Statistics,
        handover_seconds: float,
    ) -> None:
        self._topic = topic
        self._stage = stage
        self._dead_letters = dead_letters
        self._commits = commits
        self._statistics = statistics
        self._handover = handover_seconds
        self._known: dict[int, Offsets] = {}
        self._look_at = 0.0
        self.rebalances = 0
        self.paused = False
        self.closing = False

    def __len__(self) -> int:
        return len(self._known)

    def __iter__(self) -> Iterator[Offsets]:
        """Give them as they are now, to any thread."""
        return iter(list(self._known.values()))

    def get(self, partition: int | None) -> Offsets | None:
        """Return an assigned partition by its number."""
        return None if partition is None else self._known.get(partition)

    def lags(self) -> dict[int, int]:
        """Return by partition how many offsets are not done, where it is known."""
        ends = dict(self._statistics.ends)
        known = {offsets.partition: self._reached(offsets) for offsets in self}
        return {
            number: max(0, ends[number] - reached)
            for number, reached in known.items()
            if reached is not None and number in ends
        }

    def pause(self, consumer: Consumer) -> None:
        """Read nothing, and look now and then where the partitions end, as no fetch tells of it."""
        if not self.paused:
            self.paused = True
            consumer.pause(self._named())
        now = time.monotonic()
        if now >= self._look_at and self._statistics.answers:
            self._look_at = now + _LOOK_SECONDS
            self._look(consumer)

    def resume(self, consumer: Consumer) -> None:
        """Read again."""
        if self.paused:
            self.paused = False
            consumer.resume(self._named())

    def came(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        """Take partitions, as ``on_assign``."""
        self._statistics.answers = self._statistics.joined = True
        consumer.incremental_assign(partitions)
        self._known.update((partition.partition, Offsets(partition.partition)) for partition in partitions)
        # librdkafka keeps a partition paused that went while it was, also when it comes again.
        (consumer.pause if self.paused else consumer.resume)(partitions)
        self._look_at = 0.0
        self._tell("came")

    def went(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        """Let attempts under way end, commit, and leave the rest to the next owner, as ``on_revoke``."""
        going = self._revoke(partitions)
        deadline = time.monotonic() + self._handover
        while (self._stage.flying(going) or self._dead_letters.posting(going)) and time.monotonic() < deadline:
            self._dead_letters.wait(_WAIT)
        if not self.closing:
            self._commits.now(consumer, going)
        self._forget(consumer, going, partitions)
        self._tell("went")

    def were_lost(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        """Forget partitions that others may have already, as ``on_lost``."""
        self._forget(consumer, self._revoke(partitions), partitions)
        self._tell("were lost")

    def _reached(self, offsets: Offsets) -> int | None:
        told = self._statistics
        committed, start = told.committed.get(offsets.partition), told.starts.get(offsets.partition)
        found = (offsets.position, offsets.first, committed, start)
        return next((offset for offset in found if offset is not None), None)

    def _revoke(self, partitions: Iterable[TopicPartition]) -> list[Offsets]:
        found = (self._known.get(partition.partition) for partition in partitions)
        going = [offsets for offsets in found if offsets is not None]
        self._stage.revoke(going)
        return going

    def _forget(self, consumer: Consumer, going: Sequence[Offsets], partitions: list[TopicPartition]) -> None:
        self._stage.forget(going)
        self._dead_letters.forget(going)
        for offsets in going:
            del self._known[offsets.partition]
        consumer.incremental_unassign(partitions)

    def _tell(self, what: str) -> None:
        self.rebalances += 1
        log.info("Partitions %s; this gateway reads %s of %s.", what, counted(len(self), "partition"), self._topic)

    def _look(self, consumer: Consumer) -> None:
        """Ask where the partitions begin and end; gives up at the first that gets no answer."""
        told = self._statistics
        with contextlib.suppress(KafkaException):
            for partition in self._named():
                found = consumer.get_watermark_offsets(partition, timeout=_ASK_SECONDS, cached=False)
                told.starts[partition.partition], told.ends[partition.partition] = found

    def _named(self) -> list[TopicPartition]:
        return [TopicPartition(self._topic, number) for number in self._known]
