"""Read the settings from all the places they may be written in.

Precedence, key by key: the transport's own settings, ``TRUEWATCH_LINEAGE_*``, what an integration hands in, the TOML
file that ``TRUEWATCH_LINEAGE_CONFIG`` names, the default (design, section 3).
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal

from truewatch_lineage.config import coerce
from truewatch_lineage.config.destination import build
from truewatch_lineage.config.found import Found
from truewatch_lineage.config.integrations import registered_layers
from truewatch_lineage.config.keys import KEYS, TOKEN_KEYS
from truewatch_lineage.config.layers import Layer, environment_layer, file_layer
from truewatch_lineage.config.levels import Values, merge, normalise
from truewatch_lineage.config.settings import DestinationSettings, Settings
from truewatch_lineage.config.upstream import restore_tokens, without_url
from truewatch_lineage.config.urls import choose_profile
from truewatch_lineage.errors import ConfigError
from truewatch_lineage.program import runs_in_airflow

PARAMS: Final = "the transport's settings"
"""What people know the highest level by, unless the caller says otherwise."""

APP: Final = "truewatch-lineage"
"""The folder's name in the user's state folder and in Airflow's."""

_IN_AIRFLOW: Final = " Or add the connection truewatch_default, of type truewatch."

_log = logging.getLogger(__name__)
_said: set[str] = set()


def load(
    params: Mapping[str, Any] | None = None,
    *,
    environ: Mapping[str, str] = os.environ,
    layers: Sequence[Layer] | None = None,
    need_destination: bool = True,
    params_name: str = PARAMS,
) -> Settings:
    """Merge, check and freeze the settings.

    Args:
        params: The transport's own settings, or the command line's: the highest level. Not changed.
        environ: The environment.
        layers: Levels between the environment and the file, the highest first; None for those of the integrations.
        need_destination: False for a command that looks at the spool only: destinations are then neither needed nor
            read, so that ``spool status`` works in a shell that lacks the token.
        params_name: What people know ``params`` by.

    Returns:
        The settings. Where ``disabled``, they have no destinations, and none is checked: the switch must work whatever
        else is wrong.

    Raises:
        ConfigError: Something is unknown, malformed, contradictory or missing; the message tells what, where and how
            to mend it, and never shows a value.
    """
    notices: list[str] = []
    whole, destinations = gather(
        params,
        environ=environ,
        layers=layers,
        need_destination=need_destination,
        params_name=params_name,
        notices=notices,
    )
    built: tuple[DestinationSettings, ...] = ()
    try:
        settings = _whole(whole, environ)
        if need_destination and not settings["disabled"]:
            built = _build(destinations, environ, notices, needs_token=settings.get("delivery") != "spool")
    finally:  # a misspelt variable may be why something is missing
        _say(notices)
    origins = _origins(whole, destinations if built else {})
    return Settings(destinations=built, origins=origins, notices=tuple(notices), **settings)


def gather(
    params: Mapping[str, Any] | None = None,
    *,
    environ: Mapping[str, str] = os.environ,
    layers: Sequence[Layer] | None = None,
    need_destination: bool = True,
    params_name: str = PARAMS,
    notices: list[str] | None = None,
) -> tuple[Values, dict[str, Values]]:
    """Merge the levels, and leave the values as they are written: unread, unchecked, and possibly secret.

    Args:
        params: As of `load`.
        environ: As of `load`.
        layers: As of `load`.
        need_destination: As of `load`; False leaves out what an integration would have to ask for.
        params_name: As of `load`.
        notices: Where sentences about what has no effect are added.

    Returns:
        The settings of the whole, and those of each destination by name; only those that are written.

    Raises:
        ConfigError: A key is unknown, or written twice; or a file can't be read.
    """
    notices = notices if notices is not None else []
    restored = restore_tokens(without_url(params or {}, environ, notices), environ)
    if layers is None:
        layers = registered_layers(restored, environ, need_destination=need_destination)
    given = (Layer(params_name, restored), environment_layer(environ, notices), *layers, file_layer(environ))
    return merge([normalise(layer, notices) for layer in given if layer])


def destination_kinds(
    params: Mapping[str, Any] | None = None, *, environ: Mapping[str, str] = os.environ, params_name: str = PARAMS
) -> dict[str, Literal["trim", "reject"]]:
    """Return the kinds of destination that the settings name, for what needs neither url nor token.

    Returns:
        Each kind once, in the order of the destinations, with its ``oversize``: ``reject`` where one of them says so.
        None where no destination is set.

    Raises:
        ConfigError: A key is unknown, or a kind, endpoint, url or oversize is malformed.
    """
    _, destinations = gather(params, environ=environ, params_name=params_name)
    kinds: dict[str, Literal["trim", "reject"]] = {}
    for values in destinations.values():
        kind = choose_profile(values.get("destination"), values.get("endpoint"), values.get("url")).kind
        rejects = "oversize" in values and coerce.coerce(KEYS["oversize"], values["oversize"]) == "reject"
        kinds[kind] = "reject" if rejects else kinds.get(kind, "trim")
    return kinds


def _whole(values: Values, environ: Mapping[str, str]) -> dict[str, Any]:
    """Read the settings of the whole; only those that are written, and the defaults that depend on the machine."""
    result = {name: coerce.coerce(KEYS[name], found) for name, found in values.items()}
    result["disabled"] = result.get("disabled", False) or coerce.is_true(environ.get("OPENLINEAGE_DISABLED", ""))
    if "spool_dir" not in result:
        result["spool_dir"] = default_spool_dir(environ)
    if "exit_budget" not in result and _in_ci(environ):
        result["exit_budget"] = 30.0
    return result


def _build(
    destinations: Mapping[str, Values], environ: Mapping[str, str], notices: list[str], *, needs_token: bool
) -> tuple[DestinationSettings, ...]:
    if not destinations:
        raise ConfigError(
            "No destination is set.",
            key="url",
            fix=f"Set url and a token, for instance by {KEYS['url'].variable} and {KEYS['token_file'].variable}, or "
            f"destination: datakit.{_IN_AIRFLOW if runs_in_airflow() else ''}",
        )
    return tuple(
        build(name, values, environ, notices, needs_token=needs_token) for name, values in destinations.items()
    )


def default_spool_dir(environ: Mapping[str, str]) -> Path:
    """Return the folder of the spool where none is set: Airflow's home in Airflow, else the user's state folder.

    Raises:
        ConfigError: This user has no home.
    """
    if runs_in_airflow():
        folder = Path(_airflow_home(environ)) / APP
    else:
        from platformdirs import user_state_path  # noqa: PLC0415 - few milliseconds that others need not spend

        folder = user_state_path(APP, appauthor=False)
    return coerce.path(Found(folder, "spool_dir", "default"))


def _airflow_home(environ: Mapping[str, str]) -> str:
    """Return the home that Airflow took when it was loaded: a task may change its HOME and its other variables."""
    loaded: str | None = getattr(sys.modules.get("airflow.configuration"), "AIRFLOW_HOME", None)
    return loaded or environ.get("AIRFLOW_HOME") or "~/airflow"


def _in_ci(environ: Mapping[str, str]) -> bool:
    """Tell whether ``CI`` is set; services set it to true, 1 or their own name."""
    return environ.get("CI", "").strip().lower() not in ("", "0", "false", "no", "off")


def _origins(whole: Values, destinations: Mapping[str, Values]) -> dict[str, str]:
    origins = {name: _origin(whole, name) for name, key in KEYS.items() if key.scope == "settings"}
    for destination, values in destinations.items():
        names = [name for name, key in KEYS.items() if key.scope == "destination"]
        origins |= {f"{destination}.{name}": _origin(values, name) for name in names if _is_told(values, name)}
    return origins


def _is_told(values: Values, name: str) -> bool:
    return name in values or name not in TOKEN_KEYS


def _origin(values: Values, name: str) -> str:
    return values[name].source if name in values else "default"


def _say(notices: Sequence[str]) -> None:
    """Log each notice once a process: a transport is built for every task."""
    for notice in notices:
        if notice not in _said:
            _said.add(notice)
            _log.warning("%s", notice)
