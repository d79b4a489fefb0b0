"""``spool resume``, ``replay`` and ``drop``: what an operator decides; none needs a destination's settings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from truewatch_lineage.cli import output
from truewatch_lineage.cli.settings import SettingsCommand
from truewatch_lineage.cli.spool.look import OF_DESTINATION, WITHOUT
from truewatch_lineage.words import counted

if TYPE_CHECKING:
    from truewatch_lineage.spool import Store

_IDS = click.argument("ids", metavar="[ID...]", nargs=-1, type=int)
_ALL = click.option("--all", "every", is_flag=True, help="All of them; with --dead.")
_DEAD = click.option("--dead", is_flag=True, help="With --all: the dead letters.")


@click.command(
    "resume",
    cls=SettingsCommand,
    epilog="\b\nExamples:\n  truewatch-lineage spool resume truewatch\n  truewatch-lineage spool resume",
)
@click.argument("name", required=False)
def resume(name: str | None) -> None:
    """Let a paused or parked destination, or all of them, be tried at once.

    Whatever delivers does it next: a courier, the next process that emits, or spool drain.
    """
    from truewatch_lineage.cli.opening import existing_store, known_destination  # noqa: PLC0415 - the help needs none
    from truewatch_lineage.spool import admin  # noqa: PLC0415

    with existing_store() as store:
        known_destination(store, name)
        resumed = admin.resume(store, name)
    for one in resumed:
        click.echo(f"{one}: will be tried at once")
    if not resumed:
        output.note("Nothing was stopped.")


@click.command(
    "replay",
    cls=SettingsCommand,
    without=WITHOUT,
    epilog="\b\nExamples:\n  truewatch-lineage spool replay 42 43\n"
    "  truewatch-lineage spool replay --all --dead --destination portal",
)
@_IDS
@OF_DESTINATION
@_ALL
@_DEAD
def replay(ids: tuple[int, ...], destination: str | None, every: bool, dead: bool) -> None:
    """Let dead letters be sent again, each in its old place; says so if later events of its run have gone already."""
    from truewatch_lineage.cli.opening import existing_store  # noqa: PLC0415 - as above
    from truewatch_lineage.spool import admin  # noqa: PLC0415

    problems = 0
    with existing_store() as store:
        chosen = _chosen(store, ids, destination, every=every, dead=dead)
        for one in admin.replay(store, chosen, destination):
            if one.problem is not None:
                problems += 1
                output.note(f"{one.id}: not replayed: {one.problem}")
            else:
                click.echo(f"{one.id}: waits again{_overtaken(one.overtaken)}")
    if not chosen:
        click.echo("0 replayed")
    if problems:
        click.get_current_context().exit(1)


@click.command(
    "drop",
    cls=SettingsCommand,
    without=WITHOUT,
    epilog="\b\nExamples:\n  truewatch-lineage spool drop 42\n  truewatch-lineage spool drop --all --dead",
)
@_IDS
@OF_DESTINATION
@_ALL
@_DEAD
def drop(ids: tuple[int, ...], destination: str | None, every: bool, dead: bool) -> None:
    """Remove events for good: dead letters, or what waits. Export them first where in doubt."""
    from truewatch_lineage.cli.opening import existing_store  # noqa: PLC0415 - as above
    from truewatch_lineage.spool import admin  # noqa: PLC0415

    with existing_store() as store:
        chosen = _chosen(store, ids, destination, every=every, dead=dead)
        gone = set(admin.drop(store, chosen, destination))
    click.echo(f"{len(gone):,} dropped")
    unknown = [event_id for event_id in chosen if event_id not in gone]
    for event_id in unknown:
        output.note(f"{event_id}: there is no such event" + (f" of destination {destination}" if destination else ""))
    if unknown:
        click.get_current_context().exit(1)


def _overtaken(later: int) -> str:
    if not later:
        return ""
    return f", though {counted(later, 'later event')} of its run {'has' if later == 1 else 'have'} gone already"


def _chosen(store: Store, ids: Sequence[int], destination: str | None, *, every: bool, dead: bool) -> list[int]:
    """Return the ids that are meant.

    Raises:
        click.UsageError: It is not clear which.
        TruewatchLineageError: There is no such destination.
    """
    from truewatch_lineage.cli.opening import known_destination  # noqa: PLC0415 - as above
    from truewatch_lineage.spool.report import dead_ids  # noqa: PLC0415

    if every != dead:
        raise click.UsageError("--all and --dead go together: all dead letters. What waits is named by its ID.")
    if every == bool(ids):
        raise click.UsageError("Name events by ID, or all dead letters by --all --dead.")
    known_destination(store, destination)
    return dead_ids(store, destination) if every else list(dict.fromkeys(ids))
