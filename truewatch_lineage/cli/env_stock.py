"""What to set for OpenLineage's own client, as the destinations' pages say, with the token by reference."""

from __future__ import annotations

import json
import shlex
from typing import Any, Final
from urllib.parse import urlsplit

from truewatch_lineage.cli.env_own import THEN_DBT, comments, config_file, namespace, text
from truewatch_lineage.config import DestinationSettings
from truewatch_lineage.config.kafka_settings import SECRET, client_properties
from truewatch_lineage.config.kafka_url import servers_and_topic
from truewatch_lineage.destinations.tokens import EnvToken, FileToken

RETRY: Final = {
    "total": 5,
    "connect": 5,
    "read": 5,
    "backoff_factor": 0.3,
    "status_forcelist": [429, 500, 502, 503, 504],
    "allowed_methods": ["POST"],
}
"""TrueWatch's page, under "OpenLineage Python Client"."""

PLACEHOLDERS: Final = {
    "dataway": "<WORKSPACE_TOKEN>",
    "portal": "<EXTERNAL_ACCESS_TOKEN>",
    "openlineage": "<TOKEN>",
}
"""What each destination's page calls its token."""

_DBT: Final = "dbt-ol"
_PREFIX: Final = "OPENLINEAGE__TRANSPORT__"
_MARK: Final = "<TOKEN-HERE>"
_ABOUT: Final = "OpenLineage's own client keeps nothing: what can't be delivered after its retries is lost."
_SYNC: Final = "Of type http, never async_http: Airflow emits in forks that end before a thread has sent anything."
_QUOTED: Final = "The token stands in JSON's quotes, without which the client would take 9e12 for a number."
_CLIENT: Final = "It needs confluent-kafka. Put secrets in the place of <SECRET>; keep the result to yourself then."
_FILL_IN: Final = "Put the token in the place of {placeholder}; keep the {where} to yourself."


def lines(tool: str, destination: DestinationSettings, *, as_file: bool) -> str:
    """Return what to set for the stock client.

    Args:
        tool: ``python``, ``airflow`` or ``dbt``.
        destination: Where to send.
        as_file: As a file in the place of exports.
    """
    token, fill_in = token_words(destination, as_file=as_file)
    by_http = bool(destination.profile.endpoint)
    about = comments(_ABOUT, _SYNC if tool == "airflow" and by_http else None, None if by_http else _CLIENT)
    if as_file:
        return about + comments(fill_in) + config_file(tool, _transport(destination, token), dbt=_DBT)
    if tool == "airflow":
        return about + comments(fill_in) + _airflow(destination, token)
    return about + comments(_QUOTED if token else None, fill_in) + _exports(tool, destination, token)


def token_words(destination: DestinationSettings, *, as_file: bool) -> tuple[str | None, str | None]:
    """Return what is written in the place of the token, and what is to be said of it.

    Args:
        destination: Where to send.
        as_file: Whether no shell will fill it in.

    Returns:
        What a shell in double quotes replaces by the token, or a place to fill in; None where none is sent. Then a
        sentence, or None.
    """
    profile = destination.profile
    if not profile.sends_token or not (profile.needs_token or destination.token_source is not None):
        return None, None
    reference = None if as_file else _reference(destination)
    placeholder = PLACEHOLDERS.get(profile.kind, "")
    if reference or not placeholder:
        return reference, None
    return placeholder, _FILL_IN.format(placeholder=placeholder, where="file" if as_file else "result")


def quoted(text: str, mark: str, reference: str) -> str:
    """Quote a text for a shell, but for ``mark``, in whose place the shell puts what ``reference`` names."""
    # The quotes are closed around the reference.
    return shlex.quote(text).replace(mark, f"'\"{reference}\"'")


def _transport(destination: DestinationSettings, token: str | None) -> dict[str, Any]:
    if not destination.profile.endpoint:
        return _kafka(destination)
    # The whole path stands in the endpoint: the client drops a path of the url, or its retries.
    url = urlsplit(destination.url)
    transport: dict[str, Any] = {"type": "http", "url": f"{url.scheme}://{url.netloc}", "endpoint": url.path}
    if token is not None:
        transport["auth"] = {"type": "api_key", "apiKey": token}
    if destination.compression == "gzip":
        transport["compression"] = "gzip"
    return {**transport, "retry": RETRY}


def _kafka(destination: DestinationSettings) -> dict[str, Any]:
    servers, topic = servers_and_topic(destination.url)
    path = destination.kafka_config
    properties = client_properties(path).values if path else {}
    shown = {key: "<SECRET>" if SECRET.search(key) else value for key, value in properties.items()}
    config = {"bootstrap.servers": servers, "acks": "all", "compression.type": destination.compression, **shown}
    return {"type": "kafka", "topic": topic, "config": config}


def _exports(tool: str, destination: DestinationSettings, token: str | None) -> str:
    transport = _transport(destination, token)
    auth = transport.pop("auth", None)
    variables = [f"{name.upper()}={shlex.quote(text(value))}" for name, value in transport.items()]
    if auth is not None:
        # Releases before 1.40 do not find a key that is a variable of its own.
        variables.append(f'AUTH="{{\\"type\\":\\"api_key\\",\\"apiKey\\":\\"{token}\\"}}"')
    exports = [f"export {_PREFIX}{variable}" for variable in variables]
    if tool == "dbt":
        exports += [f"export OPENLINEAGE_NAMESPACE={shlex.quote(namespace(tool))}", THEN_DBT.format(_DBT)]
    return "\n".join(exports)


def _airflow(destination: DestinationSettings, token: str | None) -> str:
    transport = quoted(json.dumps(_transport(destination, _MARK if token else None)), _MARK, token or "")
    return (
        f"export AIRFLOW__OPENLINEAGE__NAMESPACE={shlex.quote(namespace('airflow'))}\n"
        f"export AIRFLOW__OPENLINEAGE__TRANSPORT={transport}"
    )


def _reference(destination: DestinationSettings) -> str | None:
    """Return what a shell, in double quotes, replaces by the token; None where the token itself may stand there."""
    source = destination.token_source
    if isinstance(source, FileToken) and source.describe() == f"file {source.path}":
        return f"$(cat {shlex.quote(str(source.path))})"
    return f"${{{source.name}}}" if isinstance(source, EnvToken) and source.name else None
