"""Where the lineage of a run goes: the settings of this package, or what ``dbt-ol`` is already configured with.

The first of these that names a place: ``TRUEWATCH_LINEAGE_*`` or the file of ``TRUEWATCH_LINEAGE_CONFIG``;
``OPENLINEAGE__TRANSPORT__*`` or ``openlineage.yml``; ``OPENLINEAGE_URL``. The last three variables count as a whole, so
that one system's token never goes to another's url.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from truewatch_lineage.config import Layer, gather, load
from truewatch_lineage.config.coerce import is_true
from truewatch_lineage.config.upstream import upstream_file
from truewatch_lineage.errors import ConfigError
from truewatch_lineage.pipeline import Pipeline

if TYPE_CHECKING:
    from truewatch_lineage_dbt.sinks import Sink

URL: Final = "OPENLINEAGE_URL"
_ENDPOINT: Final = "OPENLINEAGE_ENDPOINT"
_API_KEY: Final = "OPENLINEAGE_API_KEY"
_STOCK_ENDPOINT: Final = "api/v1/lineage"
"""What the stock client appends where no endpoint is set (openlineage-python, ``HttpConfig.endpoint``)."""

_PLACES: Final = frozenset({"url", "destination", "endpoint"})
_OURS: Final = frozenset({"truewatch", "truewatch_lineage.TrueWatchTransport"})
_HTTP: Final = frozenset({"http", "async_http"})


def open_sink(environ: Mapping[str, str]) -> Sink | None:
    """Open what takes the events.

    Args:
        environ: The process's own environment, since OpenLineage's client reads no other.

    Returns:
        None where lineage is switched off.

    Raises:
        ConfigError: A setting is missing or wrong.
    """
    if any(is_true(environ.get(name, "")) for name in ("OPENLINEAGE_DISABLED", "TRUEWATCH_LINEAGE_DISABLED")):
        return None
    transport = None if _names_a_place(environ) else _upstream_transport(environ)
    kind = str(transport.get("type", "")) if transport else ""
    if transport and kind not in _OURS | _HTTP:
        return _upstream_sink()
    settings = load(_params(transport or {}, kind), environ=environ, layers=stock_layers(environ))
    return None if settings.disabled else Pipeline(settings)


def stock_layers(environ: Mapping[str, str]) -> tuple[Layer, ...]:
    """Return ``OPENLINEAGE_URL``, ``_ENDPOINT`` and ``_API_KEY`` as a level of settings, unless one above has a place.

    Raises:
        ConfigError: A setting of the other levels is unknown or written twice.
    """
    url = environ.get(URL)
    if not url or _names_a_place(environ):
        return ()
    values = {"url": url, "endpoint": environ.get(_ENDPOINT) or _STOCK_ENDPOINT}
    if environ.get(_API_KEY):
        values["token"] = environ[_API_KEY]
    origins = {"url": URL, "endpoint": _ENDPOINT, "token": _API_KEY}
    return (Layer("the environment", values, {key: f"environment variable {name}" for key, name in origins.items()}),)


def _names_a_place(environ: Mapping[str, str]) -> bool:
    _, destinations = gather(environ=environ)
    return any(not _PLACES.isdisjoint(values) for values in destinations.values())


def _upstream_transport(environ: Mapping[str, str]) -> dict[str, Any] | None:
    """Return the transport that OpenLineage's own configuration names, if there is any.

    Raises:
        ConfigError: The configuration can't be read.
    """
    if upstream_file(environ) is None and not any(name.startswith("OPENLINEAGE__") for name in environ):
        return None
    from openlineage.client import OpenLineageClient  # noqa: PLC0415 - 0.3 s that few need
    from openlineage.client.transport.noop import NoopConfig, NoopTransport  # noqa: PLC0415 - as above

    try:
        config = OpenLineageClient(transport=NoopTransport(NoopConfig())).config
    except Exception as error:  # noqa: BLE001 - it raises whatever YAML and attrs do, perhaps with a token in the text
        raise _upstream_error(error) from None
    return dict(config.transport) if config.transport and config.transport.get("type") else None


def _params(transport: Mapping[str, Any], kind: str) -> dict[str, Any]:
    """Return a transport's settings as this package's own; the stock ``http`` gets the stock endpoint."""
    params = {key: value for key, value in transport.items() if key != "type"}
    return {"endpoint": _STOCK_ENDPOINT, **params} if kind in _HTTP else params


def _upstream_sink() -> Sink:
    from openlineage.client import OpenLineageClient  # noqa: PLC0415 - as in `_upstream_transport`

    from truewatch_lineage_dbt.sinks import UpstreamSink  # noqa: PLC0415 - imports the client

    try:
        return UpstreamSink(OpenLineageClient())
    except Exception as error:  # noqa: BLE001 - as in `_upstream_transport`
        raise _upstream_error(error) from None


def _upstream_error(error: Exception) -> ConfigError:
    return ConfigError(
        f"OpenLineage's own configuration can't be used: {type(error).__name__}.",
        key="transport",
        source="openlineage.yml or OPENLINEAGE__TRANSPORT__*",
        fix="Mend it, or set TRUEWATCH_LINEAGE_URL, which comes before it.",
    )
