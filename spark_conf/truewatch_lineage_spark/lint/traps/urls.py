"""Where events go over HTTP: the url and the endpoint."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final
from urllib.parse import SplitResult, urlsplit

from truewatch_lineage import protocol
from truewatch_lineage.config.urls import is_loopback
from truewatch_lineage_spark.lint import keys
from truewatch_lineage_spark.lint.catalog import found
from truewatch_lineage_spark.lint.model import OPENLINEAGE, Finding, Scope, Transport, spelt

SPOILT: Final = re.compile(r"\$\{|^[\"'\[]")
"""What ``values`` reports; nothing else need be said of such a value."""

_TRUEWATCH: Final = re.compile(r"(?:.*\.)?(?:truewatch|guance)\.com", re.IGNORECASE)
_DATAKIT_PORT: Final = urlsplit(protocol.DATAKIT_URL).port
_ILLEGAL: Final = re.compile(r"[\s<>]")


def urls(scope: Scope) -> Iterator[Finding]:
    """Yield what is wrong with the addresses of HTTP transports."""
    for one in scope.transports:
        if one.kind != "http" and ("type" in one.settings or "url" not in one.settings):
            continue
        if "url" not in one.settings:
            yield from _no_url(one, scope)
        elif (url := one.known("url")) is not None and not SPOILT.search(url):
            yield from _url(one, url.strip(), scope)
        endpoint = one.settings.get("endpoint")
        if endpoint is not None and endpoint.known and "?" in endpoint.value:
            fix = f"Put it into {spelt(below(one, 'urlParams.NAME'), endpoint)}."
            yield found("transport.endpoint-query", endpoint, "The ? of a query is sent as %3F here.", fix)


def _no_url(one: Transport, scope: Scope) -> Iterator[Finding]:
    """A single transport's url may come from another layer, that of one among several may not."""
    others = {layer for layer, settings in scope.layers.items() if settings and layer != one.layer}
    if one.top and (one.layer != "conf" or others & {"env", "yml"} or scope.elsewhere & {"env", "yml"}):
        return
    if scope.brought(f"{one.prefix}url", one.layer):
        return
    message = "An http transport without a url sends nothing."
    yield found("transport.no-url", one.first, message, f"Add {spelt(below(one, 'url'), one.first)}.")


def _url(one: Transport, url: str, scope: Scope) -> Iterator[Finding]:
    setting = one.settings["url"]
    parts = split(url)
    if parts is None or parts.scheme.lower() not in ("http", "https") or not parts.hostname or _ILLEGAL.search(url):
        fix = "Write https://HOST, without a path."
        yield found("transport.url-broken", setting, "This is no http or https url, so nothing is sent.", fix)
        return
    path, endpoint = parts.path, "endpoint" in one.settings
    rewritten = one.top and one.layer == "conf" and one.known("type") in (None, "http")
    if rewritten and (path.strip("/") or parts.query):
        fix = f"Leave the origin alone, and put the path into {spelt(below(one, 'endpoint'), setting)}."
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
    datakit = parts.port == _DATAKIT_PORT
    if not datakit and not _TRUEWATCH.fullmatch(parts.hostname or ""):
        return
    right = protocol.DATAKIT_ENDPOINT if datakit else protocol.DATAWAY_ENDPOINT
    message = f"Without an endpoint events go to {protocol.OPENLINEAGE_ENDPOINT}, which is not there."
    fix = f"Add {spelt(below(one, 'endpoint'), one.first)} with {right}."
    yield found("transport.no-endpoint", one.settings["url"], message, fix)


def _endpoint_elsewhere(one: Transport, scope: Scope) -> bool:
    key = f"{one.prefix}endpoint"
    return key in scope.elsewhere or any(key in settings for settings in scope.layers.values())


def _has_token(one: Transport, scope: Scope) -> bool:
    every = (setting for setting in scope.lineage if setting.key.startswith(one.prefix))
    return any(keys.is_secret(setting.rest) for setting in every)


def below(one: Transport, leaf: str) -> str:
    """Return a key of a transport, below ``spark.openlineage.``."""
    return f"{one.prefix}{leaf}".removeprefix(OPENLINEAGE)


def split(url: str) -> SplitResult | None:
    """Return a url's parts, or None where it has none that are of use."""
    try:
        parts = urlsplit(url)
        return parts if parts.port != 0 else None
    except ValueError:
        return None
