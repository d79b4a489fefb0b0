"""A topic of Kafka as a destination: from the spool, by each command, through outages and mistakes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import uuid
from collections import defaultdict

import pytest
from support.certificates import Authority
from support.cli import ndjson, run
from support.couriers import Clock, post
from support.events import run_event, tree
from support.kafka import Broker, login
from support.private import write_private
from support.repository import ROOT
from support.spooled import spooled

from truewatch_lineage import TrueWatchTransport
from truewatch_lineage.config import load

STEPS = ("START", "RUNNING", "COMPLETE")
STOCK = """
from openlineage.client import OpenLineageClient
from support.events import run_event
client = OpenLineageClient()
client.emit(run_event(job="job", namespace="ns"))
"""
PASSWORD = "the-ferry-leaves-at-noon-7"
WRONG = "the-ferry-left-at-noon-7"


@pytest.fixture
def topic(kafka):
    """Give a topic of the test's own."""
    name = f"topic-{uuid.uuid4()}"
    kafka.create_topic(name, partitions=3)
    return name


@pytest.fixture
def own(tmp_path):
    """Give a broker that the test may kill, with one topic."""
    with Broker(tmp_path / "kafka") as broker:
        broker.create_topic("lineage", partitions=2)
        yield broker


@pytest.fixture
def env(kafka, topic, tmp_path):
    """Settings for the topic, and a spool of the test's own."""
    return {"url": f"kafka://{kafka.address}/{topic}", "spool_dir": tmp_path / "spool"}


def destination(url, **params):
    """Load the settings of a topic."""
    return load({"url": url, "timeout": 2, **params}, environ={}).destinations[0]


def events(runs):
    """Return three events of each run, run after run."""
    return [tree(eventType=step, run={"runId": str(run)}) for run in runs for step in STEPS]


def steps(broker, topic):
    """Return the steps of each run in the order of the topic."""
    found = defaultdict(list)
    for record in broker.read(topic):
        event = json.loads(record.value)
        found[event["run"]["runId"]].append(event["eventType"])
    return dict(found)


def test_what_is_sent_is_in_the_topic_in_order(kafka, topic, env, tmp_path):
    """``send`` takes files as for any destination."""
    ran = run("send", ndjson(tmp_path / "events.ndjson", *events(range(20))), env=env)
    assert (ran.code, ran.out) == (0, "default: 60 delivered\n")
    assert steps(kafka, topic) == {str(number): list(STEPS) for number in range(20)}


def test_the_transport_delivers_beside_an_endpoint(kafka, topic, env, tmp_path):
    """Two destinations, of which one is Kafka; what can't be delivered to the other holds up nothing."""
    silent = {"url": "http://127.0.0.1:9", "token": "a-token-of-the-tests", "destination": "dataway"}
    there = {"kafka": {"url": env["url"]}, "silent": silent}
    transport = TrueWatchTransport({"destinations": there, "spool_dir": str(tmp_path / "spool"), "exit_budget": 1})
    transport.emit(run_event(run_id="4a8f90a7-79c0-4f80-89e7-6b6c5d4fc79a"))
    assert not transport.close()
    assert list(steps(kafka, topic)) == ["4a8f90a7-79c0-4f80-89e7-6b6c5d4fc79a"]


def test_a_receipt_tells_where_the_event_is(kafka, topic, env, tmp_path):
    """``spool trace`` shows partition and offset."""
    run("send", ndjson(tmp_path / "events.ndjson", *events(["a-run"])), env=env)
    [first, *_] = kafka.read(topic)
    assert f"partition {first.partition} at offset {first.offset}" in run("spool", "trace", "a-run", env=env).out


def test_events_wait_while_the_broker_is_down_and_arrive_once_in_order(own, tmp_path):
    """Paused meanwhile; what the broker had is not sent again."""
    there, clock = destination(f"kafka://{own.address}/lineage"), Clock()
    with post(tmp_path / "spool", there, clock=clock) as here:
        here.put(there, events(range(10)))
        here.courier.drain(10)
        own.kill()
        here.put(there, events(range(10, 20)))
        here.courier.drain(10)
        standing = here.standing(there)
        assert (standing.state, here.courier.pending()) == ("paused", 30)
        assert "Kafka said" in standing.reason
        own.start()
        clock.now = standing.until
        here.courier.drain(10)
        assert (here.standing(there).state, here.courier.pending()) == ("ready", 0)
    assert steps(own, "lineage") == {str(number): list(STEPS) for number in range(20)}


def test_a_topic_that_is_missing_stops_the_destination_with_the_fix(kafka, tmp_path):
    """Nothing is dead; a drain after the topic was made delivers everything."""
    name = f"missing-{uuid.uuid4()}"
    env = {"url": f"kafka://{kafka.address}/{name}", "spool_dir": tmp_path / "spool"}
    file = ndjson(tmp_path / "events.ndjson", *events(range(2)))
    assert run("send", "--timeout", 3, file, env=env).code == 75
    status = run("spool", "status", env=env)
    assert "stopped until you fix this: Kafka said UNKNOWN_TOPIC_OR_PART" in status.out
    assert f"the topic {name} does not exist. Create it, or check the url." in status.out
    kafka.create_topic(name)
    assert run("spool", "drain", env=env).code == 0
    assert steps(kafka, name) == {"0": list(STEPS), "1": list(STEPS)}


def test_an_event_that_is_too_large_is_a_dead_letter_and_holds_up_nothing(kafka, tmp_path):
    """Its lane goes on behind it."""
    name = f"small-{uuid.uuid4()}"
    kafka.create_topic(name, config={"max.message.bytes": "20000"})
    env = {"url": f"kafka://{kafka.address}/{name}", "spool_dir": tmp_path / "spool"}
    first, second, third = events(["a-run"])
    large = {**second, "producer": os.urandom(40_000).hex()}
    ran = run("send", ndjson(tmp_path / "events.ndjson", first, large, third), env=env)
    assert ran.code == 1
    [dead] = run("spool", "list", "--dead", "--json", env=env).lines
    assert "larger than the topic takes" in dead["reason"]
    assert steps(kafka, name) == {"a-run": ["START", "COMPLETE"]}


def test_a_wrong_password_is_parked_and_stays_secret(tmp_path, capfd, caplog):
    """In no message, log or file of ours; the file's mending opens the destination at once."""
    path = write_private(tmp_path / "kafka.properties", login(WRONG))
    with Broker(tmp_path / "kafka", password=PASSWORD) as broker:
        broker.create_topic("lineage")
        there = destination(f"kafka://{broker.sasl}/lineage", kafka_config=str(path))
        with post(tmp_path / "spool", there, clock=Clock()) as here:
            here.put(there, events(range(2)))
            here.courier.drain(10)
            assert (here.standing(there).state, here.courier.pending()) == ("parked", 6)
            reason = here.standing(there).reason
            path.write_text(login(PASSWORD))
            here.courier.drain(10)
            assert (here.standing(there).state, here.courier.pending()) == ("ready", 0)
        assert steps(broker, "lineage") == {"0": list(STEPS), "1": list(STEPS)}
    said = reason + "".join(capfd.readouterr()) + caplog.text + repr(there)
    assert "refused the login" in reason
    kept = b"".join(file.read_bytes() for file in (tmp_path / "spool").iterdir())
    for secret in (WRONG, PASSWORD):
        assert secret not in said
        assert secret.encode() not in kept


def test_check_goes_the_way_to_the_topic(kafka, topic, env):
    """Name, TCP, topic, and two events that are there afterwards."""
    ran = run("check", "--json", env=env)
    assert ran.code == 0
    names = ["settings", "spool", "name", "tcp", "topic", "token", "START", "COMPLETE", "look"]
    assert [(step["name"], step["status"]) for step in ran.json["steps"]] == [(name, "ok") for name in names]
    assert list(steps(kafka, topic).values()) == [["START", "COMPLETE"]]


def test_check_warns_of_a_server_that_is_gone_while_another_is_there(kafka, topic, env):
    """And goes on by the other one."""
    ran = run("check", "--json", env=env | {"url": f"kafka://127.0.0.1:9,{kafka.address}/{topic}"})
    assert ran.code == 0
    assert [step["detail"] for step in ran.json["steps"] if step["status"] == "WARN"] == ["refused by 127.0.0.1:9"]


def test_check_says_what_to_do_about_the_topic(kafka, env):
    """And sends nothing."""
    ran = run("check", "--json", env=env | {"url": f"kafka://{kafka.address}/nowhere"})
    found = {step["name"]: step for step in ran.json["steps"]}
    assert (ran.code, found["topic"]["status"], found["START"]["status"]) == (1, "FAIL", "WARN")
    assert found["topic"]["fix"] == "Create it, or check the url."


def test_check_looks_at_the_file_of_properties(tmp_path):
    """A TLS listener, and a file that others may read."""
    authority = Authority(tmp_path)
    path = write_private(tmp_path / "tls.properties", f"security.protocol=SSL\nssl.ca.location={authority.file}\n")
    path.chmod(0o644)
    with Broker(tmp_path / "kafka", authority=authority) as broker:
        broker.create_topic("lineage")
        env = {"url": f"kafka://{broker.tls}/lineage", "kafka_config": path, "spool_dir": tmp_path / "spool"}
        ran = run("check", "--json", env=env)
    found = {step["name"]: step for step in ran.json["steps"]}
    assert (ran.code, found["topic"]["status"], found["COMPLETE"]["status"]) == (0, "ok", "ok")
    assert (found["kafka_config"]["status"], found["kafka_config"]["fix"]) == ("WARN", "Run chmod 600 on it.")


def test_events_are_validated_for_kafka(env, tmp_path):
    """By the rules that all OpenLineage has."""
    file = ndjson(tmp_path / "events.ndjson", tree())
    assert run("validate", file, env=env).code == 0
    assert run("validate", "--destination", "kafka", file).code == 0


def test_the_stock_client_runs_with_what_env_prints(kafka, topic, env, tmp_path):
    """Its messages have the keys that ours have."""
    script = tmp_path / "script.sh"
    script.write_text(
        f"{run('env', 'python', '--stock', env=env).out}\nexec {sys.executable} - <<'END'\n{STOCK}\nEND\n"
    )
    done = subprocess.run(
        ["sh", str(script)],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT / "tests")},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    run("send", ndjson(tmp_path / "events.ndjson", tree()), env=env)
    assert [record.key for record in kafka.read(topic)] == [b"run:ns/job"] * 2


def test_a_secret_of_the_file_is_not_printed(env, tmp_path):
    """A place to fill in stands for it."""
    path = write_private(tmp_path / "kafka.properties", login(PASSWORD))
    for words in (("env", "python", "--stock"), ("env", "python"), ("env", "airflow", "--by", "connection")):
        ran = run(*words, env=env | {"kafka_config": path})
        assert ran.code == 0
        assert PASSWORD not in ran.out + ran.err


def test_a_spool_is_left_alone_by_other_settings(kafka, topic, env, tmp_path):
    """A topic is bound as a url is: another topic's events wait for ``spool rebind``."""
    run("send", "--no-wait", ndjson(tmp_path / "events.ndjson", tree()), env=env | {"url": "kafka://127.0.0.1:9/x"})
    status = run("spool", "status", "--json", env=env).json
    assert status["pending"] == 1
    run("spool", "rebind", "default", env=env)
    assert run("spool", "drain", env=env).code == 0
    assert len(kafka.read(topic)) == 1
    assert not spooled(tmp_path / "spool").pending
