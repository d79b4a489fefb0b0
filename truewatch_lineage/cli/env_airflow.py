"""What to set in Airflow: its section ``[truewatch]``, a connection, or a transport beside the one it has."""

from __future__ import annotations

import importlib
import json
import os
import shlex
from collections.abc import Mapping
from typing import Any, Final

from truewatch_lineage.cli.env_own import Values, Written, comments, config_value, exports, namespace, plain, written
from truewatch_lineage.cli.env_stock import token_words
from truewatch_lineage.cli.settings import SOURCE, given
from truewatch_lineage.config import Settings, gather
from truewatch_lineage.config.keys import TOKEN_KEYS
from truewatch_lineage.config.settings import DEFAULT_NAME
from truewatch_lineage.errors import ConfigError

CONN_ID: Final = "truewatch_default"
"""The connection that Airflow's integration looks for by itself."""

_IMPORT: Final = (
    "Save this as a .yaml file that only you can read, run `airflow connections import FILE`, and remove it."
)
_SEEN: Final = "While it runs, the process list shows the token. With --file it does not: airflow connections import."


def section(whole: Values, destinations: Mapping[str, Values], *, as_file: bool) -> str:
    """Return the settings as Airflow's section ``[truewatch]``.

    Args:
        whole: The settings of the whole, as written.
        destinations: Those of each destination, as written.
        as_file: As a part of ``airflow.cfg`` in the place of exports.
    """
    settings, notes = written(whole, destinations)
    return comments(*notes) + _sections(
        {"openlineage": {"namespace": namespace("airflow")}, "truewatch": settings}, as_file=as_file
    )


def connection(settings: Settings, whole: Values, destinations: Mapping[str, Values], *, as_file: bool) -> str:
    """Return the command that adds the connection, and as a section what a connection can't hold.

    Args:
        settings: The settings.
        whole: Those of the whole, as written.
        destinations: Those of each destination, as written.
        as_file: As JSON for ``airflow connections import`` in the place of a command.

    Raises:
        ConfigError: There are several destinations, and a connection holds one.
    """
    if list(destinations) != [DEFAULT_NAME]:
        raise ConfigError(
            "A connection holds one destination, and the settings name others.",
            key="destinations",
            fix="Use --by section, where each destination can name its own connection as airflow_conn_id.",
        )
    notes: list[str] = []
    about = {name: found for name, found in destinations[DEFAULT_NAME].items() if name not in TOKEN_KEYS}
    extra = plain(about, notes)
    token, fill_in = token_words(settings.destinations[0], as_file=as_file)
    fields = {"conn_type": "truewatch", "host": extra.pop("url", None), "password": token, "extra": extra or None}
    rest = plain(whole, notes)
    if as_file:
        notes += [f"Besides, in [truewatch] of airflow.cfg: {name} = {config_value(rest[name])}" for name in rest]
        return comments(*notes, fill_in, _IMPORT) + json.dumps({CONN_ID: _filled(fields)}, indent=2)
    variables = _sections({"openlineage": {"namespace": namespace("airflow")}, "truewatch": rest}, as_file=False)
    return comments(*notes, fill_in, _SEEN if token else None) + f"{variables}\n{_command(fields)}"


def beside(*, as_file: bool) -> str:
    """Return what to set to have this transport beside the one that Airflow has.

    Args:
        as_file: As ``airflow.cfg`` in the place of exports.

    Raises:
        ConfigError: This installation lacks Airflow's integration.
    """
    try:
        # Integrations are above the command line, and so reached by name.
        module = importlib.import_module("truewatch_lineage_airflow.beside")
    except ImportError as error:
        raise ConfigError(f"Airflow's integration can't be used here: {error}.", key="beside") from error
    settings, notes = written(*gather(given(), layers=(), params_name=SOURCE))
    own = f"\n{_sections({'truewatch': settings}, as_file=as_file)}" if settings else ""
    return comments(*notes) + str(module.lines(os.environ, as_file=as_file)) + own


def _sections(sections: Mapping[str, Written], *, as_file: bool) -> str:
    if as_file:
        blocks = (
            "\n".join([f"[{name}]", *(f"{key} = {config_value(value)}" for key, value in values.items())])
            for name, values in sections.items()
        )
        return "\n\n".join(blocks)
    return exports(
        {
            f"AIRFLOW__{name.upper()}__{key.upper()}": value
            for name, values in sections.items()
            for key, value in values.items()
        }
    )


def _command(fields: Mapping[str, Any]) -> str:
    words = [f"airflow connections add {CONN_ID}"]
    for name, value in _filled(fields).items():
        # The shell is to fill in the token, and nothing else.
        text = f'"{value}"' if name == "password" else shlex.quote(value)
        words.append(f"--{name.replace('_', '-') if name == 'conn_type' else f'conn-{name}'} {text}")
    return " \\\n    ".join(words)


def _filled(fields: Mapping[str, Any]) -> dict[str, str]:
    """Leave out what has no value, and write what is a tree as JSON, as Airflow has a connection's extra."""
    return {
        name: value if isinstance(value, str) else json.dumps(value)
        for name, value in fields.items()
        if value is not None
    }
