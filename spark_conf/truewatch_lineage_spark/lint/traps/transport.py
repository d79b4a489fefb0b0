"""What a transport needs whatever its url is: a type, others inside it, jars; and the circuit breaker around it."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from typing import Final

from truewatch_lineage_spark.lint import keys
from truewatch_lineage_spark.lint.catalog import found
from truewatch_lineage_spark.lint.model import Finding, Scope, spelt
from truewatch_lineage_spark.lint.traps.urls import SPOILT, below

_KAFKA_JARS: Final = ("kafka-clients", "spark-sql-kafka", "spark-streaming-kafka")
_KAFKA_NEEDS: Final = (
    "topicName",
    "properties.bootstrap.servers",
    "properties.key.serializer",
    "properties.value.serializer",
)


def types(scope: Scope) -> Iterator[Finding]:
    """Yield transports without a type, or with one that the listener does not have."""
    for one in scope.transports:
        written = one.settings.get("type")
        name = spelt(below(one, "type"), one.first)
        in_json = one.prefix.removesuffix(".") in scope.layers[one.layer]  # which is not known yet
        if in_json or (written is None and scope.brought(f"{one.prefix}type", one.layer)):
            continue
        if written is None or (written.known and not written.value.strip()):
            message = "A transport without its type in the same place makes the listener send nothing."
            yield found("transport.no-type", one.first, message, f"Add {name}, there too.")
        elif written.known and one.kind not in keys.TRANSPORTS and one.kind not in keys.EXTRA_TRANSPORTS:
            near = get_close_matches(one.kind, keys.TRANSPORTS, n=1)
            fix = f"Write {near[0] if near else 'http'}; the listener has {', '.join(keys.TRANSPORTS)}."
            yield found("transport.unknown-type", written, "The listener has no such transport and sends nothing.", fix)


def several(scope: Scope) -> Iterator[Finding]:
    """Yield composites with nothing in them, and compression that the listener does not know."""
    for one in scope.transports:
        inside = any(one.inside(other.prefix) for other in scope.transports if other.layer == one.layer)
        if one.kind == "composite" and not inside and not any(leaf.startswith("transports") for leaf in one.settings):
            fix = f"Add {spelt(below(one, 'transports.NAME.type'), one.first)} and what belongs to it."
            message = "A composite without transports inside it sends nothing."
            yield found("transport.no-children", one.first, message, fix)
        value = one.known("compression")
        if value and not SPOILT.search(value) and (value.lower() if one.top else value) != "gzip":
            fix = "Write gzip, in lower case, or leave it out."
            message = "The listener knows no other compression than gzip, and sends nothing."
            yield found("transport.compression", one.settings["compression"], message, fix)


def kafka(scope: Scope) -> Iterator[Finding]:
    """Yield what a Kafka transport lacks."""
    jars = ",".join(one.value for key, one in scope.conf.items() if key in ("spark.jars", "spark.jars.packages"))
    for one in scope.transports:
        if one.kind != "kafka":
            continue
        if one.layer == "conf" and not any(name in jars for name in _KAFKA_JARS):
            message = "Without kafka-clients among the jars the job is killed; nothing in this file brings them."
            fix = "Add org.apache.kafka:kafka-clients:3.9.1 to spark.jars.packages, or its jar to spark.jars."
            yield found("transport.kafka-jar", one.first, message, fix)
        for need in _KAFKA_NEEDS:
            if need not in one.settings:
                name = spelt(below(one, need), one.first)
                yield found("transport.kafka-settings", one.first, f"A Kafka transport needs {name}.", "Add it.")


def breakers(scope: Scope) -> Iterator[Finding]:
    """Yield circuit breakers that do not parse."""
    for settings in scope.layers.values():
        own = [one for one in settings.values() if one.rest.startswith("circuitBreaker.")]
        kind = next((one for one in own if one.rest == "circuitBreaker.type"), None)
        if own and kind is None:
            fix = f"Add {spelt('circuitBreaker.type', own[0])}, one of {', '.join(keys.BREAKERS)}."
            yield found(
                "breaker.type", own[0], "A circuit breaker without a type makes the listener send nothing.", fix
            )
        elif kind is not None and kind.known and kind.value.lower() not in {name.lower() for name in keys.BREAKERS}:
            message = "The listener has no such circuit breaker, and sends nothing."
            yield found("breaker.type", kind, message, f"Write one of {', '.join(keys.BREAKERS)}.")
