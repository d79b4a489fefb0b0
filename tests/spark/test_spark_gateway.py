"""Spark behind the gateway: whatever its destinations do, the job goes on, and each of them gets every event."""

from __future__ import annotations

import json

import pytest
from support import cli
from support.gateway import Gateway
from support.maven import jars
from support.private import write_private
from support.receiver import Receiver
from support.repository import ROOT
from support.spark import AS_LOCAL, HARBOUR, environment
from support.spark_flavours import FLAVOURS, Scene, written
from support.spark_lineage import assert_whole

from truewatch_lineage.protocol import PORTAL_SCHEMA_URL

NAMESPACE = "production-spark"
TOKENS = {"dataway": "tkn_0123456789", "portal": "a-portal's-token"}
OWN = "a-gateway's-own-token"
NEVER = 3600
TOPIC = "from-spark"
BY_KAFKA = """
spark.jars={jars}
spark.extraListeners=io.openlineage.spark.agent.OpenLineageSparkListener
spark.openlineage.namespace={namespace}
spark.openlineage.transport.type=kafka
spark.openlineage.transport.topicName={topic}
spark.openlineage.transport.properties.bootstrap.servers={broker}
spark.openlineage.transport.properties.key.serializer=org.apache.kafka.common.serialization.StringSerializer
spark.openlineage.transport.properties.value.serializer=org.apache.kafka.common.serialization.StringSerializer
spark.openlineage.transport.properties.acks=all
"""

pytestmark = pytest.mark.timeout(900)  # a first run downloads and makes the environment


@pytest.fixture
def receivers():
    """A receiver for each kind of destination, each with a token of its own."""
    with Receiver(tokens=[TOKENS["dataway"]]) as dataway, Receiver(tokens=[TOKENS["portal"]], strict=True) as portal:
        yield {"dataway": dataway, "portal": portal}


def settings_for(receivers):
    """Give the settings of a gateway that delivers to each."""
    named = {
        kind: {"destination": kind, "url": one.url, "token_env": f"THE_{kind.upper()}", "timeout": 2}
        for kind, one in receivers.items()
    }
    tokens = {f"THE_{kind.upper()}": token for kind, token in TOKENS.items()}
    return {"destinations": json.dumps(named), **tokens}


def run_job(spark, gateway, folder):
    """Run the job with the listener pointed at a gateway."""
    settings = {"url": gateway.url, "destination": "openlineage", "token_file": write_private(folder / "token", OWN)}
    text = written("properties", spark, settings, "--namespace", NAMESPACE)
    return FLAVOURS["properties"](Scene(spark, folder), text)


@pytest.mark.parametrize("version", ["3.5", pytest.param("4.0", marks=pytest.mark.slow)])
def test_each_destination_gets_all_that_spark_did_when_it_can(version, receivers, tmp_path):
    """DataWay hangs until the job is over; Portal, which asks for a schemaURL of its own, has it all by then."""
    spark, settings = environment(version), settings_for(receivers)
    receivers["dataway"].faults([{"delay": NEVER, "times": None}])

    with Gateway(kind=None, tokens=[OWN], env=settings) as gateway:
        ran = run_job(spark, gateway, tmp_path)
        assert ran.ready, ran.log
        taken = int(gateway.metrics()['truewatch_gateway_http_events_total{result="accepted"}'])
        meanwhile = receivers["portal"].wait_for_events(taken)
        assert receivers["dataway"].events() == []
        receivers["dataway"].clear()
        cli.run("spool", "resume", "--spool-dir", gateway.spool)
        afterwards = receivers["dataway"].wait_for_events(taken, timeout=30)
        gateway.wait_until_empty()

    for arrived in (meanwhile, afterwards):
        assert len(arrived) == taken
        assert_whole([one["event"] for one in arrived], NAMESPACE)
    assert {one["event"]["schemaURL"] for one in meanwhile} == {PORTAL_SCHEMA_URL}


@pytest.mark.slow
def test_what_spark_writes_to_kafka_arrives(kafka, receivers, tmp_path):
    """The listener's own Kafka transport, which knows no destination, and a gateway that reads the topic afterwards."""
    spark = environment("3.5")
    clients = next(path for path in jars(ROOT / "requirements" / "kafka-jars.txt") if "kafka-clients" in path.name)
    lines = BY_KAFKA.format(jars=f"{spark.jar},{clients}", namespace=NAMESPACE, topic=TOPIC, broker=kafka.address)
    for topic in (TOPIC, f"{TOPIC}.dead-letters"):
        kafka.create_topic(topic, partitions=2)

    ran = spark.submit(HARBOUR, home=tmp_path, properties=AS_LOCAL + lines)
    assert ran.ready, ran.log
    written_there = len(kafka.read(TOPIC))
    options = ("--kafka-bootstrap", kafka.address, "--topic", TOPIC, "--group", "lineage")
    with Gateway(receivers["dataway"].url, token=TOKENS["dataway"], args=options):
        arrived = receivers["dataway"].wait_for_events(written_there, timeout=20)

    assert written_there == len(arrived) > 0
    assert_whole([one["event"] for one in arrived], NAMESPACE)
    assert kafka.read(f"{TOPIC}.dead-letters") == []
