"""From end to end: a gateway at the edge writes to Kafka, another delivers from it; a kill of each loses nothing."""

from __future__ import annotations

import uuid

import pytest
from support.events import tree
from support.gateway import Gateway
from support.private import write_private
from support.receiver import Receiver

TOKEN = "a-token-of-the-chain-12"
STEPS = ("START", "RUNNING", "COMPLETE")
RUNS = 20


@pytest.fixture
def topic(kafka):
    """Give a topic of the test's own, and its dead letters'."""
    name = f"topic-{uuid.uuid4()}"
    kafka.create_topic(name, partitions=2)
    kafka.create_topic(f"{name}.dead-letters")
    return name


def test_events_go_by_http_kafka_and_http_in_order(kafka, topic, tmp_path):
    """What the edge has accepted arrives, though both gateways are killed in between."""
    quick = write_private(tmp_path / "kafka.properties", "session.timeout.ms=2000\nheartbeat.interval.ms=500\n")
    reads = ["--kafka-bootstrap", kafka.address, "--topic", topic, "--group", "central", "--kafka-config", quick]
    runs = [str(uuid.UUID(int=number)) for number in range(RUNS)]
    with (
        Receiver(tokens=[TOKEN]) as receiver,
        Gateway(f"kafka://{kafka.address}/{topic}", kind="kafka") as edge,
        Gateway(receiver.url, token=TOKEN, args=reads) as central,
    ):
        for run in runs:
            for step in STEPS:
                assert edge.post(tree(eventType=step, run={"runId": run})).status == 200
            if run == runs[RUNS // 2]:
                for gateway in (edge, central):
                    gateway.kill()
                    gateway.restart()
        receiver.wait_for_events(RUNS * len(STEPS), timeout=40)
        arrived = {run: [row["event_type"] for row in receiver.events(run_id=run)] for run in runs}
    assert arrived == {run: list(STEPS) for run in runs}
