"""Where events go: the type, the url, the endpoint, and what several transports need."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import get_close_matches
from typing import Final
from urllib.parse import SplitResult, urlsplit

from truewatch_lineage import protocol
from truewatch_lineage.config.urls import is_loopback
from truewatch_lineage_spark.lint import keys
from truewatch_lineage_spark.lint.catalog import found
from truewatch_lineage_spark.lint.model import TRANSPORT, Finding, Scope, Transport, spelt

_TRUEWATCH: Final = re.compile(r"(?:.*\.)?(?:truewatch|guance)\.com", re.IGNORECASE)
_DATAKIT_PORT: Final = urlsplit(protocol.DATAKIT_URL).port
_KAFKA_JARS: Final = ("kafka-clients", "spark-sql-kafka", "spark-streaming-kafka")
_KAFKA_NEEDS: Final = ("topicName", "properties.bootstrap.servers", "properties.key.serializer")
_SPOILT: Final = re.compile(r"\$\{|^[\"'\[]")
"""What other traps are about."""


def types(scope: Scope) -> Iterator[Finding]:
    """Yield transports without a type, or with one that the listener does not have."""
    for one in scope.transports:
        written = one.settings.get("type")
        name = spelt(_below(one, "type"), one.first)
        if one.prefix.removesuffix(".") in scope.layers[one.layer]:  # as JSON that is not known yet
            continue
        if written is None or (written.known and not written.value.strip()):
            message = f"{_where(one)} set a transport without its type, so the listener sends nothing."
            yield found("transport.no-type", one.first, message, f"Add {name}, there too.")
        elif written.known and one.kind not in keys.TRANSPORTS and one.kind not in keys.EXTRA_TRANSPORTS:
            near = get_close_matches(one.kind, keys.TRANSPORTS, n=1)
            fix = f"Write {near[0] if near else 'http'}; the listener has {', '.join(keys.TRANSPORTS)}."
            yield found("transport.unknown-type", written, "The listener has no such transport and sends nothing.", fix)


def urls(scope: Scope) -> Iterator[Finding]:
    """Yield what is wrong with the addresses of HTTP transports."""
    for one in scope.transports:
        if one.kind != "http" and ("type" in one.settings or "url" not in one.settings):
            continue
        if "url" not in one.settings:
            yield from _no_url(one, scope)
        elif (url := one.known("url")) is not None and not _SPOILT.search(url):
            yield from _url(one, url.strip(), scope)
        endpoint = one.settings.get("endpoint")
        if endpoint is not None and endpoint.known and "?" in endpoint.value:
            fix = f"Put it into {spelt(_below(one, 'urlParams.NAME'), endpoint)}."
            yield found("transport.endpoint-query", endpoint, "The ? of a query is sent as %3F here.", fix)


def _no_url(one: Transport, scope: Scope) -> Iterator[Finding]:
    """A single transport's url may come from another layer, that of one among several may not."""
    others = {layer for layer, settings in scope.layers.items() if settings and layer != one.layer}
    if one.top and (one.layer != "conf" or others & {"env", "yml"} or scope.elsewhere & {"env", "yml"}):
        return
    if one.top and f"{TRANSPORT}url" in scope.elsewhere:
        return
    message = "An http transport without a url sends nothing."
    yield found("transport.no-url", one.first, message, f"Add {spelt(_below(one, 'url'), one.first)}.")


def _url(one: Transport, url: str, scope: Scope) -> Iterator[Finding]:
    setting = one.settings["url"]
    parts = _split(url)
    if (
        parts is None
        or parts.scheme.lower() not in ("http", "https")
        or not parts.hostname
        or re.search(r"[\s<>]", url)
    ):
        fix = "Write https://HOST, without a path."
        yield found("transport.url-broken", setting, "This is no http or https url, so nothing is sent.", fix)
        return
    path, endpoint = parts.path, "endpoint" in one.settings
    rewritten = one.top and one.layer == "conf" and one.known("type") in (None, "http")
    if rewritten and (path.strip("/") or parts.query):
        fix = f"Leave the origin alone, and put the path into {spelt(_below(one, 'endpoint'), setting)}."
        yield found("transport.url-path", setting, "The listener drops the path and the query of a url.", fix)
    elif path and endpoint and not rewritten:
        fix = "Leave the origin alone, without a / at its end, and put the path into endpoint."
        message = "A url with a path, even a lone /, beside an endpoint is refused here: nothing is sent."
        yield found("transport.url-and-endpoint", setting, message, fix)
    elif not endpoint and not path.strip("/") and not _endpoint_elsewhere(one, scope):
        yield from _default_endpoint(one, parts)
    if parts.scheme.lower() == "http" and not is_loopback(parts.hostname) and _has_token(one, scope):
        message = "The token goes to this host over http, for everybody on the way to read."
        yield found("transport.insecure", setting, message, "Write https://.")


def _default_endpoint(one: Transport, parts: SplitResult) -> Iterator[Finding]:
    host, port = parts.hostname or "", _port(parts)
    if not _TRUEWATCH.fullmatch(host) and port != _DATAKIT_PORT:
        return
    right = protocol.DATAKIT_ENDPOINT if port == _DATAKIT_PORT else protocol.DATAWAY_ENDPOINT
    message = f"Without an endpoint events go to {protocol.OPENLINEAGE_ENDPOINT}, which is not there."
    fix = f"Add {spelt(_below(one, 'endpoint'), one.first)} with {right}."
    yield found("transport.no-endpoint", one.settings["url"], message, fix)


def _endpoint_elsewhere(one: Transport, scope: Scope) -> bool:
    key = f"{one.prefix}endpoint"
    return key in scope.elsewhere or any(key in settings for settings in scope.layers.values())


def _has_token(one: Transport, scope: Scope) -> bool:
    every = (setting for setting in scope.lineage if setting.key.startswith(one.prefix))
    return any(keys.is_secret(setting.rest) for setting in every)


def several(scope: Scope) -> Iterator[Finding]:
    """Yield composites with nothing in them, and compression that the listener does not know."""
    for one in scope.transports:
        inside = any(one.inside(other.prefix) for other in scope.transports if other.layer == one.layer)
        if one.kind == "composite" and not inside and not any(leaf.startswith("transports") for leaf in one.settings):
            fix = f"Add {spelt(_below(one, 'transports.NAME.type'), one.first)} and what belongs to it."
            message = "A composite without transports inside it sends nothing."
            yield found("transport.no-children", one.first, message, fix)
        value = one.known("compression")
        if value and not _SPOILT.search(value) and (value.lower() if one.top else value) != "gzip":
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
                name = spelt(_below(one, need), one.first)
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


def _below(one: Transport, leaf: str) -> str:
    return f"{one.prefix}{leaf}".removeprefix("spark.openlineage.")


def _where(one: Transport) -> str:
    return {"conf": "Spark's properties", "yml": "This file", "env": "The variables"}[one.layer] + (
        "" if one.layer != "yml" else " does"
    )


def _split(url: str) -> SplitResult | None:
    try:
        return urlsplit(url)
    except ValueError:
        return None


def _port(parts: SplitResult) -> int | None:
    try:
        return parts.port
    except ValueError:
        return None
