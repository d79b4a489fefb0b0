"""The thread that reads the topic: it never stops polling for long, and everything that Kafka calls back runs in it."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import Final

from confluent_kafka import KafkaError, KafkaException, Message

from truewatch_lineage.gateway.kafka.assignment import Assignment
from truewatch_lineage.gateway.kafka.client import Clients
from truewatch_lineage.gateway.kafka.commits import Commits
from truewatch_lineage.gateway.kafka.dead_letters import DeadLetters
from truewatch_lineage.gateway.kafka.preparing import Preparation, Read
from truewatch_lineage.gateway.kafka.spill import Spill
from truewatch_lineage.gateway.kafka.stage import MAX_BYTES, Stage
from truewatch_lineage.gateway.kafka.statistics import Statistics
from truewatch_lineage.notices import Notices

log = logging.getLogger(__name__)

READ_AT_ONCE: Final = 250
FULL_SECONDS: Final = 1.0
"""How long a full stage is waited for before partitions are paused, which throws away what was fetched ahead."""

LONGEST_HANDOVER: Final = 20.0
"""Seconds that attempts under way may take to end where their partition goes to another gateway."""

_POLL_SECONDS: Final = 0.05
_REST: Final = 0.005
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
        attempt_seconds: How long an attempt may take.

    Attributes:
        statistics: Of the consumer.
        commits: Of what is done.
        assignment: What is read.
        consumed: How many messages were read.
        trouble: What Kafka says is wrong with the topic or the group, or None.

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
        attempt_seconds: float,
    ) -> None:
        self._topic = topic
        self._stage = stage
        self._preparation = preparation
        self._spill = spill
        self._dead_letters = dead_letters
        self._wake = wake
        self._notices = Notices(log)
        self.statistics = Statistics(topic)
        self.commits = Commits(topic, stage)
        handover = min(LONGEST_HANDOVER, attempt_seconds, clients.max_poll_seconds / 4)
        self.assignment = Assignment(topic, stage, dead_letters, self.commits, self.statistics, handover)
        self._consumer = clients.consumer(stats_cb=self.statistics.update, on_commit=self.commits.answered)
        self._thread = threading.Thread(target=self._run, name="truewatch-lineage-kafka", daemon=True)
        self._is_reading, self._is_running = True, True
        self._end_by = 0.0
        self._full_since: float | None = None
        self.consumed = 0
        self.trouble: str | None = None

    def start(self) -> None:
        """Join the group and read, in a daemon thread."""
        self._thread.start()

    def finish(self) -> None:
        """Read nothing more; what was read goes on to be committed."""
        self._is_reading = False

    def stop(self, timeout: float) -> None:
        """Commit, leave the group and end; waits for at most ``timeout`` seconds."""
        self._end_by = time.monotonic() + max(0.0, timeout - _CLOSE_SECONDS)
        self._is_reading = self._is_running = False
        if self._thread.ident is None:
            self._consumer.close()
        else:
            self._thread.join(timeout)

    def is_alive(self) -> bool:
        """Tell whether the thread runs."""
        return self._thread.is_alive()

    def _run(self) -> None:
        try:
            there = self.assignment
            self._consumer.subscribe([self._topic], on_assign=there.came, on_revoke=there.went, on_lost=there.were_lost)
            while self._is_running:
                self._turn()
            self._end()
        except KafkaException as error:
            log.error("Reading from Kafka has ended: %s", error.args[0].str())  # noqa: TRY400 - whose fault it is, is told
        except Exception as error:  # noqa: BLE001 - the thread's outermost guard, whose end /healthz tells
            # Without its text, which may quote an event.
            log.error("Reading from Kafka has ended by a fault: %s", type(error).__name__)  # noqa: TRY400
        finally:
            self.assignment.closing = True
            self._consumer.close()

    def _turn(self) -> None:
        self._take(self._read())
        self._dead_letters.turn()
        self.commits.turn(self._consumer, list(self.assignment))
        is_crowded = self._is_reading and self._full_since is not None
        if self._spill.turn(crowded=is_crowded):
            self._wake()
        stranded = self._dead_letters.stranded(self._spill.overdue(), crowded=is_crowded)
        if stranded:
            self._dead_letters.put_back(self._spill.bury(stranded))

    def _read(self) -> list[Read]:
        """Read what there is room for; where there is none for a while, only let Kafka call back."""
        room = self._room() if self._is_reading else 0
        if room >= self._enough():
            self._full_since = None
            self.assignment.resume(self._consumer)
            return self._poll(min(room, READ_AT_ONCE))
        if self._full_since is None:
            self._full_since = time.monotonic()
        if not self._is_full_for(FULL_SECONDS):
            time.sleep(_REST)
            return []
        self.assignment.pause(self._consumer)
        return self._poll(1)

    def _poll(self, most: int) -> list[Read]:
        """Read messages one by one: a batch of ``consume`` may hold some of a partition that was revoked meanwhile."""
        found: list[Read] = []
        wait = _POLL_SECONDS
        while len(found) < most and (message := self._consumer.poll(wait)) is not None:
            offsets = self.assignment.get(message.partition())
            if self._is_good(message) and offsets is not None:
                found.append((message, offsets))
            wait = 0.0
        return [(message, offsets) for message, offsets in found if not offsets.revoked]

    def _enough(self) -> int:
        """Return how much room must be there to read: the more, the dearer it was to stop."""
        most = self._stage.max_events
        return most // 2 if self.assignment.paused else 1 if self._full_since is None else most // 8

    def _room(self) -> int:
        if self._stage.bytes >= MAX_BYTES:
            return 0
        return max(0, self._stage.max_events - sum(map(len, self.assignment)))

    def _is_full_for(self, seconds: float) -> bool:
        return self._full_since is not None and time.monotonic() - self._full_since >= seconds

    def _take(self, messages: list[Read]) -> None:
        if messages:
            events = self._preparation.prepare(messages)
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

    def _end(self) -> None:
        """Commit what is done, as far as a broker answers in time; closing leaves the group."""
        partitions = list(self.assignment)
        self._dead_letters.turn()
        while time.monotonic() < self._end_by and self.statistics.answers:
            self.commits.turn(self._consumer, partitions)
            self._consumer.poll(_REST)
            self._dead_letters.turn()
            if not len(self._dead_letters) and not self.commits.are_outstanding(partitions):
                break
