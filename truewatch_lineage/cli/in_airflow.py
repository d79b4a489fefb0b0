"""Commands that are run beside an Airflow see its settings: its configuration's, and its connections."""

from __future__ import annotations

import contextlib
import importlib
import logging
import os
import sys
import warnings
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from truewatch_lineage.config import KEYS
from truewatch_lineage.errors import ConfigError
from truewatch_lineage.program import runs_in_airflow

log = logging.getLogger(__name__)


def enter(given: Mapping[str, Any], environ: Mapping[str, str] = os.environ) -> None:
    """Load Airflow, which takes seconds, where its settings are to be seen; their reader then finds it.

    Args:
        given: The settings of the command line.
        environ: The environment.

    Raises:
        ConfigError: ``airflow_conn_id`` names a connection, and Airflow can't be loaded.
    """
    is_named = "airflow_conn_id" in given or bool(environ.get(KEYS["airflow_conn_id"].variable))
    if runs_in_airflow() or not (is_named or is_beside(environ)):
        return
    try:
        with _silent():
            importlib.import_module("airflow")
    except ImportError:  # none is there, which whoever reads airflow_conn_id says
        return
    except Exception as error:  # noqa: BLE001 - Airflow raises anything where its configuration is wrong, and may quote it
        problem = f"Airflow's settings can't be read ({type(error).__name__})."
        fix = "See that `airflow config list` works here, or unset AIRFLOW_HOME."
        if is_named:
            raise ConfigError(problem, key="airflow_conn_id", fix=fix) from None
        log.warning("%s %s", problem, fix)


def is_beside(environ: Mapping[str, str]) -> bool:
    """Tell whether an Airflow is installed here and this user has a home of it; nothing is loaded."""
    spec = find_spec("airflow")
    if spec is None or spec.origin is None:  # none, or some folder of that name
        return False
    return bool(environ.get("AIRFLOW_HOME")) or Path("~/airflow/airflow.cfg").expanduser().exists()


@contextlib.contextmanager
def _silent() -> Iterator[None]:
    """Keep what Airflow says at its start out of a command's output, and its log handlers off."""
    handlers = list(logging.root.handlers)
    level = logging.root.level
    with contextlib.redirect_stdout(sys.stderr), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            yield
        finally:
            logging.root.handlers[:] = handlers
            logging.root.setLevel(level)
