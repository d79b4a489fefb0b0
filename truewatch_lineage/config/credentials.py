"""Which source a destination's token comes from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from truewatch_lineage.config import coerce
from truewatch_lineage.config.found import Found
from truewatch_lineage.config.keys import TOKEN_KEYS, fold
from truewatch_lineage.config.spelling import expect_mapping, nearest, unknown
from truewatch_lineage.destinations.tokens import (
    CommandToken,
    EnvToken,
    FileToken,
    StaticToken,
    Token,
    TokenSource,
    registered_token_source,
)

_AUTH_KEYS = {"type": "type", "apikey": "apiKey"}
_CONNECTION_TYPE = "airflow_connection_api_key"
_CONNECTION_KEYS = {"type": "type", "connid": "conn_id", "extrakey": "extra_key"}
"""As Airflow's OpenLineage provider has them (``token_provider.py`` of 2.20), for its transports."""


def token_source(values: Mapping[str, Found], environ: Mapping[str, str]) -> TokenSource | None:
    """Make the token's source, reading nothing yet but a token that stands in the settings themselves.

    Args:
        values: The destination's settings; at most one of them names a token.
        environ: Where ``token_env`` looks.

    Raises:
        ConfigError: The setting is malformed, or needs an integration that is not loaded.
        TokenError: The token itself is illegal; it is not shown.
    """
    key = next((key for key in TOKEN_KEYS if key in values), None)
    if key is None:
        return None
    found = values[key]
    if key == "token":
        return _static(found)
    if key == "token_file":
        return FileToken(coerce.path(found), base=found.base)
    if key == "token_env":
        return EnvToken(coerce.text(found), environ)
    if key == "token_command":
        return CommandToken(_arguments(found))
    return _connection(found) if key == "airflow_conn_id" else _auth(found)


def _static(found: Found) -> TokenSource:
    if isinstance(found.value, TokenSource):  # an integration's, whose text may not be read yet
        return found.value
    token = Token.parse(found.value, source=found.source, key=found.key)
    return StaticToken(token, f"`{found.key}` (from {found.source})")


def _arguments(found: Found) -> list[str]:
    """Read a program and its arguments; a text is taken only as a JSON list, since there is no shell to split it."""
    value = found.value
    if isinstance(value, str) and value.lstrip().startswith("["):
        value = coerce.tree(found)
    if isinstance(value, (list, tuple)) and value and value[0] and all(isinstance(part, str) for part in value):
        return list(value)
    raise found.error(
        "must be a list of texts, the program first", 'Write it as ["vault", "read", "-field=token", "secret/lineage"].'
    )


def _connection(found: Found, **options: str | None) -> TokenSource:
    source = registered_token_source("airflow_conn_id", coerce.text(found), **options)
    if source is None:
        raise found.error(
            "works only where Airflow runs with truewatch-lineage's plugin",
            "Install truewatch-lineage[airflow] there, or use token_file, token_env or token_command.",
        )
    return source


def _auth(found: Found) -> TokenSource | None:
    """Read ``{type: api_key, apiKey: …}``, whose type may be left out, or one that names an Airflow connection."""
    parts = expect_mapping(found, coerce.tree(found))
    if not parts:
        return None
    kind = next((value for name, value in parts.items() if fold(str(name)) == "type"), None)
    if isinstance(kind, str) and fold(kind) == fold(_CONNECTION_TYPE):
        return _auth_by_connection(found, parts)
    known = _known(found, parts, _AUTH_KEYS)
    _check_type(known.get("type"))
    api_key = known.get("apiKey")
    if api_key is None or api_key.value is None:
        raise found.error("holds no apiKey", "Write it as {type: api_key, apiKey: <token>}.")
    return _static(api_key)


def _auth_by_connection(found: Found, parts: Mapping[Any, Any]) -> TokenSource:
    known = _known(found, parts, _CONNECTION_KEYS)
    conn_id, extra_key = known.get("conn_id"), known.get("extra_key")
    if conn_id is None:
        raise found.error("holds no conn_id", f"Write it as {{type: {_CONNECTION_TYPE}, conn_id: <connection>}}.")
    return _connection(conn_id, extra_key=coerce.text(extra_key) if extra_key and extra_key.value else None)


def _known(found: Found, parts: Mapping[Any, Any], keys: Mapping[str, str]) -> dict[str, Found]:
    known: dict[str, Found] = {}
    for name, value in parts.items():
        key = keys.get(fold(str(name)))
        if key is None:
            raise unknown(found.inner(str(name), None), _auth_hint(str(name), keys))
        known[key] = found.inner(str(name), value)
    return known


def _auth_hint(name: str, keys: Mapping[str, str]) -> str:
    if fold(name) == "token" and keys is _AUTH_KEYS:
        return "Did you mean apiKey?"
    if fold(name) in ("connid", "airflowconnid"):
        return "Did you mean airflow_conn_id, beside auth and not in it?"
    return nearest(name, keys)


def _check_type(found: Found | None) -> None:
    kind: Any = found.value if found else "api_key"
    if found and (not isinstance(kind, str) or fold(kind) != "apikey"):
        raise found.error(
            f"must be api_key, or in Airflow {_CONNECTION_TYPE}",
            "A token that must be fetched comes by token_command; one of Airflow's by airflow_conn_id.",
        )
