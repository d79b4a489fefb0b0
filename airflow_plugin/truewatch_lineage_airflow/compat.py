"""Where Airflow 2.11 and Airflow 3 keep the same things; imported lazily, so that nothing here costs a start."""

# ruff: noqa: PLC0415 - late imports are what this module is for
from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable
from typing import Any


def is_airflow_3() -> bool:
    """Tell whether this Airflow is of the third generation, whose tasks run by ``airflow.sdk``."""
    from airflow import __version__

    return not __version__.startswith("2.")


def base_hook() -> type[Any]:
    """Return ``BaseHook``."""
    try:
        from airflow.sdk import BaseHook
    except ImportError:
        from airflow.hooks.base import BaseHook
    return BaseHook  # type: ignore[no-any-return]


def lineage_conf() -> Any:
    """Return the OpenLineage provider's ``conf`` module, or None where the provider is not installed."""
    try:
        from airflow.providers.openlineage import conf
    except ImportError:
        return None
    return conf


def hook_lineage_reader() -> type[Any]:
    """Return ``HookLineageReader``."""
    try:
        from airflow.sdk.lineage import HookLineageReader
    except ImportError:
        from airflow.lineage.hook import HookLineageReader
    return HookLineageReader  # type: ignore[no-any-return]


def has_options(section: str) -> bool:
    """Tell whether ``airflow.cfg`` says something in a section: those that Airflow writes hold comments alone."""
    found = conf()
    return bool(found.has_section(section) and found.options(section))


def mask(secret: str) -> None:
    """Have Airflow mask a secret in the logs of this process, and of the task it supervises."""
    try:
        from airflow.sdk.log import mask_secret
    except ImportError:
        mask_secret = _old_mask_secret()
    mask_secret(secret)
    core = sys.modules.get("airflow._shared.secrets_masker")  # from 3.1 on Airflow's own processes have one too
    if core is not None:
        core.mask_secret(secret)


def _old_mask_secret() -> Any:
    try:
        from airflow.sdk.execution_time.secrets_masker import mask_secret
    except ImportError:
        from airflow.utils.log.secrets_masker import mask_secret
    return mask_secret


def stats() -> Any:
    """Return Airflow's ``Stats``, which does nothing where metrics are off."""
    try:
        from airflow.sdk.observability.stats import Stats
    except ImportError:
        from airflow.stats import Stats
    return Stats


def conf() -> Any:
    """Return Airflow's configuration, which runs ``_CMD`` and asks for ``_SECRET`` of ``[truewatch] token``.

    Raises:
        ImportError: There is no Airflow.
    """
    from airflow.configuration import conf as found

    # It does so for options that providers have declared, which not all of its processes load.
    found.sensitive_config_values.add(("truewatch", "token"))
    return found


def not_found() -> type[Exception]:
    """Return what Airflow raises where it finds no connection of a name."""
    from airflow.exceptions import AirflowNotFoundException

    return AirflowNotFoundException  # type: ignore[no-any-return]


def connection_getter() -> Callable[[str], Any]:
    """Return what gives a connection by its name, asked for as this process may.

    A task of Airflow 3 asks its supervisor, others secrets backends and the database by themselves; what is raised is
    Airflow's own, for whatever is wrong.
    """
    if _is_own_supervisor():
        return _from_own_backends
    if supervisor() is not None:
        from airflow.sdk import Connection

        return Connection.get  # type: ignore[no-any-return]
    from airflow.models.connection import Connection as Stored

    return Stored.get_connection_from_secrets  # type: ignore[no-any-return]


def _is_own_supervisor() -> bool:
    """Tell whether a task is supervised by its own process, as in ``airflow dags test`` and ``tasks test``.

    That answers in a thread, which the forks that emit do not have: they would wait for ever.
    """
    return type(supervisor()).__name__ == "InProcessSupervisorComms"


def _from_own_backends(conn_id: str) -> Any:
    """Ask the secrets backends and the database of this process, passing over those that fail, as Airflow does."""
    from airflow.configuration import ensure_secrets_loaded

    for backend in ensure_secrets_loaded():
        with contextlib.suppress(Exception):  # backends are anybody's code
            if found := backend.get_connection(conn_id=conn_id):
                return found
    raise not_found()


def supervisor() -> Any:
    """Return a task's way to its supervisor, or None outside of Airflow 3's tasks."""
    return getattr(sys.modules.get("airflow.sdk.execution_time.task_runner"), "SUPERVISOR_COMMS", None)


def is_asking_supervisor() -> bool:
    """Tell whether some thread waits for an answer of the supervisor."""
    lock = getattr(supervisor(), "_thread_lock", None)
    return lock is not None and lock.locked()
