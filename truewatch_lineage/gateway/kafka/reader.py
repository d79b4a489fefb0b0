"""The thread that reads the topic: it never stops polling for long, and rebalances happen in it."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, Final

from confluent_kafka import Consumer, KafkaError, Message, TopicPartition

from truewatch_lineage.gateway.kafka.client import Clients
from truewatch_lineage.gateway.kafka.commits import Commits
from truewatch_lineage.gateway.kafka.dead_letters import DeadLetters
from truewatch_lineage.gateway.kafka.offsets import Offsets
from truewatch_lineage.gateway.kafka.preparing import Preparation
from truewatch_lineage.gateway.kafka.spill import Spill
from truewatch_lineage.gateway.kafka.stage import MAX_BYTES, MAX_EVENTS, Stage
from truewatch_lineage.gateway.kafka.statistics import Statistics
from truewatch_lineage.notices import Notices
from truewatch_lineage.words import counted

log = logging.getLogger(__name__)

READ_AT_ONCE: Final = 250
READ_SECONDS: Final = 0.05
"""How long a reading waits for messages: what arrives later is read after that."""

FULL_SECONDS: Final = 1.0
"""How long a full stage is waited for before partitions are paused, which throws away what was fetched ahead."""

LONGEST_HANDOVER: Final = 20.0
"""Seconds that attempts under way may take to end where their partition goes to another gateway."""

_REST: Final = 0.005
_LOOK_SECONDS: Final = 10.0
_ASK_SECONDS: Final = 0.5
_CLOSE_SECONDS: Final = 1.0
"""Of the time to stop, what leaving the group may take."""


class Reader:
    """Reads events into the stage, commits what is done, and has the rest written where it belongs.

    Args:
        clients: Makes the consumer.
        topic: The topic.
        stage: Where events wait for delivery.
        preparation: Makes events of messages.
        spill: Moves what waits for too long.
        dead_letters: Writes what can't be delivered.
        wake: Tells the courier that there is something to deliver.
        handover_seconds: How long an attempt may take.

    Raises:
        ConfigError: librdkafka refuses the properties.
    """

    def __init__(
        self,
        clients: Clients,
        topic: str,
        stage: Stage,
        preparation: Preparation,
        spill: Spill,
        dead_letters: DeadLetters,
        wake: Callable[[], None],
        handover_seconds: float,
    ) -> None:
        self._topic = topic
        self._stage = stage
        self._preparation = preparation
        self._spill = spill
        self._dead_letters = dead_letters
        self._wake = wake
        self._handover = min(LONGEST_HANDOVER, handover_seconds, clients.max_poll_seconds / 4)
        self._notices = Notices(log)
        self._partitions: dict[int, Offsets] = {}
        self.statistics = Statistics(topic)
        self._commits = Commits(topic, stage, self._partitions.get)
        self._consumer = clients.consumer(stats_cb=self.statistics.update, on_commit=self._commits.answered)
        self._thread = threading.Thread(target=self._run, name="truewatch-lineage-kafka", daemon=True)
        self._reading, self._running = True, True
        self._end_by = 0.0
        self._full_since: float | None = None
        self._paused = False
        self._look_at = 0.0
        self.trouble: str | None = None
        self.consumed = 0
        self.rebalances = 0

    def start(self) -> None:
        """Join the group and read, in a daemon thread."""
        self._thread.start()

    def finish(self) -> None:
        """Read nothing more; what was read goes on to be committed."""
        self._reading = False

    def stop(self, timeout: float) -> None:
        """Commit, leave the group and end; waits for at most ``timeout`` seconds."""
        self._end_by = time.monotonic() + max(0.0, timeout - _CLOSE_SECONDS)
        self._reading = self._running = False
        if self._thread.ident is None:
            self._consumer.close()
        else:
            self._thread.join(timeout)

    def is_alive(self) -> bool:
        """Tell whether the thread runs."""
        return self._thread.is_alive()

    @property
    def paused(self) -> bool:
        """Whether nothing is read since the stage is full."""
        return self._paused

    @property
    def commit_failures(self) -> int:
        """How many commits of a partition have failed."""
        return self._commits.failed

    def lags(self) -> dict[int, int]:
        """Return, by assigned partition, how many offsets are not committed as done, as far as is known."""
        ends, partitions = dict(self.statistics.ends), dict(self._partitions)
        known = {number: offsets.position or offsets.committed for number, offsets in partitions.items()}
        return {
            number: max(0, ends[number] - position)
            for number, position in known.items()
            if position is not None and number in ends
        }

    @property
    def assigned(self) -> int:
        """How many partitions are assigned."""
        return len(self._partitions)

    def _run(self) -> None:
        try:
            self._consumer.subscribe(
                [self._topic], on_assign=self._assigned, on_revoke=self._revoked, on_lost=self._lost
            )
            while self._running:
                self._turn()
            self._end()
        except Exception as error:  # noqa: BLE001 - the thread's outermost guard: /healthz tells that it has ended
            log.error("Reading from Kafka has ended by a fault: %s", type(error).__name__)  # noqa: TRY400 - its text may quote an event
        finally:
            self._consumer.close()

    def _turn(self) -> None:
        messages = self._read()
        if messages:
            self._take(messages)
        self._dead_letters.turn()
        self._commits.turn(self._consumer, list(self._partitions.values()))
        is_full = self._reading and self._full_since is not None and time.monotonic() - self._full_since > FULL_SECONDS
        if self._spill.turn(crowded=is_full):
            self._wake()
        self._bury_stranded(crowded=is_full)

    def _read(self) -> list[Message]:
        """Read what there is room for; where there is none for a while, only let librdkafka call back."""
        room = self._room() if self._reading else 0
        if room >= self._enough():
            self._full_since = None
            self._resume()
            return self._consumer.consume(min(room, READ_AT_ONCE), READ_SECONDS)
        now = time.monotonic()
        self._full_since = now if self._full_since is None else self._full_since
        if now - self._full_since < FULL_SECONDS:
            time.sleep(_REST)
            return []
        self._pause()
        return self._consumer.consume(1, READ_SECONDS)

    def _enough(self) -> int:
        """Return how much room must be there to read: the more, the dearer it was to stop."""
        return MAX_EVENTS // 2 if self._paused else 1 if self._full_since is None else MAX_EVENTS // 8

    def _room(self) -> int:
        if self._stage.bytes >= MAX_BYTES:
            return 0
        return max(0, MAX_EVENTS - sum(map(len, self._partitions.values())))

    def _take(self, messages: Sequence[Message]) -> None:
        good = [message for message in messages if self._is_good(message)]
        events = self._preparation.prepare(good, self._partitions)
        self.consumed += len(events)
        self._stage.add(events, self._spill.blocked(events))
        self._wake()

    def _is_good(self, message: Message) -> bool:
        error = message.error()
        if error is None:
            self.trouble = None
            return True
        if error.code() != KafkaError._PARTITION_EOF:  # noqa: SLF001 - its public name in confluent-kafka
            self.trouble = error.str()
            self._notices.warning(error.name(), "Kafka: %s", error.str())
        return False

    def _bury_stranded(self, *, crowded: bool) -> None:
        stranded = self._dead_letters.stranded(self._spill.overdue(), crowded=crowded)
        if stranded:
            self._dead_letters.put_back(self._spill.bury(stranded))

    def _pause(self) -> None:
        if not self._paused:
            self._paused = True
            self._consumer.pause(self._topics(self._partitions))
        self._look_at_ends()

    def _resume(self) -> None:
        if self._paused:
            self._paused = False
            self._consumer.resume(self._topics(self._partitions))

    def _look_at_ends(self) -> None:
        """Ask how much paused partitions hold, of which nothing is fetched that would tell; gives up where it hangs."""
        now = time.monotonic()
        if now < self._look_at or not self.statistics.answers:
            return
        self._look_at = now + _LOOK_SECONDS
        for partition in self._topics(self._partitions):
            found: Any = self._consumer.get_watermark_offsets(partition, timeout=_ASK_SECONDS, cached=False)
            if found is None:
                return
            self.statistics.ends[partition.partition] = found[1]

    def _topics(self, partitions: Any) -> list[TopicPartition]:
        return [TopicPartition(self._topic, number) for number in partitions]

    def _assigned(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        self.rebalances += 1
        self.trouble = None
        consumer.incremental_assign(partitions)
        for partition in partitions:
            self._partitions[partition.partition] = Offsets(partition.partition)
        if self._paused and partitions:
            consumer.pause(partitions)
        self._tell("came")

    def _revoked(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        """Let attempts under way end, commit, and leave the rest to the partitions' next owner."""
        going = self._known(partitions)
        self._stage.revoke(going)
        deadline = time.monotonic() + self._handover
        while (self._stage.flying(going) or self._dead_letters.posting(going)) and time.monotonic() < deadline:
            self._dead_letters.wait(_REST)
        if self._running:  # else `_end` has committed, or has had its time
            self._commits.now(consumer, going)
        self._drop(going)
        consumer.incremental_unassign(partitions)
        self.rebalances += 1
        self._tell("went")

    def _lost(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        """Forget partitions that others may have already."""
        going = self._known(partitions)
        self._stage.revoke(going)
        self._drop(going)
        consumer.incremental_unassign(partitions)
        self.rebalances += 1
        self._tell("were lost")

    def _known(self, partitions: Sequence[TopicPartition]) -> list[Offsets]:
        found = (self._partitions.get(partition.partition) for partition in partitions)
        return [offsets for offsets in found if offsets is not None]

    def _drop(self, going: Sequence[Offsets]) -> None:
        self._stage.forget(going)
        self._dead_letters.forget(going)
        for offsets in going:
            del self._partitions[offsets.partition]

    def _tell(self, what: str) -> None:
        log.info("Partitions %s; this gateway has %s of %s.", what, counted(self.assigned, "partition"), self._topic)

    def _end(self) -> None:
        """Commit what is done, as far as a broker answers in time; closing leaves the group."""
        partitions = list(self._partitions.values())
        self._dead_letters.turn()
        while time.monotonic() < self._end_by and self.statistics.answers:
            self._commits.turn(self._consumer, partitions)
            self._consumer.poll(_REST)
            self._dead_letters.turn()
            if not len(self._dead_letters) and not self._commits.are_outstanding(partitions):
                break
