"""What of a destination's settings means something else, or nothing, where the destination is Kafka."""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from truewatch_lineage.config import coerce, kafka_properties
from truewatch_lineage.config.found import Found
from truewatch_lineage.config.kafka_properties import Properties
from truewatch_lineage.destinations.profile import Profile
from truewatch_lineage.errors import ConfigError

EXTRA: Final = "pip install 'truewatch-lineage[kafka]'"

RESERVED: Final = {
    **dict.fromkeys(("bootstrap.servers", "metadata.broker.list"), "The servers stand in the url."),
    **dict.fromkeys(
        ("acks", "request.required.acks", "request.timeout.ms"), "An event counts only when all replicas have it."
    ),
    **dict.fromkeys(("message.timeout.ms", "delivery.timeout.ms"), "Use the setting timeout."),
    **dict.fromkeys(("compression.type", "compression.codec"), "Use the setting compression."),
    "transactional.id": "No event needs a transaction.",
}
"""Properties of librdkafka that are not the user's to set, and what to do instead."""

_UNUSABLE: Final = {
    "endpoint": "The topic stands in the url.",
    "headers": "A message has none.",
    "ca_file": "Write ssl.ca.location into kafka_config's file.",
    "client_cert": "Write ssl.certificate.location into kafka_config's file.",
    "client_key": "Write ssl.key.location into kafka_config's file.",
    "proxy": "Kafka's protocol does not go by HTTP's proxies.",
}


SECRET: Final = re.compile(r"password|secret|token|\.pem$")
"""What is found in the key of a property whose value may be a secret."""


def check(values: Mapping[str, Found], *, sends: bool) -> None:
    """Check a destination's settings by their names.

    Args:
        values: The settings as they were found.
        sends: Whether this process sends, and so needs Kafka's client.

    Raises:
        ConfigError: One can't be meant for Kafka, or what a process needs that sends is missing or wrong.
    """
    for name, fix in _UNUSABLE.items():
        if name in values:
            raise values[name].error("can't be used with Kafka", fix)
    if not sends:
        return
    if find_spec("confluent_kafka") is None:
        raise ConfigError("Kafka's client is not installed.", key="destination", fix=f"Run: {EXTRA}")
    if "kafka_config" in values:
        client_properties(coerce.path(values["kafka_config"]))


def tell_unused(name: str, values: Mapping[str, Found], profile: Profile, notices: list[str]) -> None:
    """Add a sentence where Kafka's settings stand beside another kind of destination.

    Args:
        name: The destination's name.
        values: Its settings as they were found.
        profile: The rules of its kind.
        notices: Where the sentence is added.
    """
    if found := values.get("kafka_config"):
        notices.append(f"`{found.key}` (from {found.source}) has no effect: {profile.label} ({name}) is not Kafka.")


def client_properties(path: Path) -> Properties:
    """Read the file that ``kafka_config`` names.

    Raises:
        ConfigError: It can't be read, is malformed, or sets what is not the user's to set.
    """
    return kafka_properties.read(path, RESERVED)
