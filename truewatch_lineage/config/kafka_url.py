"""The url of a destination that is a topic of Kafka: ``kafka://host:9092[,host2:9092]/topic``."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import urlsplit

from truewatch_lineage.config import coerce
from truewatch_lineage.config.found import Found

SCHEME: Final = "kafka://"
EXAMPLE: Final = "kafka://broker1.example:9092,broker2.example:9092/lineage"

_DEFAULT_PORT: Final = 9092
_LARGEST_PORT: Final = 65_535
_SERVER: Final = re.compile(r"(?P<host>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::(?P<port>[0-9]{1,5}))?")
_TOPIC: Final = re.compile(r"[A-Za-z0-9._-]{1,249}")
"""``org.apache.kafka.common.internals.Topic`` of 3.9; ``.`` and ``..`` are none."""


def is_kafka(url: Found | None) -> bool:
    """Tell whether a url leads to Kafka by how it begins."""
    return url is not None and isinstance(url.value, str) and url.value.strip().lower().startswith(SCHEME)


def topic_url(url: Found) -> str:
    """Check the url of a topic, and return it with each server's port.

    Raises:
        ConfigError: It is none; what it holds is not shown, since a password may have been written into it.
    """
    text = coerce.text(url)
    if not is_kafka(url):
        raise url.error("must start with kafka://", f"Write it as {EXAMPLE}.")
    servers, _, topic = text[len(SCHEME) :].partition("/")
    if "@" in servers:
        raise url.error("holds a user or password", "Write sasl.username and sasl.password into kafka_config's file.")
    if "?" in text or "#" in text:
        raise url.error("holds a query or fragment", "Write what Kafka's client is to know into kafka_config's file.")
    topic = topic.rstrip("/")
    if not _TOPIC.fullmatch(topic) or topic in (".", ".."):
        raise url.error("has no topic, or one of a name that Kafka does not take", f"Write it as {EXAMPLE}.")
    return f"{SCHEME}{','.join(_server(url, server) for server in servers.split(','))}/{topic}"


def servers_and_topic(url: str) -> tuple[str, str]:
    """Take apart what `topic_url` returned: ``host:port,host2:port2``, and the topic."""
    servers, _, topic = url.removeprefix(SCHEME).partition("/")
    return servers, topic


def addresses(url: str) -> list[tuple[str, int]]:
    """Return host and port of each server of what `topic_url` returned."""
    parts = (urlsplit(f"//{server}") for server in servers_and_topic(url)[0].split(","))
    return [(part.hostname or "", part.port or _DEFAULT_PORT) for part in parts]


def _server(url: Found, server: str) -> str:
    parts = _SERVER.fullmatch(server)
    port = int(parts["port"] or _DEFAULT_PORT) if parts else 0
    if parts is None or not 0 < port <= _LARGEST_PORT:
        raise url.error("has a server without a host, or with a port that can't be", f"Write it as {EXAMPLE}.")
    return f"{parts['host']}:{port}"
