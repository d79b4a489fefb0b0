"""What a task does last: a bounded delivery of what waits, and the spool's figures for Airflow's metrics."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Mapping
from typing import Any, Final

from truewatch_lineage.config import Settings, load
from truewatch_lineage.spool import Store, report
from truewatch_lineage.spool.glance import has_due
from truewatch_lineage_airflow import stats
from truewatch_lineage_airflow.masking import mask_known
from truewatch_lineage_airflow.settings import airflow_layers, register

CONNECTIONS: Final = 8
"""Attempts in flight at most, for a destination that sets no ``concurrency``."""

PATIENT_SECONDS: Final = 2.0
"""How long Airflow may take to find the connection: its settings of before are known, since events wait by them."""


def finish(params: Mapping[str, Any], name: str | None = None) -> None:
    """Deliver what is due in the spool of one transport, then report how things stand there.

    Where there is no spool, or nothing in it is due, no connection is looked up and nothing is sent.

    Args:
        params: The transport's own settings, as in the provider's configuration.
        name: What a composite calls the transport.

    Raises:
        TruewatchLineageError: The settings are wrong, or the spool can't be used.
    """
    started = time.monotonic()
    register()
    whole = load(params, need_destination=False)
    if whole.disabled or not report.exists(whole.spool_dir):
        return
    store = Store(
        whole.spool_dir,
        durability=whole.durability,
        max_bytes=whole.spool_max_bytes,
        receipts_days=whole.receipts_days,
    )
    with contextlib.closing(store):
        try:
            if whole.delivery != "spool" and has_due(store):
                layers = airflow_layers(params, patience=min(PATIENT_SECONDS, whole.exit_budget))
                settings = load(params, layers=layers).named(name)
                if settings.delivery != "spool":  # as where a connection could not be looked up
                    _drain(store, settings, started + whole.exit_budget)
        finally:
            stats.report(store)


def _drain(store: Store, settings: Settings, deadline: float) -> None:
    from truewatch_lineage.courier import Courier  # noqa: PLC0415 - and the HTTP client, which few tasks need here

    mask_known(settings)
    courier = Courier(store, settings.destinations, connections=CONNECTIONS)
    try:
        # A pod that vanishes has its spool for itself; where another process leads, that one goes on with the rest.
        courier.drain(max(0.0, deadline - time.monotonic()), follow=False)
    finally:
        courier.stop()
        mask_known(settings)
