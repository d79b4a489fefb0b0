"""What is told of Kafka to whoever scrapes the gateway."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final, get_args

from truewatch_lineage.serving.exposition import Metric
from truewatch_lineage.spool.records import State

if TYPE_CHECKING:  # which needs the extra
    from truewatch_lineage.gateway.kafka.dead_letters import DeadLetters
    from truewatch_lineage.gateway.kafka.preparing import Preparation
    from truewatch_lineage.gateway.kafka.reader import Reader
    from truewatch_lineage.gateway.kafka.spill import Spill
    from truewatch_lineage.gateway.kafka.stage import Stage

PREFIX: Final = "truewatch_gateway_kafka_"


def metrics(
    topic: str, reader: Reader, stage: Stage, preparation: Preparation, spill: Spill, dead_letters: DeadLetters
) -> Iterator[Metric]:
    """Yield the metrics; no broker is asked."""
    yield _counter("consumed_total", "Messages read from the topic.", reader.consumed)
    yield _counter("empty_total", "Messages without a value, which say nothing to deliver.", preparation.empty)
    yield _counter("skipped_total", "Events that no destination takes.", preparation.skipped)
    yield _by_destination("delivered_total", "Events delivered from memory.", stage.delivered)
    yield _by_destination("dead_total", "Events that no try can deliver.", stage.dead)
    yield _by_destination("spilled_total", "Events that waited too long and were moved to the spool.", spill.spilled)
    yield _counter("dead_letters_written_total", "Dead letters that their topic has.", dead_letters.written)
    yield _states(stage)
    yield _gauge("dead_letters_waiting", "Dead letters that their topic does not have yet.", len(dead_letters))
    lags = [
        ({"topic": topic, "partition": str(number)}, lag) for number, lag in sorted(reader.assignment.lags().items())
    ]
    yield Metric(f"{PREFIX}lag", "gauge", "Messages of an assigned partition that are not done.", lags)
    yield _gauge("assigned_partitions", "Partitions that this gateway reads.", len(reader.assignment))
    yield _counter("rebalances_total", "Changes of the assigned partitions.", reader.assignment.rebalances)
    yield _counter(
        "commit_failures_total", "Commits of a partition that failed and are tried again.", reader.commits.failed
    )
    yield _gauge("staged_events", "Events in memory that are not done.", len(stage))
    yield _gauge("staged_bytes", "Bytes of their bodies, gzipped.", stage.bytes)
    oldest = stage.oldest()
    age = 0.0 if oldest is None else time.monotonic() - oldest
    yield _gauge("oldest_seconds", "Seconds since the oldest of them was read.", round(age, 3))
    yield _gauge("paused", "1 while nothing is read since memory is used up, else 0.", int(reader.assignment.paused))
    yield _gauge("broker_answers", "1 while a broker is connected, else 0.", int(bool(reader.statistics.answers)))


def _counter(name: str, about: str, value: float) -> Metric:
    return Metric.single(f"{PREFIX}{name}", "counter", about, value)


def _gauge(name: str, about: str, value: float) -> Metric:
    return Metric.single(f"{PREFIX}{name}", "gauge", about, value)


def _states(stage: Stage) -> Metric:
    about = "1 for the state that a destination is in, as far as events of Kafka have tried it."
    samples = [
        ({"destination": name, "state": state}, float(state == found))
        for name, found in stage.states().items()
        for state in get_args(State)
    ]
    return Metric(f"{PREFIX}destination_state", "gauge", about, samples)


def _by_destination(name: str, about: str, counts: Mapping[str, int]) -> Metric:
    samples = [({"destination": destination}, float(count)) for destination, count in counts.items()]
    return Metric(f"{PREFIX}{name}", "counter", about, samples)
