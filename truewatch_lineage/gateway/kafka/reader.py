"""The thread that reads the topic: it never stops polling for long, and everything that Kafka calls back runs in it."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import Final

from confluent_kafka import KafkaException

from truewatch_lineage.gateway.kafka.assignment import Assignment
from truewatch_lineage.gateway.kafka.client import Clients
from truewatch_lineage.gateway.kafka.commits import Commits
from truewatch_lineage.gateway.kafka.dead_letters import DeadLetters
from truewatch_lineage.gateway.kafka.messages import Messages
from truewatch_lineage.gateway.kafka.preparing import Preparation, Read
from truewatch_lineage.gateway.kafka.spill import Spill
from truewatch_lineage.gateway.kafka.stage import MAX_BYTES, Stage
from truewatch_lineage.gateway.kafka.statistics import Statistics

log = logging.getLogger(__name__)

LONGEST_HANDOVER: Final = 20.0
"""Seconds that attempts under way may take to end where their partition goes to another gateway."""

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
        messages: Of the topic.

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
        self.statistics = Statistics(topic)
        self.commits = Commits(topic, stage)
        handover = min(LONGEST_HANDOVER, attempt_seconds, clients.max_poll_seconds / 4)
        self.assignment = Assignment(topic, stage, dead_letters, self.commits, self.statistics, handover)
        self._consumer = clients.consumer(stats_cb=self.statistics.update, on_commit=self.commits.answered)
        self._thread = threading.Thread(target=self._run, name="truewatch-lineage-kafka", daemon=True)
        self._is_reading, self._is_running = True, True
        self._end_by = 0.0
        self.messages = Messages(self._consumer, self.assignment)
        self.consumed = 0

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
        self._take(self.messages.read(self._room(), self._stage.max_events))
        self._dead_letters.turn()
        self.commits.turn(self._consumer, list(self.assignment))
        is_crowded = self._is_reading and self.messages.is_full
        if self._spill.turn(crowded=is_crowded):
            self._wake()
        stranded = self._dead_letters.stranded(self._spill.overdue(), crowded=is_crowded)
        if stranded:
            self._dead_letters.put_back(self._spill.bury(stranded))

    def _room(self) -> int:
        if not self._is_reading or self._stage.bytes >= MAX_BYTES:
            return 0
        return max(0, self._stage.max_events - sum(map(len, self.assignment)))

    def _take(self, messages: list[Read]) -> None:
        if messages:
            events = self._preparation.prepare(messages)
            self.consumed += len(events)
            self._stage.add(events, self._spill.blocked(events))
            self._wake()

    def _end(self) -> None:
        """Commit what is done, as far as a broker answers in time; closing leaves the group."""
        partitions = list(self.assignment)
        self._dead_letters.turn()
        while time.monotonic() < self._end_by and self.statistics.answers:
            self.commits.turn(self._consumer, partitions)
            self.messages.wait()
            self._dead_letters.turn()
            if not len(self._dead_letters) and not self.commits.are_outstanding(partitions):
                break
