"""``spool drain``: deliver now."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Final

import click

from truewatch_lineage.cli import output
from truewatch_lineage.cli.guard import EXIT_INTERRUPTED, EXIT_WAITS, interrupted_note
from truewatch_lineage.cli.settings import SettingsCommand, load_to_deliver
from truewatch_lineage.words import counted

if TYPE_CHECKING:
    from truewatch_lineage.courier import Courier

EPILOG = """\b
Example:
  truewatch-lineage spool drain --timeout 120

\b
Exits 0 if nothing is left, 75 if something is, 1 if there are new dead letters, 130 after Ctrl-C.
"""
EXIT_NO: Final = 1

_LOOK: Final = 0.1
_CLOSE_SECONDS: Final = 2.0


@click.command("drain", cls=SettingsCommand, without=("timeout",), epilog=EPILOG)
@click.option("--timeout", default=60.0, show_default=True, type=click.FloatRange(min=0), help="Seconds at most.")
def command(timeout: float) -> None:
    """Deliver what is due, try what is stopped at once, and wait for what becomes due in time."""
    from truewatch_lineage.cli.opening import missing, open_store  # noqa: PLC0415 - the help needs none of it
    from truewatch_lineage.courier import Courier  # noqa: PLC0415
    from truewatch_lineage.spool import report  # noqa: PLC0415

    settings = load_to_deliver()
    if not report.exists(settings.spool_dir):
        output.note(f"Nothing to deliver. {missing(settings.spool_dir)}")
        return
    store = open_store(settings)
    before = report.status(store)
    dead_before = set(report.dead_ids(store))
    courier = Courier(store, settings.destinations)
    interrupted = False
    try:
        _drain(courier, timeout)
    except KeyboardInterrupt:
        interrupted = True
    finally:
        courier.finish(0.0)
        courier.stop()
    after = report.status(store)
    dead = [event_id for event_id in report.dead_ids(store) if event_id not in dead_before]
    delivered = after["delivered"] - before["delivered"]
    told = f"{delivered:,} delivered, {after['pending']:,} waiting, {counted(len(dead), 'new dead letter')}"
    click.echo(told)
    for name, one in after["destinations"].items():
        if one["pending"]:
            said = report.in_words(one["state"], one["reason"], one["until"], store.clock())
            output.note(f"{name}: {said}")
    others = [name for name in after["destinations"] if name not in {one.name for one in settings.destinations}]
    if any(after["destinations"][name]["pending"] for name in others):
        output.note(f"What waits for {', '.join(others)} has other settings than this command was given.")
    store.close()
    if interrupted:
        output.note(interrupted_note(after["pending"]))
        click.get_current_context().exit(EXIT_INTERRUPTED)
    click.get_current_context().exit(EXIT_NO if dead else EXIT_WAITS if after["pending"] else 0)


def _drain(courier: Courier, timeout: float) -> None:
    """Deliver in a thread, so that this one can show progress and be interrupted."""
    total = courier.pending()
    deadline = time.monotonic() + timeout
    work = threading.Thread(target=courier.drain, args=(timeout,), kwargs={"probe": True, "wait": True}, daemon=True)
    work.start()
    with output.progress() as bar:
        while work.is_alive() and time.monotonic() < deadline + _CLOSE_SECONDS:
            bar.show("delivering", max(0, total - courier.pending()), total)
            work.join(_LOOK)
