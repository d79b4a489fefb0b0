"""What Kafka's client library has to say, told in our own log: librdkafka would write it to stderr, again and again."""

from __future__ import annotations

import logging
from typing import Final

from confluent_kafka import KafkaError

from truewatch_lineage.notices import Notices

_HUSHED: Final = frozenset({"CONFWARN", "ERROR", "FAIL"})
"""Facilities that tell nothing new: one file of properties serves consumers and producers, who warn of the other's, and
what fails is told by `ClientLog.error`."""


class ClientLog:
    """Tells warnings and errors of a client, each kind once a minute.

    Args:
        logger: Where to.
    """

    def __init__(self, logger: logging.Logger) -> None:
        self._notices = Notices(logger)

    def log(self, level: int, template: str, facility: str, client: str, text: str) -> None:  # noqa: ARG002
        """Tell a line of librdkafka's log, as confluent-kafka asks its ``logger`` to.

        Args:
            level: As of `logging`.
            template: How confluent-kafka would have it written.
            facility: What the line is about, such as ``FAIL``.
            client: The client's name within the library.
            text: The line, without any property's value.
        """
        if level >= logging.WARNING and facility not in _HUSHED:
            self._notices.warning(facility, "Kafka: %s", text)

    def error(self, error: KafkaError) -> None:
        """Tell an error that concerns no single message, as ``error_cb``."""
        self._notices.warning(error.name(), "Kafka: %s", error.str())
