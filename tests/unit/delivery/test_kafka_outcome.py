"""What each of Kafka's answers means for an event."""

from __future__ import annotations

import confluent_kafka
import pytest

from truewatch_lineage.delivery import kafka_outcome
from truewatch_lineage.delivery.kafka_outcome import KafkaResult, judge
from truewatch_lineage.delivery.outcome import Verdict

ROWS = {
    "MSG_SIZE_TOO_LARGE": (Verdict.DEAD, "larger than the topic takes"),
    "RECORD_LIST_TOO_LARGE": (Verdict.DEAD, "can't help"),
    "INVALID_RECORD": (Verdict.DEAD, "can't help"),
    "_UNKNOWN_TOPIC": (Verdict.PARK, "the topic lineage does not exist. Create it"),
    "UNKNOWN_TOPIC_OR_PART": (Verdict.PARK, "the topic lineage does not exist. Create it"),
    "TOPIC_AUTHORIZATION_FAILED": (Verdict.PARK, "Grant WRITE and DESCRIBE"),
    "CLUSTER_AUTHORIZATION_FAILED": (Verdict.PARK, "Grant IDEMPOTENT_WRITE"),
    "_AUTHENTICATION": (Verdict.PARK, "refused the login"),
    "SASL_AUTHENTICATION_FAILED": (Verdict.PARK, "refused the login"),
    "UNSUPPORTED_SASL_MECHANISM": (Verdict.PARK, "refused the login"),
    "_SSL": (Verdict.PARK, "verifying is never switched off"),
    "UNSUPPORTED_COMPRESSION_TYPE": (Verdict.PARK, "Set compression to none"),
    "POLICY_VIOLATION": (Verdict.PARK, "Ask whoever runs it"),
    "_MSG_TIMED_OUT": (Verdict.RETRY, "in time"),
    "_TIMED_OUT": (Verdict.RETRY, "in time"),
    "_TRANSPORT": (Verdict.RETRY, "can be reached"),
    "_ALL_BROKERS_DOWN": (Verdict.RETRY, "can be reached"),
    "_RESOLVE": (Verdict.RETRY, "name"),
    "NOT_ENOUGH_REPLICAS": (Verdict.RETRY, "in sync"),
    "NOT_LEADER_FOR_PARTITION": (Verdict.RETRY, "failed"),
    "KAFKA_STORAGE_ERROR": (Verdict.RETRY, "failed"),
    "_QUEUE_FULL": (Verdict.RETRY, "failed"),
    "_PURGE_QUEUE": (Verdict.RETRY, "failed"),
    "AN_ERROR_OF_TOMORROW": (Verdict.RETRY, "failed"),
}


@pytest.mark.parametrize(("error", "row"), ROWS.items(), ids=ROWS)
def test_an_error_means(error, row):
    """Each error's verdict, and what it says."""
    outcome = judge(KafkaResult(error, "said so."), "lineage")
    assert (outcome.verdict, outcome.status, outcome.dead_if_passed) == (row[0], None, False)
    assert outcome.reason.startswith(f"Kafka said {error} (said so): ")
    assert row[1] in outcome.reason


def test_an_acknowledged_message_is_delivered():
    """The receipt tells where it is."""
    outcome = judge(KafkaResult(None, partition=3, offset=17), "lineage")
    assert (outcome.verdict, outcome.reason) == (Verdict.DELIVERED, "delivered to partition 3 at offset 17")


@pytest.mark.parametrize(
    ("result", "ambiguous"),
    [
        (KafkaResult("_TRANSPORT"), False),
        (KafkaResult("_TIMED_OUT", sent=True), True),
        (KafkaResult("_AUTHENTICATION", sent=True), True),
        (KafkaResult("NOT_ENOUGH_REPLICAS"), False),
        (KafkaResult("NOT_ENOUGH_REPLICAS_AFTER_APPEND"), True),
        (KafkaResult("REQUEST_TIMED_OUT"), True),
    ],
    ids=lambda value: value.error if isinstance(value, KafkaResult) else "",
)
def test_whether_the_topic_may_hold_it_all_the_same(result, ambiguous):
    """What left and was not answered may be there."""
    assert judge(result, "lineage").ambiguous is ambiguous


def test_a_throttled_sender_slows_down():
    """As for 429."""
    assert judge(KafkaResult("THROTTLING_QUOTA_EXCEEDED"), "lineage").slow_down


def test_the_tables_names_are_librdkafkas():
    """No row is written for a name that never comes."""
    codes = range(-200, 200)
    assert set(kafka_outcome._ROWS) <= {confluent_kafka.KafkaError(code).name() for code in codes}
