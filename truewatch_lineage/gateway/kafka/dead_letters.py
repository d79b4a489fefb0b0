"""Events that no try can deliver go to a topic of their own, with the reason in headers."""

from __future__ import annotations

import gzip
import logging
import time
from collections.abc import Collection, Iterable
from functools import partial
from typing import Final

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from truewatch_lineage.gateway.kafka.events import Parcel
from truewatch_lineage.gateway.kafka.offsets import Offsets
from truewatch_lineage.gateway.kafka.stage import Stage
from truewatch_lineage.notices import Notices
from truewatch_lineage.spool.report import iso

log = logging.getLogger(__name__)

HEADER: Final = "truewatch."
"""How the names of the headers begin."""

_AT_ONCE: Final = 500
_PAUSE_SECONDS: Final = 1.0
_ASK_SECONDS: Final = 5.0
_TOO_LARGE: Final = frozenset({KafkaError.MSG_SIZE_TOO_LARGE, KafkaError.RECORD_LIST_TOO_LARGE})


class DeadLetters:
    """Writes dead letters; all but `look_for_topic` in the reader's thread, the callbacks of its producer too.

    Args:
        producer: Whose ``acks`` is ``all``.
        topic: Where to.
        source: The topic that they come from.
        stage: Which is told what is kept for good.
    """

    def __init__(self, producer: Producer, topic: str, source: str, stage: Stage) -> None:
        self._producer = producer
        self._topic = topic
        self._source = source
        self._stage = stage
        self._notices = Notices(log)
        self._waiting: list[Parcel] = []
        self._posting: set[Parcel] = set()
        self._not_before = 0.0
        self.written = 0

    def __len__(self) -> int:
        """Count those that are not acknowledged yet."""
        return len(self._waiting) + len(self._posting)

    def look_for_topic(self) -> None:
        """Warn where the topic is not there, before the first dead letter finds out; waits some time for a broker."""
        try:
            # All of them are asked for: a broker may make one that is asked for by its name.
            found = self._producer.list_topics(timeout=_ASK_SECONDS).topics
        except KafkaException:
            return  # that no broker answers is told elsewhere
        if self._topic not in found:
            fix = "Create it, or check --dead-letter-topic"
            log.warning("The topic of dead letters, %s, is not there. %s.", self._topic, fix)

    def turn(self) -> None:
        """Hand what is new to the producer, and take what the broker has acknowledged; never waits."""
        self._waiting += self._stage.take_dead()
        if self._waiting and time.monotonic() >= self._not_before:
            batch, self._waiting = self._waiting[:_AT_ONCE], self._waiting[_AT_ONCE:]
            for parcel in batch:
                self._post(parcel)
        self._producer.poll(0)

    def wait(self, seconds: float) -> None:
        """Take acknowledgements for a while."""
        self._producer.poll(seconds)

    def posting(self, partitions: Collection[Offsets]) -> int:
        """Count those of some partitions that the broker has not acknowledged."""
        return sum(parcel.event.offsets in partitions for parcel in self._posting)

    def forget(self, partitions: Collection[Offsets]) -> None:
        """Forget those of partitions that were revoked, which their next owner will write."""
        self._waiting = [parcel for parcel in self._waiting if parcel.event.offsets not in partitions]

    def stranded(self, before: float, *, crowded: bool) -> list[Parcel]:
        """Take those that the topic does not take, for the spool.

        Args:
            before: Whatever arrived until this time of ``time.monotonic()`` and has failed once.
            crowded: Whatever has failed once.
        """
        taken = [
            parcel
            for parcel in self._waiting
            if parcel.is_too_large or (parcel.is_unposted and (crowded or parcel.event.arrived <= before))
        ]
        self._waiting = [parcel for parcel in self._waiting if parcel not in taken]
        return taken

    def put_back(self, parcels: Iterable[Parcel]) -> None:
        """Give back what the spool did not take either."""
        self._waiting += parcels

    def _post(self, parcel: Parcel) -> None:
        self._posting.add(parcel)
        event = parcel.event
        try:
            self._producer.produce(
                self._topic,
                gzip.decompress(event.original),
                event.key,
                headers=self._headers(parcel),
                on_delivery=partial(self._posted, parcel),
            )
        except BufferError:  # the producer's own queue is full
            self._failed(parcel, None)
        except KafkaException as error:
            self._failed(parcel, error.args[0])

    def _posted(self, parcel: Parcel, error: KafkaError | None, _: Message) -> None:
        if error is not None:
            self._failed(parcel, error)
            return
        self._posting.discard(parcel)
        self.written += 1
        self._tell(parcel)
        self._stage.finish(parcel)

    def _tell(self, parcel: Parcel) -> None:
        """Tell of what never was tried; who tried the others has told."""
        if parcel.status is None and not parcel.attempts:
            where, name, reason = f"{self._source}{parcel.event}", parcel.entry.binding.name, parcel.entry.dead
            self._notices.warning("untried", "%s can't be sent to %s and is a dead letter: %s", where, name, reason)

    def _failed(self, parcel: Parcel, error: KafkaError | None) -> None:
        self._posting.discard(parcel)
        if parcel.event.offsets.revoked:  # its next owner will write it
            return
        self._waiting.append(parcel)
        self._not_before = time.monotonic() + _PAUSE_SECONDS
        if error is not None:
            parcel.is_unposted = True
            parcel.is_too_large = error.code() in _TOO_LARGE
            self._notices.warning(
                "failed", "Dead letters can't be written to the topic %s and wait: %s", self._topic, error.str()
            )

    def _headers(self, parcel: Parcel) -> dict[str, str | bytes | None]:
        found = {
            "reason": parcel.entry.dead or "",
            "status": "" if parcel.status is None else str(parcel.status),
            "destination": parcel.entry.binding.name,
            "topic": self._source,
            "partition": str(parcel.event.offsets.partition),
            "offset": str(parcel.event.offset),
            "time": iso(time.time()),
        }
        return {f"{HEADER}{name}": value.encode("utf-8", "replace") for name, value in found.items()}
