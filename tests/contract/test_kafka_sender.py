"""One attempt to write one event, against a real broker: what each of its answers comes to."""

from __future__ import annotations

import gzip
import json
import os
import threading
import time
import uuid
from contextlib import contextmanager

import pytest
from support.certificates import Authority
from support.destinations import EVENT, EVENT_GZ
from support.events import tree
from support.kafka import LARGEST, Broker, login
from support.private import write_private

from truewatch_lineage.config import load
from truewatch_lineage.delivery.kafka import KafkaSender
from truewatch_lineage.delivery.outcome import Verdict

PASSWORD = "harbour-lights-at-dusk-42"
WRONG = "harbour-lights-at-dawn-41"
AUTHORIZED = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "allow.everyone.if.no.acl.found": "true",
}
KEY = b"run:example.scheduler/daily_orders"


@pytest.fixture
def topic(kafka):
    """Give a topic of the test's own."""
    name = f"topic-{uuid.uuid4()}"
    kafka.create_topic(name, partitions=3)
    return name


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    """Give an authority that signs the broker's certificate."""
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(scope="module")
def guarded(tmp_path_factory, authority):
    """Give a broker that asks for a password, or for TLS, with one topic."""
    folder = tmp_path_factory.mktemp("guarded")
    with Broker(folder, password=PASSWORD, authority=authority, settings=AUTHORIZED) as broker:
        broker.create_topic("lineage")
        broker.create_topic("closed")
        broker.allow_only("User:another", "closed")
        yield broker


@contextmanager
def sender(address, topic, **params):
    """Make a sender and close it afterwards."""
    made = KafkaSender(destination(address, topic, **params))
    try:
        yield made
    finally:
        made.close()


def destination(address, topic, **params):
    """Load the settings of a topic."""
    return load({"url": f"kafka://{address}/{topic}", **params}, environ={}).destinations[0]


def send(to, event=None, seconds=10.0):
    """Send an event with a deadline ``seconds`` from now."""
    body = EVENT_GZ if event is None else gzip.compress(json.dumps(event).encode())
    return to.send(body, deadline=time.monotonic() + seconds)


def test_an_event_is_in_the_topic_when_it_is_delivered(kafka, topic):
    """Body and key are upstream's, without headers, and the receipt tells where it is."""
    with sender(kafka.address, topic) as to:
        outcome = send(to)
    [record] = kafka.read(topic)
    assert outcome.verdict is Verdict.DELIVERED
    assert outcome.reason == f"delivered to partition {record.partition} at offset {record.offset}"
    assert (record.key, json.loads(record.value), record.headers) == (KEY, EVENT, ())


@pytest.mark.serial
def test_the_first_event_does_not_wait_for_the_librarys_own_pauses(kafka, topic):
    """An idempotent producer that is not asked for its topic first takes a second for its first message."""
    with sender(kafka.address, topic) as to:
        began = time.monotonic()
        assert send(to).verdict is Verdict.DELIVERED
        assert time.monotonic() - began < 0.8


def test_an_event_without_a_key_is_taken(kafka, topic):
    """Whatever a future event is, it goes to any partition."""
    with sender(kafka.address, topic) as to:
        assert send(to, {"something": "else"}).verdict is Verdict.DELIVERED
    assert [record.key for record in kafka.read(topic)] == [None]


@pytest.mark.parametrize("compression", ["gzip", "none"])
def test_an_event_of_more_than_8_mib_is_taken(kafka, topic, compression):
    """Where the topic takes it; what can't be compressed counts as it is."""
    with sender(kafka.address, topic, compression=compression) as to:
        assert send(to, tree(producer="x" * (9 * 1024 * 1024))).verdict is Verdict.DELIVERED


def test_an_event_larger_than_the_topic_takes_is_dead(kafka, topic):
    """And the next one is delivered."""
    noise = os.urandom(LARGEST).hex()
    with sender(kafka.address, topic) as to:
        outcome = send(to, tree(producer=noise))
        assert (outcome.verdict, "max.message.bytes" in outcome.reason) == (Verdict.DEAD, True)
        assert send(to).verdict is Verdict.DELIVERED


def test_a_topic_that_does_not_exist_stops_the_destination_until_it_does(kafka):
    """The reason says what to do; nothing is restarted for it."""
    name = f"later-{uuid.uuid4()}"
    with sender(kafka.address, name) as to:
        outcome = send(to)
        assert outcome.verdict is Verdict.PARK
        assert f"the topic {name} does not exist. Create it" in outcome.reason
        kafka.create_topic(name)
        assert send(to).verdict is Verdict.DELIVERED


def test_a_broker_that_makes_topics_by_itself_makes_this_one(tmp_path):
    """The first event waits for it."""
    with (
        Broker(tmp_path / "kafka", settings={"auto.create.topics.enable": "true"}) as broker,
        sender(broker.address, "lineage") as to,
    ):
        assert send(to).verdict is Verdict.DELIVERED


def test_many_threads_share_one_producer(kafka, topic):
    """64 at once, as a courier has them; each knows of its own message."""
    with sender(kafka.address, topic) as to:
        outcomes = []
        events = [tree(job={"namespace": "ns", "name": f"job-{number}"}) for number in range(64)]
        threads = [threading.Thread(target=lambda event=event: outcomes.append(send(to, event))) for event in events]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    places = {f"delivered to partition {r.partition} at offset {r.offset}" for r in kafka.read(topic)}
    assert {outcome.reason for outcome in outcomes} == places
    assert len(places) == 64


@pytest.mark.serial
@pytest.mark.parametrize("seconds", [0.3, 5.0])
def test_an_attempt_ends_by_its_deadline_where_nobody_listens(seconds):
    """A refused connection is known at once, long before a deadline."""
    with sender("127.0.0.1:9", "lineage") as to:
        began = time.monotonic()
        outcome = send(to, seconds=seconds)
        assert (outcome.verdict, outcome.ambiguous) == (Verdict.RETRY, False)
        assert "Connection refused" in outcome.reason
        assert time.monotonic() - began < min(seconds, 2.0) + 0.5


def test_a_broker_that_hangs_costs_the_attempts_time_and_no_more(tmp_path):
    """The fate of what was sent is unknown; when the broker is back the next one passes, and nothing is lost."""
    with Broker(tmp_path / "kafka") as broker:
        broker.create_topic("lineage")
        with sender(broker.address, "lineage", timeout=5) as to:
            assert send(to).verdict is Verdict.DELIVERED
            broker.freeze()
            for seconds in (1.0, 0.5):
                began = time.monotonic()
                assert send(to, seconds=seconds).verdict is Verdict.RETRY
                assert time.monotonic() - began < seconds + 1.0
            broker.thaw()
            assert send(to).verdict is Verdict.DELIVERED
        assert len(broker.read("lineage")) in (2, 3)


def test_what_never_left_does_not_arrive_beside_its_retry(tmp_path):
    """An event that a broker which was down did not get is in the topic once."""
    with Broker(tmp_path / "kafka") as broker:
        broker.create_topic("lineage")
        with sender(broker.address, "lineage", timeout=2) as to:
            assert send(to).verdict is Verdict.DELIVERED
            broker.kill()
            assert [send(to, seconds=0.5).verdict for _ in range(3)] == [Verdict.RETRY] * 3
            broker.start()
            while send(to).verdict is not Verdict.DELIVERED:
                pass
        assert len(broker.read("lineage")) == 2


def test_a_wrong_password_stops_the_destination_until_the_file_is_mended(guarded, tmp_path, capfd, caplog):
    """The password is in no message, log or output; the next attempt after the file's change passes."""
    path = write_private(tmp_path / "kafka.properties", login(WRONG))
    with sender(guarded.sasl, "lineage", kafka_config=str(path)) as to:
        before = to.fingerprint(b"key")
        outcome = send(to)
        assert outcome.verdict is Verdict.PARK
        assert "it refused the login. Check the sasl properties" in outcome.reason
        path.write_text(login(PASSWORD))
        assert to.fingerprint(b"key") != before
        assert send(to).verdict is Verdict.DELIVERED
    said = "".join(capfd.readouterr()) + caplog.text + outcome.reason
    assert WRONG not in said
    assert PASSWORD not in said


def test_a_topic_of_others_stops_the_destination(guarded, tmp_path, capfd):
    """With what to grant; neither the client nor its thread says anything on stderr."""
    path = write_private(tmp_path / "kafka.properties", login(PASSWORD))
    with sender(guarded.sasl, "closed", kafka_config=str(path)) as to:
        outcome = send(to)
        assert (outcome.verdict, "Grant WRITE and DESCRIBE" in outcome.reason) == (Verdict.PARK, True)
    assert capfd.readouterr().err == ""


def test_a_client_that_does_not_log_in_is_told_that_it_is_hung_up_on(guarded):
    """Which is all that such a listener says."""
    with sender(guarded.sasl, "lineage") as to:
        outcome = send(to, seconds=3)
        assert (outcome.verdict, "Disconnected" in outcome.reason) == (Verdict.RETRY, True)


def test_an_event_that_the_topic_refuses_is_dead(kafka):
    """A compacted topic takes none without a key."""
    name = f"compacted-{uuid.uuid4()}"
    kafka.create_topic(name, config={"cleanup.policy": "compact"})
    with sender(kafka.address, name) as to:
        assert send(to).verdict is Verdict.DELIVERED
        outcome = send(to, {"something": "else"})
        assert (outcome.verdict, "INVALID_RECORD" in outcome.reason) == (Verdict.DEAD, True)


def test_tls_needs_the_authority(guarded, authority, tmp_path):
    """Verifying is never switched off."""
    path = write_private(tmp_path / "kafka.properties", "security.protocol=SSL\n")
    with sender(guarded.tls, "lineage", kafka_config=str(path)) as to:
        outcome = send(to)
        assert (outcome.verdict, "verifying is never switched off" in outcome.reason) == (Verdict.PARK, True)
        path.write_text(f"security.protocol=SSL\nssl.ca.location={authority.file}\n")
        assert send(to).verdict is Verdict.DELIVERED


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("sasl.pasword=hunter2hunter2", "is no property of librdkafka"),
        ("security.protocol=hunter2hunter2", "is refused by librdkafka"),
        ("stats_cb=hunter2hunter2", "is refused by librdkafka"),
        ("acks=0", "can't be set here"),
    ],
)
def test_a_file_that_went_wrong_stops_the_destination(kafka, topic, tmp_path, line, words):
    """What is wrong is told with its line, and without its value."""
    path = write_private(tmp_path / "kafka.properties", "# nothing yet\n")
    with sender(kafka.address, topic, kafka_config=str(path)) as to:
        assert send(to).verdict is Verdict.DELIVERED
        path.write_text(f"# changed\n{line}\n")
        outcome = send(to)
        assert outcome.verdict is Verdict.PARK
        assert words in outcome.reason
        assert "line 2" in outcome.reason
        assert "hunter2" not in outcome.reason


def test_the_fingerprint_tells_a_change_and_not_what(tmp_path):
    """It changes with the topic and the file, and is the same for the same."""
    path = write_private(tmp_path / "kafka.properties", login(PASSWORD))
    one, same, other = (KafkaSender(destination("a:1", topic, kafka_config=str(path))) for topic in ("x", "x", "y"))
    prints = [each.fingerprint(b"key") for each in (one, same, other)]
    assert prints[0] == prints[1] != prints[2]
    assert len(prints[0]) == 16
