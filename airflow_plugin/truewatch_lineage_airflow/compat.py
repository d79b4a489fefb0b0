"""Where Airflow 2.11 and Airflow 3 keep the same things; imported lazily, so that nothing here costs a start."""

# ruff: noqa: PLC0415 - late imports are what this module is for
from __future__ import annotations

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


def mask(secret: str) -> None:
    """Have Airflow mask a secret in the logs of this process, and of the task it supervises."""
    try:
        from airflow.sdk.log import mask_secret
    except ImportError:
        from airflow.utils.log.secrets_masker import mask_secret
    mask_secret(secret)


def stats() -> Any:
    """Return Airflow's ``Stats``, which does nothing where metrics are off."""
    try:
        from airflow.sdk.observability.stats import Stats
    except ImportError:
        from airflow.stats import Stats
    return Stats
