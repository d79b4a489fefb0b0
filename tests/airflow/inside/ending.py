"""Start and end a task's process in each of some surroundings, and tell how it went.

Takes JSON of cases: ``{"env": {…}, "marker": "task" or another class's name}``.
"""

# ruff: noqa: PLC0415 - what is imported before the plugins are loaded would change what it tests
from __future__ import annotations

import os
import sys
import time

import airflow.plugins_manager
from children import Kept, run_each


def marker(name: str) -> object:
    """Return what Airflow says the end of a task with, or an object of another class."""
    if name != "task":
        return type(name, (), {})()
    try:
        from airflow.sdk.execution_time.task_runner import TaskRunnerMarker
    except ImportError:
        from airflow.cli.commands.task_command import TaskCommandMarker as TaskRunnerMarker
    return TaskRunnerMarker()


def start_metrics() -> None:
    """Set Airflow 3's metrics up, as the processes of its tasks do before they run one."""
    try:
        from airflow.sdk.configuration import conf
        from airflow.sdk.observability.metrics import stats_utils
        from airflow.sdk.observability.stats import initialize
    except ImportError:
        return
    initialize(
        factory=stats_utils.get_stats_factory(), export_legacy_names=conf.getboolean("metrics", "legacy_names_on")
    )


def outcome(case: dict) -> dict:
    """End the process in the surroundings of a case."""
    kept = Kept()
    os.environ.update(case["env"])
    airflow.plugins_manager.ensure_plugins_loaded()
    from airflow.listeners.listener import get_listener_manager

    start_metrics()
    hook, component = get_listener_manager().hook, marker(case["marker"])
    hook.on_starting(component=component)
    ready = "truewatch_lineage_airflow.transport" in sys.modules
    started = time.perf_counter()
    hook.before_stopping(component=component)
    return {"seconds": time.perf_counter() - started, "logged": kept.lines, "ready": ready}


run_each(outcome)
