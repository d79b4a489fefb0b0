"""Lets Airflow's OpenLineage provider send through this package where nobody has told it otherwise.

The provider decides when it is imported whether it is on: with Airflow 3 before our `install`, with Airflow 2 after it.
So its switch is set for the processes that are yet to start, and turned where it was already looked at.
"""

from __future__ import annotations

import importlib
import json
import logging
import multiprocessing
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from truewatch_lineage_airflow import compat, early
from truewatch_lineage_airflow.in_force import VARIABLE, InForce, in_force, is_ours, mixed_in, nodes

log = logging.getLogger(__name__)

TYPE: Final = "truewatch_lineage_airflow.transport.AirflowTransport"
"""The late default's transport, which takes its settings from Airflow at its first event."""

VALUE: Final = json.dumps({"type": TYPE})
"""Of the variable: what children inherit. It holds no setting, and so no secret."""

_PROVIDER: Final = "airflow.providers.openlineage.plugins"
_CACHED: Final = ("transport", "is_disabled", "config_path", "config_conn_id")
_TOLD_BY: Final = "scheduler"
"""The command whose log gets the warning: every task's own log would otherwise repeat it."""

_OF_UPSTREAM: Final = frozenset({"type", "name", "priority"})
_told: set[str] = set()


@dataclass(frozen=True, slots=True)
class Own:
    """A transport of ours in the provider's configuration.

    Attributes:
        name: What a composite calls it, or None.
        settings: Its own settings, without what OpenLineage's client takes for itself; may hold a token.
    """

    name: str | None
    settings: dict[str, Any] = field(repr=False)

    @classmethod
    def of(cls, transport: Mapping[str, Any]) -> Own:
        """Take one as it is written."""
        settings = {key: value for key, value in transport.items() if key not in _OF_UPSTREAM}
        return cls(transport.get("name"), settings)


def install() -> None:
    """Mask what tokens are known, then set the late default, or say whose transport is there.

    Cheap where there is nothing to do; repeating it changes nothing.
    """
    found = found_transport()
    known = early.look([own.settings for own in _own(found)])
    for token in known.tokens:
        compat.mask(token)
    conf = compat.lineage_conf()
    if conf is None or not known.is_wanted or _is_disabled():
        return
    if found is None:
        _turn_on(conf)
    elif not is_in_use(found):
        _tell(found)
    elif _may_hold_alias(found):
        from truewatch_lineage.transport import register  # noqa: PLC0415 - imports openlineage, as the provider will

        register()


def found_transport() -> InForce | None:
    """Return the transport that is configured, or None; connections are not asked.

    A file that only OpenLineage's client reads counts, too: it would add its url to the late default.
    """
    return in_force(os.environ, ask=False) or mixed_in(os.environ)


def is_in_use(found: InForce | None) -> bool:
    """Tell whether a transport is, or holds, one of ours; one that only a connection knows may be."""
    return found is not None and (found.place == "connection" or bool(_own(found)))


def own_transports() -> list[Own]:
    """Return each transport of ours that is configured.

    Raises:
        Exception: Airflow's own, where the configuration is in a connection and that can't be looked up.
    """
    return _own(in_force(os.environ))


def _own(found: InForce | None) -> list[Own]:
    return [Own.of(one) for one in nodes(found.settings) if is_ours(one)] if found else []


def _is_disabled() -> bool:
    """Tell whether the user has switched OpenLineage off."""
    if word := os.environ.get("OPENLINEAGE_DISABLED", ""):
        from truewatch_lineage.config.coerce import is_true  # noqa: PLC0415 - which hardly anybody needs

        if is_true(word):
            return True
    return bool(compat.conf().getboolean("openlineage", "disabled", fallback=False))


def _may_hold_alias(found: InForce) -> bool:
    return found.place == "connection" or any(one.get("type") == "truewatch" for one in nodes(found.settings))


def _turn_on(conf: Any) -> None:
    os.environ[VARIABLE] = VALUE
    for name in _CACHED:
        clear = getattr(getattr(conf, name, None), "cache_clear", None)  # under pytest the provider caches nothing
        if clear is not None:
            clear()
    loaded = sys.modules.get(f"{_PROVIDER}.openlineage")
    if loaded is not None:
        _give_listeners(loaded.OpenLineageProviderPlugin)


def _give_listeners(plugin: Any) -> None:
    """Give the provider's plugin what its class body leaves out where it is off."""
    if plugin.listeners:
        return
    macros = importlib.import_module(f"{_PROVIDER}.macros")
    listener = importlib.import_module(f"{_PROVIDER}.listener")
    plugin.macros = [value for name, value in vars(macros).items() if name.startswith("lineage_")]
    plugin.listeners = [listener.get_openlineage_listener()]
    plugin.hook_lineage_readers = [compat.hook_lineage_reader()]


def _tell(found: InForce) -> None:
    """Warn once, in the log of a process that lives long and is nobody's child."""
    commands = sys.argv[1:2]
    if commands != [_TOLD_BY] or multiprocessing.parent_process() is not None or found.source in _told:
        return
    _told.add(found.source)
    log.warning(
        "OpenLineage already has a transport of type %s, from %s, so nothing is sent to TrueWatch or Portal. "
        "`truewatch-lineage env airflow --beside` prints how to send to both; `[truewatch] enabled = False` ends this "
        "warning.",
        found.type,
        found.source,
    )
