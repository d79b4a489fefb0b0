"""Load Airflow's plugins in each of some surroundings, and tell what came of it.

Takes JSON of cases: ``{"env": {…}, "cfg": {section: {option: text}}, "files": {name: text}, "argv": [...]}``, and
a ``folder`` to work in, which is made.
"""

# ruff: noqa: PLC0415 - what is imported before the plugins are loaded would change what it tests
from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from configparser import ConfigParser
from pathlib import Path

import airflow.plugins_manager
from airflow.configuration import conf
from children import Kept, run_each

VARIABLE = "AIRFLOW__OPENLINEAGE__TRANSPORT"


def configurations() -> list[ConfigParser]:
    """Give what holds ``airflow.cfg``: Airflow 3 has two."""
    with contextlib.suppress(ImportError):
        from airflow.sdk.configuration import conf as of_tasks

        return [conf, of_tasks]
    return [conf]


def load() -> None:
    """Load all plugins as Airflow does, and with Airflow 3 once more as its task SDK does."""
    airflow.plugins_manager.ensure_plugins_loaded()
    with contextlib.suppress(ImportError):
        from airflow.sdk import plugins_manager

        plugins_manager._get_plugins()


def errors() -> dict[str, str]:
    """Give what Airflow noted of plugins that failed."""
    noted = getattr(airflow.plugins_manager, "import_errors", None)
    return dict(airflow.plugins_manager._get_plugins()[1] if noted is None else noted)


def listeners() -> list[str]:
    """Give the classes of the listeners that Airflow has registered; Airflow 3.2 and later has a manager for tasks."""
    from airflow.listeners.listener import get_listener_manager

    managers = [get_listener_manager()]
    with contextlib.suppress(ImportError):
        from airflow.sdk.listener import get_listener_manager as of_tasks

        managers.append(of_tasks())
    found = [sorted(type(one).__name__ for one in manager.pm.get_plugins()) for manager in managers]
    assert all(one == found[0] for one in found), found
    return found[0]


def aliased() -> bool:
    """Tell whether the type ``truewatch`` means our transport."""
    factory = sys.modules.get("openlineage.client.transport")
    return factory is not None and "truewatch" in factory.get_default_factory().transports


def redacted(text: str) -> str:
    """Return a text as Airflow's log of a task would have it."""
    try:
        from airflow.sdk.log import redact
    except ImportError:
        from airflow.utils.log.secrets_masker import redact
    return str(redact(text))


def outcome(case: dict) -> dict:
    """Load the plugins in the surroundings of a case."""
    kept = Kept()
    os.environ.update(case.get("env", {}))
    for configuration in configurations():
        configuration.read_dict(case.get("cfg", {}))
    Path(case["folder"]).mkdir()
    os.chdir(case["folder"])
    for name, text in case.get("files", {}).items():
        Path(name).write_text(text)
        Path(name).chmod(0o600)
    sys.argv = ["airflow", *case.get("argv", ["scheduler"])]
    started = time.perf_counter()
    load()
    once = listeners()
    from truewatch_lineage_airflow.plugin import TrueWatchLineagePlugin

    again = time.perf_counter()
    TrueWatchLineagePlugin.on_load()
    provider = sys.modules.get("airflow.providers.openlineage.plugins.openlineage")
    return {
        "transport": os.environ.get(VARIABLE),
        "listeners": once,
        "same": listeners() == once,
        "macros": len(provider.OpenLineageProviderPlugin.macros) if provider else None,
        "errors": errors(),
        "logged": kept.lines,
        "alias": aliased(),
        "openlineage": "openlineage.client" in sys.modules,
        "threads": threading.active_count(),
        "redacted": redacted(case["say"]) if "say" in case else None,
        "seconds": again - started,
        "again": time.perf_counter() - again,
    }


run_each(outcome)
