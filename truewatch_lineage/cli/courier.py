"""``truewatch-lineage courier``: delivers until it is stopped."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import click

from truewatch_lineage.cli import logs
from truewatch_lineage.cli.settings import SettingsCommand, load_to_deliver
from truewatch_lineage.cli.stopping import stopped_by_signal
from truewatch_lineage.errors import SpoolError
from truewatch_lineage.words import counted

if TYPE_CHECKING:
    from truewatch_lineage.courier import Courier
    from truewatch_lineage.spool import Store

EPILOG = """\b
Examples:
  truewatch-lineage courier --metrics-port 9464
  curl http://127.0.0.1:9464/healthz
  truewatch-lineage courier --airflow-conn-id truewatch_default
"""

LOOK_SECONDS: Final = 60.0
"""Between two looks for events that are left alone since they are bound to other settings."""

_STOP_SECONDS: Final = 3.5
"""Of the 5 s in which a service manager wants it gone."""


@click.command("courier", cls=SettingsCommand, epilog=EPILOG)
@click.option(
    "--metrics-port",
    type=click.IntRange(0, 65535),
    help="Serve /metrics (Prometheus) and /healthz on this port of 127.0.0.1; 0 takes a free one.",
)
def command(metrics_port: int | None) -> None:
    """Deliver what processes leave in the spool, until SIGTERM or Ctrl-C; then stop within 5 seconds.

    For jobs with delivery: spool, or whose processes end too soon. Several couriers of one spool take turns.
    """
    from truewatch_lineage.cli.opening import open_store, tell_destinations  # noqa: PLC0415 - the help needs none of it
    from truewatch_lineage.courier import POLL_SECONDS, Courier, log  # noqa: PLC0415
    from truewatch_lineage.spool import report  # noqa: PLC0415

    settings = load_to_deliver()
    store = open_store(settings)
    report.status(store)  # a spool that can't be read is told now, not in a thread
    logs.show_progress()
    courier = Courier(store, settings.destinations)
    with stopped_by_signal() as stopped, _metrics(metrics_port, store, courier):
        courier.start(poll=POLL_SECONDS, probe=True)
        left_alone = tell_destinations(store, settings)
        while not stopped.wait(LOOK_SECONDS):
            with contextlib.suppress(SpoolError):  # which the threads that deliver tell
                left_alone.tell()
        log.info("Stopping.")
        courier.finish(_STOP_SECONDS)
        courier.stop()
    left = courier.pending()
    log.info("Stopped; %s %s.", counted(left, "event"), "waits" if left == 1 else "wait")
    store.close()


@contextlib.contextmanager
def _metrics(port: int | None, store: Store, courier: Courier) -> Iterator[None]:
    if port is None:
        yield
        return
    from truewatch_lineage.cli.metrics import serve  # noqa: PLC0415 - as above
    from truewatch_lineage.courier import log  # noqa: PLC0415

    with serve(port, store, courier.all_live) as url:
        log.info("Metrics at %s/metrics.", url)
        yield
