"""The levels of settings that Airflow has: the section ``[truewatch]`` of its configuration, then a connection."""

from __future__ import annotations

import logging
import math
import os
from collections.abc import Mapping
from typing import Any, Final

from truewatch_lineage.config import Layer, coerce, gather, load, register_layers
from truewatch_lineage.config.found import Found
from truewatch_lineage.config.keys import TOKEN_KEYS, fold
from truewatch_lineage.config.layers import CONFIG_VARIABLE
from truewatch_lineage.config.spelling import DESTINATIONS
from truewatch_lineage.destinations.tokens import register_token_source
from truewatch_lineage.errors import TokenError, TokenLateError
from truewatch_lineage.program import runs_in_airflow
from truewatch_lineage_airflow.connection import ConnectionToken, describe, get_connection, to_values
from truewatch_lineage_airflow.hook_fields import DEFAULT_CONN_ID
from truewatch_lineage_airflow.memory import Memory
from truewatch_lineage_airflow.section import section_layer

log = logging.getLogger(__name__)

PATIENT_SECONDS: Final = 8.0
"""How long Airflow may take to find a connection, less than the 10 s after which OpenLineage's listener ends a fork."""

MISSED_SECONDS: Final = 86_400.0
"""For how long a connection that Airflow does not find any more is taken for one that it can't reach: Airflow says the
same of both, since it passes over a secrets backend that fails."""


def register() -> None:
    """Let every reader of settings in this process see Airflow's; cheap, and asks for nothing yet."""
    register_layers(airflow_layers)
    register_token_source("airflow_conn_id", ConnectionToken)


def airflow_layers(
    params: Mapping[str, Any],
    environ: Mapping[str, str] = os.environ,
    *,
    need_destination: bool = True,
    patience: float = PATIENT_SECONDS,
) -> list[Layer]:
    """Return Airflow's levels, the highest first.

    A connection is looked up where ``airflow_conn_id`` names it, or as ``truewatch_default`` where the levels above do
    not say url and token. With named destinations, it is one for each that has ``airflow_conn_id`` and no url.

    Args:
        params: The highest level, such as the transport's own settings.
        environ: The environment.
        need_destination: False to leave connections out.
        patience: Seconds Airflow may take to find a connection whose last settings are known.

    Raises:
        ConfigError: A connection that is named is not there, or says what is no setting.
    """
    if not runs_in_airflow():  # it does not run here, and is not loaded for this
        return []
    try:
        section = section_layer(environ)
    except ImportError:  # another program's module of the name airflow
        return []
    layers = [section] if section else []
    return layers + _connections(params, environ, layers, patience) if need_destination else layers


def _connections(
    params: Mapping[str, Any], environ: Mapping[str, str], above: list[Layer], patience: float
) -> list[Layer]:
    """Return a level for each connection that is wanted and there."""
    without_file = {name: text for name, text in environ.items() if name != CONFIG_VARIABLE}
    _, higher = gather(params, environ=without_file, layers=above, notices=[])
    whole, destinations = gather(params, environ=environ, layers=above, notices=[])
    if _is_disabled(whole, environ):
        return []
    memory = Memory(load(params, environ=environ, layers=above, need_destination=False).spool_dir)
    if _are_named(destinations):
        wanted = {name: values["airflow_conn_id"] for name, values in destinations.items() if _wants_all(values)}
        found = [_named(name, _level(coerce.text(conn_id), memory, patience)) for name, conn_id in wanted.items()]
    else:
        conn_id = destinations.get("default", {}).get("airflow_conn_id")
        if conn_id is None and _is_complete(higher.get("default", {})):
            return []
        found = [_level(coerce.text(conn_id) if conn_id else None, memory, patience)]
    return [layer for layer in found if layer]


def _is_disabled(whole: Mapping[str, Found], environ: Mapping[str, str]) -> bool:
    return coerce.is_true(environ.get("OPENLINEAGE_DISABLED", "")) or (
        "disabled" in whole and coerce.flag(whole["disabled"])
    )


def _are_named(destinations: Mapping[str, Mapping[str, Found]]) -> bool:
    written = (found for values in destinations.values() for found in values.values())
    return any(fold(found.key.partition(".")[0]) == DESTINATIONS for found in written)


def _wants_all(values: Mapping[str, Found]) -> bool:
    """Tell whether a named destination takes more from its connection than the token."""
    return "airflow_conn_id" in values and "url" not in values


def _is_complete(values: Mapping[str, Found]) -> bool:
    """Tell whether the levels above leave nothing open that the default connection is there for."""
    kind = values.get("destination")
    if kind is not None and fold(str(kind.value)) == "datakit":
        return True
    return "url" in values and not values.keys().isdisjoint(TOKEN_KEYS)


def _named(name: str, layer: Layer | None) -> Layer | None:
    if layer is None:
        return None
    values = dict(layer.values)
    delivery = {key: values.pop(key) for key in ("delivery",) if key in values}
    return Layer(layer.name, {**delivery, DESTINATIONS: {name: values}})


def _level(conn_id: str | None, memory: Memory, patience: float) -> Layer | None:
    """Return what a connection says, or said last; None where nobody named one and the default one is not there.

    Args:
        conn_id: The connection, or None for the default one.
        memory: What connections said last.
        patience: Seconds to wait where that is known.

    Raises:
        TokenError: A connection that is named is not there.
        TokenLateError: It can't be looked up now, and what it said last is not known.
        ConfigError: It says what is no setting.
    """
    name = conn_id or DEFAULT_CONN_ID
    remembered = memory.recall(name, within=math.inf)
    try:
        within = PATIENT_SECONDS if remembered is None else patience
        connection = get_connection(name, refresh=False, within=within)
    except TokenError as error:
        is_passing = isinstance(error, TokenLateError)
        remembered = memory.recall(name, within=math.inf if is_passing else MISSED_SECONDS)
        if remembered is not None:
            return _last(name, remembered, error)
        if conn_id is None and not is_passing:
            return None
        raise
    values = to_values(connection)
    memory.remember(name, values, connection.token_text())
    return Layer(describe(name), values)


def _last(name: str, values: Mapping[str, Any], error: TokenError) -> Layer:
    """Return what a connection said last; its events only go to the spool, as some settings and the token are missing.

    Whoever can look it up delivers them.
    """
    log.warning("%s Lineage is kept in the spool for where that connection led to last.", error)
    return Layer(f"what {describe(name)} said last", {**values, "delivery": "spool"})
