"""What Airflow's OpenLineage provider reads of a transport to tell Spark where lineage goes (``spark_inject``).

``utils/spark.py`` of the provider (2.20) reads what OpenLineage's own ``HttpTransport`` has, and writes it into Spark's
properties as it is; the names and values here are therefore what OpenLineage's Java client takes.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from truewatch_lineage.config import DestinationSettings, Settings
from truewatch_lineage.destinations.tokens import TokenSource
from truewatch_lineage.errors import TokenError
from truewatch_lineage.protocol import TOKEN_HEADER

log = logging.getLogger(__name__)

KIND: Final = "http"
"""The only kind of transport that the provider injects."""

TOKEN_SECONDS: Final = 10.0
_told: Final[set[str]] = set()


class NoAuth:
    """For a destination without a token, or one that takes it in a header."""


@dataclass(frozen=True, slots=True)
class ApiKeyAuth:
    """The token, read when the provider asks for it.

    Attributes:
        source: Where the token comes from.
        api_key: Never the token; the provider only looks whether there is such an attribute.
    """

    source: TokenSource
    api_key: None = None

    def get_bearer(self) -> str | None:
        """Return the token without ``Bearer``, which the Java client puts before it; None where it can't be read."""
        return _reveal(self.source)


@dataclass(frozen=True, slots=True)
class Injected:
    """A destination as the provider reads it of a transport and its config.

    Attributes:
        url: The origin alone: the Java client drops a path.
        endpoint: The whole path.
        timeout: Seconds.
        compression: ``gzip``, or None: the Java client knows no other word.
        auth: With ``get_bearer()`` where a token goes by ``Authorization``.
        custom_headers: Extra headers, the token's own among them where it goes by one.
    """

    url: str
    endpoint: str
    timeout: float
    compression: str | None
    auth: NoAuth | ApiKeyAuth
    custom_headers: dict[str, str]


def injectable(settings: Settings) -> DestinationSettings | None:
    """Return the destination that Spark's properties can get: the first that is reached by HTTP, or None."""
    return next((one for one in settings.destinations if one.profile.endpoint), None)


def injected(settings: Settings) -> Injected:
    """Return what Spark's properties get of a destination; warns once that they then hold the token.

    Args:
        settings: With a destination that is `injectable`.
    """
    destination = injectable(settings) or settings.destinations[0]
    source = destination.token_source
    parts = urlsplit(destination.url)
    headers = dict(destination.headers)
    auth: NoAuth | ApiKeyAuth = NoAuth()
    if source is not None and destination.auth_method == "x_token":
        headers |= {TOKEN_HEADER: token} if (token := _reveal(source)) else {}
    elif source is not None:
        auth = ApiKeyAuth(source)
    _warn(settings, destination)
    return Injected(
        url=f"{parts.scheme}://{parts.netloc}",
        endpoint=parts.path,
        timeout=max(1.0, destination.timeout),
        compression="gzip" if destination.compression == "gzip" else None,
        auth=auth,
        custom_headers=headers,
    )


def _warn(settings: Settings, destination: DestinationSettings) -> None:
    only = "" if len(settings.destinations) == 1 else f" Only one destination, {destination.name}, is injected."
    text = (
        "spark_inject is on: Spark's properties get the destination, and its token for everybody to see who sees them."
    )
    if text + only not in _told:
        _told.add(text + only)
        log.warning("%s%s", text, only)


def _reveal(source: TokenSource) -> str | None:
    try:
        return source.get(within=TOKEN_SECONDS).reveal()
    except TokenError as error:  # raised here it would fail the task
        log.warning("Spark is told no token: %s", error)
        return None


class InjectableConfig:
    """The part of a transport's config that the provider reads."""

    settings: Settings

    @property
    def auth(self) -> NoAuth | ApiKeyAuth:
        """What has ``get_bearer()``, where a token goes by ``Authorization``."""
        return injected(self.settings).auth

    @property
    def custom_headers(self) -> dict[str, str]:
        """Extra headers."""
        return injected(self.settings).custom_headers


class InjectableTransport:
    """The part of a transport that the provider reads."""

    config: InjectableConfig

    @property
    def url(self) -> str:
        """The origin."""
        return injected(self.config.settings).url

    @property
    def endpoint(self) -> str:
        """The path."""
        return injected(self.config.settings).endpoint

    @property
    def timeout(self) -> float:
        """Seconds."""
        return injected(self.config.settings).timeout

    @property
    def compression(self) -> str | None:
        """``gzip`` or None."""
        return injected(self.config.settings).compression
