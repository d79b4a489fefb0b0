"""``spool rebind``: give events that were bound to other settings to the present ones."""

from __future__ import annotations

import gzip
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from truewatch_lineage.cli import output
from truewatch_lineage.cli.settings import SettingsCommand, load_settings
from truewatch_lineage.words import counted

if TYPE_CHECKING:
    from truewatch_lineage.config import DestinationSettings, Settings
    from truewatch_lineage.spool.admin import Convert

EPILOG = """\b
Example:
  truewatch-lineage spool rebind truewatch
"""


@click.command("rebind", cls=SettingsCommand, epilog=EPILOG)
@click.argument("name")
def command(name: str) -> None:
    """Give the events of NAME that were written for another kind or url to the settings that NAME has now.

    Do this where you have moved a destination; until then they wait, since they might be another workspace's.
    """
    from truewatch_lineage.cli.opening import missing, open_store  # noqa: PLC0415 - the help needs none of it
    from truewatch_lineage.courier import binding_of  # noqa: PLC0415
    from truewatch_lineage.spool import admin, report  # noqa: PLC0415

    settings = load_settings(delivery="spool")
    destination = _named(settings, name)
    if not report.exists(settings.spool_dir):
        raise missing(settings.spool_dir)
    store, new, moved, left = open_store(settings), binding_of(destination), 0, 0
    for old in admin.bound_elsewhere(store, new):
        convert = None if old.kind == new.kind else _converter(settings, destination)
        done = admin.rebind(store, old, new, convert)
        moved, left = moved + done.moved, left + done.left
    store.close()
    click.echo(f"{counted(moved, 'event')} moved to {new.url}")
    if left:
        stays = "stays" if left == 1 else "stay"
        why = f"{destination.profile.label} takes no such kind. `spool drop` removes what is not wanted."
        output.note(f"{counted(left, 'event')} {stays}: {why}")
        click.get_current_context().exit(1)


def _named(settings: Settings, name: str) -> DestinationSettings:
    from truewatch_lineage.cli.opening import unknown_destination  # noqa: PLC0415 - as above

    known = {destination.name: destination for destination in settings.destinations}
    if name not in known:
        raise unknown_destination("The settings have", name, known)
    return known[name]


def _converter(settings: Settings, destination: DestinationSettings) -> Convert:
    """Prepare bodies as they would be had they been emitted for this kind; names were mapped when they were."""
    from truewatch_lineage.courier import binding_of  # noqa: PLC0415 - as above
    from truewatch_lineage.intake import Intake  # noqa: PLC0415

    only = replace(destination, match=None, mapper=None)
    intake = Intake(replace(settings, destinations=(only,)))

    def convert(body: bytes) -> bytes | None:
        entries = intake.accept(gzip.decompress(body), [binding_of(only)]).entries
        return entries[0].body if entries else None

    return convert
