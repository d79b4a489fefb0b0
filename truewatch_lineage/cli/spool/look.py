"""``spool status``, ``list``, ``show``, ``trace`` and ``export``: they only look, without a destination's settings."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, Final

import click

from truewatch_lineage.cli import output
from truewatch_lineage.cli.settings import SettingsCommand, load_settings
from truewatch_lineage.errors import ConfigError
from truewatch_lineage.words import counted

OF_DESTINATION = click.option("--destination", metavar="NAME", help="Only of the destination of this name.")
AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
WITHOUT: Final = ("destination",)

_LISTED: Final = ("id", "destination", "state", "event_type", "job", "run_id", "attempts", "reason")
_TRACED: Final = (
    "created",
    "id",
    "event_type",
    "job",
    "destination",
    "state",
    "attempts",
    "status",
    "delivered",
    "reason",
)
_MODE: Final = 0o600


def _epilog(*lines: str) -> str:
    return "\n".join(["\b", "Example:" if len(lines) == 1 else "Examples:", *(f"  {line}" for line in lines)])


@click.command("status", cls=SettingsCommand, epilog=_epilog("truewatch-lineage spool status --json"))
@AS_JSON
def status(as_json: bool) -> None:
    """Show counts since the spool was made, and how each destination stands."""
    from truewatch_lineage.cli.opening import existing_store_of  # noqa: PLC0415 - the help needs none of it
    from truewatch_lineage.spool import report  # noqa: PLC0415

    settings = load_settings(need_destination=False)
    with existing_store_of(settings) as store:
        found, now = report.status(store), store.clock()
        most = settings.spool_max_bytes or store.capacity
    if as_json:
        output.as_json(found)
        return
    totals = {**found, "bytes": f"{found['bytes']} of {most}"}
    output.table(("", ""), [(name, value) for name, value in totals.items() if name != "destinations"])
    rows = [
        (
            name,
            one["pending"],
            one["dead"],
            one["delivered"],
            report.in_words(one["state"], one["reason"], one["until"], now),
        )
        for name, one in found["destinations"].items()
    ]
    output.table(("destination", "pending", "dead", "delivered", "state"), rows)


@click.command(
    "list",
    cls=SettingsCommand,
    without=WITHOUT,
    epilog=_epilog("truewatch-lineage spool list", "truewatch-lineage spool list --dead --json"),
)
@click.option("--dead", is_flag=True, help="Dead letters, in the place of what waits.")
@OF_DESTINATION
@click.option("--limit", type=click.IntRange(min=1), help="So many at most.")
@AS_JSON
def list_(dead: bool, destination: str | None, limit: int | None, as_json: bool) -> None:
    """List what waits, in the order of emit; with --json an object a line."""
    from truewatch_lineage.cli.opening import existing_store, known_destination  # noqa: PLC0415 - as above
    from truewatch_lineage.spool import report  # noqa: PLC0415

    with existing_store() as store:
        known_destination(store, destination)
        _print(report.listed(store, dead=dead, destination=destination, limit=limit), _LISTED, as_json=as_json)


@click.command("show", cls=SettingsCommand, without=WITHOUT, epilog=_epilog("truewatch-lineage spool show 42"))
@click.argument("ids", metavar="ID...", nargs=-1, required=True, type=int)
@OF_DESTINATION
@AS_JSON
def show(ids: tuple[int, ...], destination: str | None, as_json: bool) -> None:
    """Show events as they are stored and will be sent, and what happened to them."""
    from truewatch_lineage.cli.opening import existing_store, known_destination  # noqa: PLC0415 - as above
    from truewatch_lineage.spool import report  # noqa: PLC0415

    unknown = 0
    with existing_store() as store:
        known_destination(store, destination)
        for event_id in ids:
            found = report.shown(store, event_id)
            if found is None or destination not in (None, found[0]["destination"]):
                unknown += 1
                output.note(
                    f"There is no event {event_id}" + (f" of destination {destination}." if destination else ".")
                )
            else:
                _show(*found, as_json=as_json)
    if unknown:
        click.get_current_context().exit(1)


@click.command(
    "trace",
    cls=SettingsCommand,
    epilog=_epilog(
        "truewatch-lineage spool trace 4a8f90a7-79c0-4f80-89e7-6b6c5d4fc79a",
        "truewatch-lineage spool trace example.scheduler/daily_orders",
    ),
)
@click.argument("what", metavar="RUN_ID|JOB")
@AS_JSON
def trace(what: str, as_json: bool) -> None:
    """Show what happened to the events of a run or a job: emitted, tried, delivered, waiting, refused.

    A JOB is namespace/name, or the name alone. What was delivered is known for receipts_days.
    """
    from truewatch_lineage.cli.opening import existing_store  # noqa: PLC0415 - as above
    from truewatch_lineage.spool import report  # noqa: PLC0415

    with existing_store() as store:
        found = report.traced(store, what)
    _print(found, _TRACED, as_json=as_json)
    if not found:
        output.note(
            f"Nothing is known of {what}: it was not emitted here, or its receipts are older than receipts_days."
        )
        click.get_current_context().exit(1)


@click.command(
    "export",
    cls=SettingsCommand,
    without=WITHOUT,
    epilog=_epilog(
        "truewatch-lineage spool export > events.ndjson", "truewatch-lineage spool export --dead -o dead.ndjson"
    ),
)
@click.option("--dead", is_flag=True, help="Dead letters, in the place of what waits.")
@OF_DESTINATION
@click.option("-o", "--output", "file", type=click.Path(path_type=Path), help="A new file, in the place of stdout.")
def export(dead: bool, destination: str | None, file: Path | None) -> None:
    """Write events as NDJSON, as they are stored; those for two destinations are written once for each."""
    from truewatch_lineage.cli.opening import existing_store, known_destination  # noqa: PLC0415 - as above
    from truewatch_lineage.spool import report  # noqa: PLC0415

    count = 0
    with existing_store() as store:
        known_destination(store, destination)
        with _opened(file) as stream:
            for body in report.exported(store, dead=dead, destination=destination):
                stream.write(body + b"\n")
                count += 1
    output.note(f"{counted(count, 'event')} written.")


def _print(rows: Iterable[dict[str, Any]], columns: Iterable[str], *, as_json: bool) -> None:
    if as_json:
        for row in rows:
            output.as_json(row)
        return
    names = tuple(columns)
    output.table(names, ([row[name] for name in names] for row in rows))


def _show(row: dict[str, Any], body: bytes | None, *, as_json: bool) -> None:
    if as_json:
        output.as_json({**row, "event": None if body is None else json.loads(body)})
        return
    for name, value in row.items():
        click.echo(f"{name}: {'' if value is None else value}")
    click.echo(json.dumps(json.loads(body), indent=2) if body is not None else "only the metadata was kept")


@contextlib.contextmanager
def _opened(file: Path | None) -> Iterator[BinaryIO]:
    """Give stdout, or a new file that only its owner may read, since events may hold what is nobody else's business."""
    if file is None:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    try:
        handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _MODE)
    except OSError as error:
        raise ConfigError(f"{file} can't be made: {error.strerror}.", key="--output", fix="Name a new file.") from error
    with os.fdopen(handle, "wb") as stream:
        yield stream
