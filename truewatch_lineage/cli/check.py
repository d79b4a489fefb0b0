"""``truewatch-lineage check``: the way to each destination, step by step."""

from __future__ import annotations

import uuid
from dataclasses import asdict
from typing import TYPE_CHECKING, Final

import click

from truewatch_lineage.cli import logs, output
from truewatch_lineage.cli.settings import SettingsCommand, load_settings
from truewatch_lineage.errors import ConfigError

if TYPE_CHECKING:
    from truewatch_lineage.cli.steps import Step

EPILOG = """\b
Examples:
  truewatch-lineage check --url https://openway.truewatch.com --token-file /etc/truewatch/token
  truewatch-lineage check --no-send --json

\b
Exits 0 if no step failed (warnings are no failure), 1 if one did, 2 if the settings are wrong.
"""
_COLOURS: Final = {"ok": "green", "WARN": "yellow", "FAIL": "red"}


@click.command("check", cls=SettingsCommand, epilog=EPILOG)
@click.option("--no-send", is_flag=True, help="Send no event.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(no_send: bool, as_json: bool) -> None:
    """Check the way to each destination: settings, spool, name, TCP, TLS, token, a START and its COMPLETE.

    The two events are of the job truewatch-lineage/check, without datasets, and are sent directly, not behind what
    waits in the spool.
    """
    from truewatch_lineage.cli.checkup import all_steps, is_failed, unusable  # noqa: PLC0415 - the help needs none of it
    from truewatch_lineage.cli.steps import shown_settings  # noqa: PLC0415

    try:
        with logs.kept():  # the notices are steps of their own
            settings = load_settings()
    except ConfigError as error:
        _tell_unusable(unusable(error), as_json=as_json)
        click.get_current_context().exit(2)
    run_id = str(uuid.uuid4())
    steps: list[Step] = []
    for step in all_steps(settings, run_id, sends=not no_send):
        steps.append(step)
        if not as_json:
            _show(step)
            if len(steps) == 1:
                _show_settings(shown_settings(settings))
    if as_json:
        output.as_json(
            {
                "ok": not is_failed(steps),
                "run_id": None if no_send else run_id,
                "settings": shown_settings(settings),
                "steps": [asdict(step) for step in steps],
            }
        )
    click.get_current_context().exit(1 if is_failed(steps) else 0)


def _show(step: Step) -> None:
    where = f"{step.destination}: " if step.destination else ""
    click.echo(f"{click.style(f'{step.status:<4}', fg=_COLOURS[step.status])} {where}{step.name}: {step.detail}")
    if step.fix and step.status != "ok":
        click.echo(f"     {step.fix}")


def _show_settings(rows: list[dict[str, str]]) -> None:
    for row in rows:
        click.echo(f"     {row['key']} = {row['value']} (from {row['source']})")


def _tell_unusable(step: Step, *, as_json: bool) -> None:
    if as_json:
        output.as_json({"ok": False, "run_id": None, "settings": [], "steps": [asdict(step)]})
    else:
        _show(step)
