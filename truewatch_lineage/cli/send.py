"""``truewatch-lineage send``: events from files."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

import click

from truewatch_lineage.cli import logs, output
from truewatch_lineage.cli.guard import EXIT_INTERRUPTED, EXIT_WAITS, interrupted_note
from truewatch_lineage.cli.settings import SettingsCommand, load_settings
from truewatch_lineage.errors import EventError

if TYPE_CHECKING:
    from truewatch_lineage.cli.shipment import Shipment
    from truewatch_lineage.config import Settings
    from truewatch_lineage.courier import Courier
    from truewatch_lineage.spool import Store

EPILOG = """\b
Examples:
  truewatch-lineage send event.json events/
  gunzip -c events.ndjson.gz | truewatch-lineage send --no-wait -

\b
Exits 1 if something was broken, refused or lost, 75 if something still waits in the spool, 130 after Ctrl-C.
"""
EXIT_NO: Final = 1

_STOP_SECONDS: Final = 2.0
_IN_WORDS: Final = {
    "delivered": "delivered",
    "waiting": "waiting",
    "dead": "refused",
    "skipped": "skipped, as it does not take their kind",
    "left_out": "left out by match",
    "lost": "lost",
}


@click.command("send", cls=SettingsCommand, without=("timeout",), epilog=EPILOG)
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@click.option("--timeout", default=60.0, show_default=True, type=click.FloatRange(min=0), help="Seconds to wait.")
@click.option("--no-wait", is_flag=True, help="Leave delivery to a courier, or to a later process.")
@click.option("--json", "as_json", is_flag=True, help="Print the counts as JSON.")
def command(files: tuple[str, ...], timeout: float, no_wait: bool, as_json: bool) -> None:
    """Send the events of files and wait until they are delivered.

    A FILE is JSON (one event, several, or an array), NDJSON, a folder of such files, or - for standard input. A
    broken line is named with its number, and the others still go.
    """
    settings = load_settings()
    if settings.disabled:
        output.note("Nothing was sent: lineage is disabled by the setting disabled or by OPENLINEAGE_DISABLED.")
        return
    delivers = not no_wait and settings.delivery != "spool"
    from truewatch_lineage.cli.shipment import Shipment  # noqa: PLC0415 - the help needs none of it

    patience, unreadable, interrupted = 0.0 if no_wait else timeout, 0, False
    with _store(settings) as store:
        with _courier(settings, store, delivers=delivers) as courier:
            shipment = Shipment(settings, store, courier, patience, output.note)
            try:
                unreadable = _ship(shipment, files, patience)
            except KeyboardInterrupt:
                interrupted = True
        shipment.settle()
        shipment.finish()
        _report(shipment, unreadable, as_json=as_json)
        if interrupted:
            _tell_interrupted(shipment)
        _exit(shipment, unreadable)


def _tell_interrupted(shipment: Shipment) -> None:
    output.note(interrupted_note(sum(count["waiting"] for count in shipment.counts.values())))
    if not shipment.is_read:
        output.note("The files were not read to their end: what was not read is not sent.")
    click.get_current_context().exit(EXIT_INTERRUPTED)


def _ship(shipment: Shipment, files: Sequence[str], timeout: float) -> int:
    """Send all that can be read; returns how many could not be."""
    from truewatch_lineage.cli.reading import items, total_bytes  # noqa: PLC0415 - as above

    total, unreadable = total_bytes(files), 0
    with output.progress() as bar, logs.quiet("intake", "courier.telling"):  # which name no file
        for item in items(files):
            try:
                shipment.add(item.where, item.content())
            except EventError as error:
                unreadable += 1
                output.note(f"{item.where}: {error.problem if error.path == '$' else error}")
            bar.show("reading", item.position, total)
        shipment.commit()
        shipment.is_read = True
        shipment.wait(timeout, lambda: bar.show("delivering", shipment.done, shipment.accepted))
    return unreadable


def _report(shipment: Shipment, unreadable: int, *, as_json: bool) -> None:
    from truewatch_lineage.cli.shipment import COUNTS  # noqa: PLC0415 - as above

    if as_json:
        destinations = {name: {one: count[one] for one in COUNTS} for name, count in shipment.counts.items()}
        output.as_json({"unreadable": unreadable, "destinations": destinations})
    else:
        for name, count in shipment.counts.items():
            click.echo(f"{name}: {_in_words(count)}")
        if unreadable:
            click.echo(f"unreadable: {unreadable:,}")
    for line in shipment.stopped():
        output.note(line)
    if any(count["waiting"] for count in shipment.counts.values()):
        output.note("What waits is kept in the spool and goes with the next process; `spool drain` sends it now.")


def _in_words(count: dict[str, int]) -> str:
    parts = [f"{count['delivered']:,} delivered" + (f" ({count['cached']:,} cached)" if count["cached"] else "")]
    parts += [f"{count[key]:,} {words}" for key, words in list(_IN_WORDS.items())[1:] if count[key]]
    return ", ".join(parts)


def _exit(shipment: Shipment, unreadable: int) -> None:
    counts = shipment.counts.values()
    if unreadable or any(count["dead"] or count["lost"] for count in counts):
        click.get_current_context().exit(EXIT_NO)
    if any(count["waiting"] for count in counts):
        click.get_current_context().exit(EXIT_WAITS)


@contextlib.contextmanager
def _store(settings: Settings) -> Iterator[Store]:
    from truewatch_lineage.cli.opening import open_store  # noqa: PLC0415 - as above

    store = open_store(settings)
    try:
        yield store
    finally:
        store.close()


@contextlib.contextmanager
def _courier(settings: Settings, store: Store, *, delivers: bool) -> Iterator[Courier | None]:
    from truewatch_lineage.courier import POLL_SECONDS, Courier  # noqa: PLC0415 - as above

    if not delivers:
        yield None
        return
    courier = Courier(store, settings.destinations)
    courier.start(poll=POLL_SECONDS)
    try:
        yield courier
    finally:
        courier.finish(_STOP_SECONDS)
        courier.stop()
