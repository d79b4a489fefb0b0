"""The steps of ``check`` on the way to a topic of Kafka: each server's name and TCP, the client's file, the topic."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace

from truewatch_lineage.cli.steps import Step, server_steps
from truewatch_lineage.config import DestinationSettings
from truewatch_lineage.config.kafka_url import addresses, servers_and_topic
from truewatch_lineage.delivery.kafka import KafkaSender
from truewatch_lineage.destinations.tokens import FileToken


def way_steps(destination: DestinationSettings) -> Iterator[Step]:
    """Go the way to a topic; servers that can't be reached are a warning while another one can."""
    deadline = time.monotonic() + destination.timeout
    ways = [list(server_steps(destination, host, port, deadline)) for host, port in addresses(destination.url)]
    is_reached = any(way[-1].status == "ok" for way in ways)
    for step in (step for way in ways for step in way):
        yield replace(step, status="WARN") if is_reached and step.status == "FAIL" else step
    if is_reached:
        yield from _properties(destination)
        yield _topic(destination, deadline)


def _properties(destination: DestinationSettings) -> Iterator[Step]:
    path = destination.kafka_config
    if path is not None:
        weakness = FileToken(path).weakness()
        detail, fix = (f"{path}: {weakness}.", "Run chmod 600 on it.") if weakness else (str(path), None)
        yield Step("kafka_config", "WARN" if weakness else "ok", detail, fix, destination.name)


def _topic(destination: DestinationSettings, deadline: float) -> Step:
    """Log in and look for the topic."""
    sender = KafkaSender(destination)
    try:
        problem = sender.look(deadline)
    finally:
        sender.close()
    if problem is None:
        return Step("topic", "ok", f"{servers_and_topic(destination.url)[1]} is there", None, destination.name)
    what, _, fix = problem.reason.partition(". ")
    fix = fix or "This may pass by itself. Check the url, and whether the port speaks what kafka_config's file says."
    return Step("topic", "FAIL", what, fix, destination.name)
