"""What Kafka's answer to a message means for its event: a table by the names of Kafka's errors, and one function.

Pure, as ``outcome`` is for HTTP. The names are those of ``org.apache.kafka.common.protocol.Errors``; with a ``_`` in
front, librdkafka's own (``rd_kafka_resp_err_t``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from truewatch_lineage.delivery.outcome import Outcome, Verdict


@dataclass(frozen=True, slots=True)
class KafkaResult:
    """What came of a message.

    Attributes:
        error: Kafka's name for what is wrong, or None if it is in the topic.
        detail: What Kafka's client says of it, without any secret.
        sent: Whether it may be in the topic all the same.
        partition: Where it is.
        offset: Where it is in there.
    """

    error: str | None
    detail: str = ""
    sent: bool = False
    partition: int = -1
    offset: int = -1


def _park(reason: str) -> Outcome:
    return Outcome(Verdict.PARK, reason)


def _dead(reason: str) -> Outcome:
    return Outcome(Verdict.DEAD, f"{reason}, so sending it again can't help.")


_NO_TOPIC: Final = _park("the topic {topic} does not exist. Create it, or check the url.")
_LOGIN: Final = _park("it refused the login. Check the sasl properties in kafka_config's file.")
_TLS: Final = _park(
    "TLS does not come about. Check the ssl properties in kafka_config's file and the certificate itself: verifying is "
    "never switched off."
)
_CLIENT: Final = _park("its client can't work like this. Check kafka_config's file.")

_ROWS: Final[Mapping[str, Outcome]] = {
    "MSG_SIZE_TOO_LARGE": _dead(
        "the event is larger than the topic takes (its max.message.bytes, the broker's message.max.bytes)"
    ),
    "RECORD_LIST_TOO_LARGE": _dead("the event is larger than a segment of the topic"),
    "INVALID_RECORD": _dead("the topic refuses the event"),
    "INVALID_TIMESTAMP": _dead("the topic refuses the message's time"),
    "_UNKNOWN_TOPIC": _NO_TOPIC,
    "UNKNOWN_TOPIC_OR_PART": _NO_TOPIC,
    "TOPIC_EXCEPTION": _park("the topic can't be used. Check its name in the url."),
    "TOPIC_AUTHORIZATION_FAILED": _park(
        "the user may not write to the topic {topic}. Grant WRITE and DESCRIBE on it, or check the login in "
        "kafka_config's file."
    ),
    "CLUSTER_AUTHORIZATION_FAILED": _park(
        "the user may not write without duplicates. Grant IDEMPOTENT_WRITE on the cluster, or write "
        "enable.idempotence=false into kafka_config's file."
    ),
    "GROUP_AUTHORIZATION_FAILED": _LOGIN,
    "SASL_AUTHENTICATION_FAILED": _LOGIN,
    "_AUTHENTICATION": _LOGIN,
    "UNSUPPORTED_SASL_MECHANISM": _LOGIN,
    "ILLEGAL_SASL_STATE": _LOGIN,
    "SECURITY_DISABLED": _LOGIN,
    "_SSL": _TLS,
    "POLICY_VIOLATION": _park("a policy of the cluster forbids it. Ask whoever runs it."),
    "UNSUPPORTED_COMPRESSION_TYPE": _park("it does not take this compression. Set compression to none."),
    "UNSUPPORTED_VERSION": _park("it is too old for what is asked of it. Check kafka_config's file."),
    "UNSUPPORTED_FOR_MESSAGE_FORMAT": _park("the topic's message format is too old. Raise it."),
    "INVALID_REQUIRED_ACKS": _CLIENT,
    "INVALID_CONFIG": _CLIENT,
    "_INVALID_ARG": _CLIENT,
    "_UNSUPPORTED_FEATURE": _CLIENT,
    "_NOT_IMPLEMENTED": _CLIENT,
    "THROTTLING_QUOTA_EXCEEDED": Outcome(Verdict.RETRY, "it wants less at a time.", slow_down=True),
    "NOT_ENOUGH_REPLICAS": Outcome(Verdict.RETRY, "too few replicas of the partition are in sync."),
    "NOT_ENOUGH_REPLICAS_AFTER_APPEND": Outcome(
        Verdict.RETRY, "too few replicas of the partition are in sync.", ambiguous=True
    ),
    "REQUEST_TIMED_OUT": Outcome(Verdict.RETRY, "the replicas did not answer in time.", ambiguous=True),
    "_MSG_TIMED_OUT": Outcome(Verdict.RETRY, "no broker took the event in time."),
    "_TIMED_OUT": Outcome(Verdict.RETRY, "no broker answered in time."),
    "_ALL_BROKERS_DOWN": Outcome(Verdict.RETRY, "no broker can be reached."),
    "_TRANSPORT": Outcome(Verdict.RETRY, "no broker can be reached."),
    "_RESOLVE": Outcome(Verdict.RETRY, "no broker's name is known."),
}
_OTHER: Final = Outcome(Verdict.RETRY, "it failed.", ambiguous=True)
"""What passes by itself: a new leader, a full queue, a disk; and what this release does not know yet."""


def judge(result: KafkaResult, topic: str) -> Outcome:
    """Say what ``result`` means.

    Args:
        result: What came of the message.
        topic: Where it was sent.
    """
    if result.error is None:
        return Outcome(Verdict.DELIVERED, f"delivered to partition {result.partition} at offset {result.offset}")
    row = _ROWS.get(result.error, _OTHER)
    told = f" ({result.detail.removesuffix('.')})" if result.detail else ""
    reason = f"Kafka said {result.error}{told}: {row.reason.format(topic=topic)}"
    return replace(row, reason=reason, ambiguous=row.ambiguous or result.sent)
