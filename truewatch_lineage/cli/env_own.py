"""The settings that are written somewhere, written anew as variables or as a file: all but secrets."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from truewatch_lineage.config import KEYS, coerce
from truewatch_lineage.config.found import Found
from truewatch_lineage.config.keys import PREFIX, TOKEN_KEYS
from truewatch_lineage.config.settings import DEFAULT_NAME
from truewatch_lineage.config.urls import choose_profile
from truewatch_lineage.destinations.tokens import EnvToken, FileToken

TYPE: Final = "truewatch_lineage.TrueWatchTransport"
NAMESPACES: Final = {"airflow": "production-airflow", "dbt": "production-dbt"}
"""The names of the TrueWatch page's examples."""

_SETS_NAMESPACE: Final = {
    "airflow": ("AIRFLOW__OPENLINEAGE__NAMESPACE", "OPENLINEAGE_NAMESPACE"),
    "dbt": ("OPENLINEAGE_NAMESPACE",),
}

THEN_DBT: Final = "# then: {} run"
"""A comment, so that the output can be evaluated by a shell."""

_DBT: Final = "truewatch-dbt"

TOKEN_FILE: Final = "/etc/truewatch/token"  # noqa: S105 - a path
"""Where the examples of the documentation have the token."""

Values = Mapping[str, Found]
Written = dict[str, Any]


def lines(tool: str, whole: Values, destinations: Mapping[str, Values], *, as_file: bool) -> str:
    """Return what to set for this transport.

    Args:
        tool: ``python``, ``airflow`` or ``dbt``.
        whole: The settings of the whole, as written.
        destinations: Those of each destination, as written.
        as_file: As a file in the place of exports.
    """
    settings, notes = written(whole, destinations)
    shown = config_file(tool, {"type": TYPE, **settings}) if as_file else _exports(tool, settings)
    return comments(*notes) + shown


def written(whole: Values, destinations: Mapping[str, Values]) -> tuple[Written, list[str]]:
    """Return the settings as they are to be written, tokens by reference, and what is to be said of them.

    Args:
        whole: As of `lines`.
        destinations: As of `lines`.
    """
    notes: list[str] = []
    settings = plain(whole, notes)
    if list(destinations) == [DEFAULT_NAME]:
        settings |= _destination(destinations[DEFAULT_NAME], notes)
    elif destinations:
        settings["destinations"] = {name: _destination(values, notes) for name, values in destinations.items()}
    return settings, list(dict.fromkeys(notes))


def namespace(tool: str) -> str:
    """Return the namespace that a tool's jobs have here, so that none is renamed; else an example's.

    Args:
        tool: ``airflow`` or ``dbt``.
    """
    conf = sys.modules.get("airflow.configuration")  # loaded where the command sees an Airflow
    found = [os.environ.get(name) for name in _SETS_NAMESPACE[tool]]
    if tool == "airflow" and conf is not None:
        found.insert(1, conf.conf.get("openlineage", "namespace", fallback=None))
    return next((name for name in found if name), NAMESPACES[tool])


def comments(*texts: str | None) -> str:
    """Return each text as a line that a shell, a configuration and YAML all pass over."""
    return "".join(f"# {text}\n" for text in texts if text)


def exports(variables: Mapping[str, Any]) -> str:
    """Return a shell's line for each variable; what is no text is written as JSON."""
    return "\n".join(f"export {name}={shlex.quote(text(value))}" for name, value in variables.items())


def text(value: Any) -> str:
    """Write a value as text: JSON where it is none."""
    return value if isinstance(value, str) else json.dumps(value)


def config_value(value: object) -> str:
    """Write a value for airflow.cfg, in which a percent sign stands for an interpolation unless doubled."""
    return text(value).replace("%", "%%")


def _exports(tool: str, settings: Written) -> str:
    variables = {f"{PREFIX}{name.upper()}": value for name, value in settings.items()}
    if tool == "airflow":
        first = {
            "AIRFLOW__OPENLINEAGE__NAMESPACE": namespace(tool),
            "AIRFLOW__OPENLINEAGE__TRANSPORT": json.dumps({"type": TYPE}),
        }
    else:
        first = {"OPENLINEAGE__TRANSPORT__TYPE": TYPE}
        if tool in NAMESPACES:
            first["OPENLINEAGE_NAMESPACE"] = namespace(tool)
    return exports({**first, **variables}) + (f"\n{THEN_DBT.format(_DBT)}" if tool == "dbt" else "")


def config_file(tool: str, transport: Written, *, dbt: str = _DBT) -> str:
    """Write a transport as ``airflow.cfg``, or as ``openlineage.yml``, which has no place for dbt's namespace.

    Args:
        tool: As of `lines`.
        transport: Its settings.
        dbt: The command that runs dbt with them.
    """
    if tool == "airflow":
        return f"[openlineage]\nnamespace = {config_value(namespace(tool))}\ntransport = {config_value(transport)}"
    # JSON's values are YAML's too.
    lines = ["transport:", *(f"  {name}: {json.dumps(value)}" for name, value in transport.items())]
    if tool == "dbt":
        lines = [f"# besides: {exports({'OPENLINEAGE_NAMESPACE': namespace(tool)})}", *lines, THEN_DBT.format(dbt)]
    return "\n".join(lines)


def _destination(values: Values, notes: list[str]) -> Written:
    settings = plain({name: found for name, found in values.items() if name not in TOKEN_KEYS}, notes)
    profile = choose_profile(values.get("destination"), values.get("endpoint"), values.get("url"))
    key = next((key for key in TOKEN_KEYS if key in values), None)
    if profile.sends_token and (key is not None or profile.needs_token):
        settings |= _reference(key, values, notes)
    return settings


def plain(values: Values, notes: list[str]) -> Written:
    """Return settings that hold no token as they are to be written.

    Args:
        values: As they were found.
        notes: Where a sentence is added for what is left out.
    """
    settings = {}
    for name, found in values.items():
        if name == "proxy" and urlsplit(str(found.value)).username is not None:
            notes.append(
                f"The proxy's url holds a password, which is not printed: set {KEYS['proxy'].variable} yourself."
            )
        else:
            settings[name] = list(found.value) if isinstance(found.value, tuple) else found.value
    return settings


def _reference(key: str | None, values: Values, notes: list[str]) -> Written:
    """Say where the token is, or is to be put; what may be the token itself is not repeated."""
    if key == "token_file":
        path = coerce.path(values[key])
        if FileToken(path, base=values[key].base).describe() == f"file {path}":
            return {key: str(path)}
    if key == "token_env":
        if name := EnvToken(coerce.text(values[key])).name:
            return {key: name}
        notes.append("What token_env says may be a token in the place of a variable's name: fill in the name.")
        return {key: "TRUEWATCH_TOKEN"}
    if key == "token_command":
        notes.append("A command's arguments may hold secrets, so they are for you to fill in.")
        return {key: ["your-program", "its", "arguments"]}
    notes.append(f"Put the token alone into {TOKEN_FILE}, readable only by who emits (chmod 600).")
    return {"token_file": TOKEN_FILE}
