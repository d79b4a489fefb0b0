"""Which transport Airflow's OpenLineage provider would take, with its settings, for `check` and ``env --beside``."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal
from urllib.parse import urlsplit

from truewatch_lineage.config.upstream import upstream_file

Place = Literal["connection", "file", "option", "client", "url"]
"""Where a transport is written: a connection's extra, a YAML file, ``[openlineage] transport``, the client's variables
``OPENLINEAGE__TRANSPORT…``, or ``OPENLINEAGE_URL``."""

VARIABLE: Final = "AIRFLOW__OPENLINEAGE__TRANSPORT"
CLIENT_PREFIX: Final = "OPENLINEAGE__TRANSPORT"
_SECRETS: Final = ("apikey", "token", "password", "secret")
_UPSTREAM_ENDPOINT: Final = "api/v1/lineage"


@dataclass(frozen=True, slots=True)
class InForce:
    """A transport that is configured.

    Attributes:
        settings: As it is written; may hold a token.
        place: Where it is written.
        name: The connection's id, the file's path, or the variable or option.
    """

    settings: dict[str, Any] = field(repr=False)
    place: Place
    name: str

    @property
    def type(self) -> str:
        """The transport's type, as it is written."""
        return str(self.settings.get("type") or "unknown")

    @property
    def source(self) -> str:
        """Where it is written, for people."""
        return {"connection": "Airflow connection ", "file": "file "}.get(self.place, "") + self.name


def in_force(environ: Mapping[str, str], *, ask: bool = True) -> InForce | None:
    """Return the transport that the provider would take, in its own order, or None where none is configured.

    As ``OpenLineageAdapter.get_openlineage_config`` (provider 2.20) and ``OpenLineageClient._resolve_transport``
    (openlineage-python 1.54) have it.

    Args:
        environ: The environment.
        ask: False to ask Airflow for no connection: what one holds then is left out.
    """
    return next(_candidates(environ, ask=ask), None)


def mixed_in(environ: Mapping[str, str]) -> InForce | None:
    """Return the transport of the file that OpenLineage's client mixes into whatever Airflow configures, or None.

    Alone it has no effect in Airflow; with another transport it adds its own settings to that one's.

    Args:
        environ: The environment.
    """
    path = upstream_file(environ)
    written = _of_file(path) if path else {}
    return InForce(written, "file", str(path)) if written else None


def nodes(transport: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Give a transport and all that are inside it (``composite``, ``transform``), with the names a composite gives."""
    yield dict(transport)
    inner = transport.get("transports")
    if isinstance(inner, Mapping):
        inner = [{**one, "name": name} for name, one in inner.items() if isinstance(one, Mapping)]
    for one in [*(inner if isinstance(inner, list) else ()), transport.get("transport")]:
        if isinstance(one, Mapping):
            yield from nodes(one)


def is_ours(transport: Mapping[str, Any]) -> bool:
    """Tell whether a transport is one of this package."""
    name = str(transport.get("type", ""))
    return name == "truewatch" or name.startswith("truewatch_lineage")


def masked(tree: Any, mask: str = "***", key: str = "") -> Any:
    """Return a transport's settings with ``mask`` in the place of each token, and of each header with a credential."""
    from truewatch_lineage.config.headers import holds_credential  # noqa: PLC0415 - which Airflow's start needs not

    if isinstance(tree, Mapping):
        in_headers = key.endswith("headers")
        return {
            name: mask if in_headers and holds_credential(str(name), str(value)) else masked(value, mask, str(name))
            for name, value in tree.items()
        }
    if isinstance(tree, list):
        return [masked(value, mask, key) for value in tree]
    folded = key.lower().replace("_", "").replace("-", "")
    if tree and isinstance(tree, str) and (folded.endswith(_SECRETS) or (folded == "url" and urlsplit(tree).password)):
        return mask
    return tree


def _candidates(environ: Mapping[str, str], *, ask: bool) -> Iterator[InForce]:
    if conn_id := _option("config_conn_id", environ):
        yield InForce(_of_connection(conn_id) if ask else {}, "connection", conn_id)
    if path := _option("config_path", environ):
        yield InForce(_of_file(Path(path)), "file", path)
    if written := _mapping(_parsed(_option("transport", environ))):
        yield InForce(written, "option", VARIABLE if environ.get(VARIABLE) else "[openlineage] transport")
    # One in the working folder or at home is only read once Airflow has found another configuration.
    if named := environ.get("OPENLINEAGE_CONFIG"):
        yield InForce(_of_file(Path(named)), "file", named)
    if written := _of_client(environ):
        yield InForce(written, "client", f"{CLIENT_PREFIX}…")
    if url := environ.get("OPENLINEAGE_URL"):
        yield InForce(_of_url(url, environ), "url", "OPENLINEAGE_URL")


def _option(name: str, environ: Mapping[str, str]) -> str:
    """Return an option of ``[openlineage]``; where there is no Airflow, what its variable says."""
    try:
        from airflow.configuration import conf  # noqa: PLC0415 - a second, which only who looks spends
    except ImportError:
        return environ.get(f"AIRFLOW__OPENLINEAGE__{name.upper()}", "")
    return str(conf.get("openlineage", name, fallback="") or "")


def _of_connection(conn_id: str) -> dict[str, Any]:
    from truewatch_lineage.errors import TokenError  # noqa: PLC0415 - which Airflow's start needs not
    from truewatch_lineage_airflow.connection import get_connection  # noqa: PLC0415 - as above

    try:
        return _mapping(get_connection(conn_id).extra.get("transport"))
    except TokenError:  # there is no such connection, or Airflow can't be asked here
        return {}


def _of_file(path: Path) -> dict[str, Any]:
    import yaml  # noqa: PLC0415 - OpenLineage's client brings it

    try:
        return _mapping(_mapping(yaml.safe_load(path.read_text(encoding="utf-8"))).get("transport"))
    except (OSError, ValueError, yaml.YAMLError):
        return {}


def _of_client(environ: Mapping[str, str]) -> dict[str, Any]:
    """Put the client's variables together, as ``OpenLineageClient._load_config_from_env_variables`` does."""
    tree: dict[str, Any] = {}
    for name in sorted((one for one in environ if one.startswith(f"{CLIENT_PREFIX}__")), reverse=True):
        *above, last = name.removeprefix(f"{CLIENT_PREFIX}__").lower().split("__")
        into = tree
        for part in above:
            into = into.setdefault(part, {})
        into[last] = _parsed(environ[name])
    return _mapping(_parsed(environ.get(CLIENT_PREFIX, ""))) or tree


def _of_url(url: str, environ: Mapping[str, str]) -> dict[str, Any]:
    """Put together what ``OpenLineageClient._http_transport_from_env_variables`` does."""
    endpoint = environ.get("OPENLINEAGE_ENDPOINT") or _UPSTREAM_ENDPOINT
    api_key = environ.get("OPENLINEAGE_API_KEY")
    auth = {"auth": {"type": "api_key", "apiKey": api_key}} if api_key else {}
    return {"type": "http", "url": url, "endpoint": endpoint, **auth}


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _mapping(value: Any) -> dict[str, Any]:
    return dict(value) if isinstance(value, Mapping) else {}
