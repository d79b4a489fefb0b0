"""One destination as Spark's listener takes it: its properties, and where the token goes, but never the token."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit

from truewatch_lineage.config.settings import DestinationSettings
from truewatch_lineage.config.urls import is_loopback
from truewatch_lineage.destinations.profile import AuthMethod
from truewatch_lineage.destinations.tokens import EnvToken, FileToken
from truewatch_lineage.errors import ConfigError

LISTENERS_TIMEOUT: Final = 5.0
"""Seconds: what the listener takes where nobody says (measured)."""

REASONS: Final = {
    "type": "without it the listener writes events to the log",
    "url": "only the origin: the listener drops a path",
    "endpoint": "the path that takes events there",
    "compression": "the listener knows gzip only",
    "timeoutInMillis": "how long one event may hold up the listener; the driver's spark.stop() waits for it",
    "continueOnFailure": "one destination that fails does not keep the event from the others",
    "auth.type": "exactly this spelling",
}
"""Why a property of a transport is as it is."""


@dataclass(frozen=True, slots=True)
class Secret:
    """A token that the platform or the user brings in.

    Attributes:
        destination: The destination it is for, in letters and digits.
        key: The Spark property that can hold it, on platforms that fill properties in.
        variable: The variable of the driver's environment that can hold it, as JSON.
        shape: That JSON as ``printf`` writes it, with ``%s`` for the token.
        source: Where the user's settings have it, as a shell's expression inside double quotes.
    """

    destination: str
    key: str
    variable: str
    shape: str
    source: str


@dataclass(frozen=True, slots=True)
class Transport:
    """One destination.

    Attributes:
        name: A name that is the same as a property and as a variable: letters and digits in lower case.
        leaves: The listener's properties below the transport, in order.
        secret: The token it needs, if any, its key and variable relative to the transport.
        beside: Properties that must stand wherever the token does.
        notes: What the user should know.
    """

    name: str
    leaves: Mapping[str, str]
    secret: Secret | None = None
    beside: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Way:
    """How a token is sent: its property, its variable, that variable's JSON, and the properties beside it."""

    leaf: str
    variable: str
    shape: str
    beside: Mapping[str, str] = field(default_factory=dict)


_WAYS: Final[Mapping[AuthMethod, _Way]] = {
    "bearer": _Way("auth.apiKey", "AUTH__API_KEY", '"%s"', {"auth.type": "api_key"}),
    "x_token": _Way("headers.X-Token", "HEADERS", '{"X-Token":"%s"}'),
    "query": _Way("urlParams.token", "URL_PARAMS", '{"token":"%s"}'),
}
"""A variable's value is read as JSON: without quotes the token ``123 abc`` would arrive as ``123``."""

_PLACEHOLDER: Final = "$(cat /etc/truewatch/token)"
_ONLY_HERE: Final = ("match", "mapper", "exclude_facets")


def transport(destination: DestinationSettings, taken: Collection[str], *, timeout: float | None) -> Transport:
    """Say to the listener what the settings say of one destination.

    Args:
        destination: The destination.
        taken: Names that other transports have.
        timeout: Seconds for one event, or None for the listener's default.

    Raises:
        ConfigError: The listener can't do what a setting asks for.
    """
    _refuse(destination)
    address = urlsplit(destination.url)
    leaves = {"type": "http", "url": f"{address.scheme}://{address.netloc}", "endpoint": address.path}
    if destination.compression == "gzip":
        leaves["compression"] = "gzip"
    leaves["timeoutInMillis"] = str(round((timeout or LISTENERS_TIMEOUT) * 1000))
    leaves |= {f"headers.{name}": value for name, value in destination.headers.items()}
    way = _WAYS[destination.auth_method] if _needs_token(destination) else None
    name = _name(destination.name, taken)
    return Transport(
        name=name,
        leaves=leaves,
        secret=Secret(name, way.leaf, way.variable, way.shape, _source(destination)) if way else None,
        beside=way.beside if way else {},
        notes=tuple(_notes(destination, address.hostname or "")),
    )


def _needs_token(destination: DestinationSettings) -> bool:
    profile = destination.profile
    return profile.sends_token and (profile.needs_token or destination.token_source is not None)


def _name(name: str, taken: Collection[str]) -> str:
    plain = re.sub(r"[^a-z0-9]", "", name.lower()) or "destination"
    while plain in (*taken, "headers"):  # which a path of properties ends with
        plain += "x"
    return plain


def _source(destination: DestinationSettings) -> str:
    """Return what a shell replaces by the token; a path or name that may be the token itself is not repeated."""
    source = destination.token_source
    if isinstance(source, FileToken) and source.describe() == f"file {source.path}":
        quoted = str(source.path).replace("'", "'\\''")
        return f"$(cat '{quoted}')"
    return f"${source.name}" if isinstance(source, EnvToken) and source.name else _PLACEHOLDER


def _refuse(destination: DestinationSettings) -> None:
    if not destination.profile.endpoint:
        raise ConfigError(
            f"Destination `{destination.name}`: the properties for Kafka are not printed.",
            key="destination",
            fix="Write the listener's Kafka transport by hand, as docs/gateway-kafka.md has it, or let Spark send to a "
            "truewatch-lineage gateway.",
        )
    if destination.proxy or destination.client_cert:
        key = "proxy" if destination.proxy else "client_cert"
        raise ConfigError(
            f"Destination `{destination.name}`: Spark's listener can't use {key}.",
            key=key,
            fix="Let Spark send to a truewatch-lineage gateway, which can, and leave it out here.",
        )


def _notes(destination: DestinationSettings, host: str) -> list[str]:
    notes = []
    if is_loopback(host):
        notes.append(
            f"{host} is the machine that the driver runs on. In a pod it is the pod: there, reach the host's DataKit "
            "by its Service (http://datakit-service.datakit:9529 where DataKit's own manifest installed it) or by the "
            "node's address, and let DataKit listen on 0.0.0.0."
        )
    if destination.profile.schema_url:
        notes.append(
            f"Spark writes its own schemaURL, where {destination.profile.label} asks for exactly "
            f"{destination.profile.schema_url} and may refuse the event: a gateway in between sends what it asks for."
        )
    if any(getattr(destination, name) for name in _ONLY_HERE):
        notes.append("Spark's listener neither picks nor renames events and facets: let a gateway do it.")
    if destination.ca_file:
        notes.append(
            f"The driver's Java must trust {destination.ca_file}: import it into a trust store and name that in "
            "spark.driver.defaultJavaOptions as -Djavax.net.ssl.trustStore=…"
        )
    return notes
