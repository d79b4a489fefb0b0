"""``truewatch-lineage check``: the way to each destination, step by step."""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Iterator
from dataclasses import asdict, replace
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any, Final

import click

from truewatch_lineage.cli import logs, output
from truewatch_lineage.cli.settings import SettingsCommand, load_settings
from truewatch_lineage.errors import ConfigError

if TYPE_CHECKING:
    from truewatch_lineage.cli.steps import Step
    from truewatch_lineage.config import DestinationSettings, Settings
    from truewatch_lineage.delivery.outcome import Outcome

EPILOG = """\b
Examples:
  truewatch-lineage check --url https://openway.truewatch.com --token-file /etc/truewatch/token
  truewatch-lineage check --no-send --json

\b
Exits 0 if no step failed (warnings are no failure), 1 if one did, 2 if the settings are wrong.
"""
NAMESPACE: Final = "truewatch-lineage"
JOB: Final = "check"

_PRODUCER: Final = "urn:truewatch-lineage:check"
_OF_A_TLS_PORT: Final = (None, 400)
"""How servers answer plain HTTP on a port for TLS: with an alert, which is no HTTP, by hanging up, or with a 400."""

_COLOURS: Final = {"ok": "green", "WARN": "yellow", "FAIL": "red"}


@click.command("check", cls=SettingsCommand, epilog=EPILOG)
@click.option("--no-send", is_flag=True, help="Send no event.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(no_send: bool, as_json: bool) -> None:
    """Check the way to each destination: settings, spool, name, TCP, TLS, token, a START and its COMPLETE.

    The two events are of the job truewatch-lineage/check, without datasets, and are sent directly, not behind what
    waits in the spool.
    """
    from truewatch_lineage.cli.steps import shown_settings  # noqa: PLC0415 - the help needs none of it

    try:
        with logs.kept():  # the notices are steps of their own
            settings = load_settings()
    except ConfigError as error:
        _tell_unusable(error, as_json=as_json)
        click.get_current_context().exit(2)
    run_id = str(uuid.uuid4())
    steps: list[Step] = []
    for step in _steps(settings, run_id, sends=not no_send):
        steps.append(step)
        if not as_json:
            _show(step)
            if len(steps) == 1:
                _show_settings(shown_settings(settings))
    if as_json:
        output.as_json(
            {
                "ok": not _is_failed(steps),
                "run_id": None if no_send else run_id,
                "settings": shown_settings(settings),
                "steps": [asdict(step) for step in steps],
            }
        )
    click.get_current_context().exit(1 if _is_failed(steps) else 0)


def _steps(settings: Settings, run_id: str, *, sends: bool) -> Iterator[Step]:
    from truewatch_lineage.cli import steps  # noqa: PLC0415 - as above
    from truewatch_lineage.cli.surroundings import upstream_steps  # noqa: PLC0415

    yield from steps.settings_steps(settings)
    yield from upstream_steps(os.environ)
    yield from steps.spool_steps(settings)
    for destination in settings.destinations:
        way = []
        for step in steps.way_steps(destination, os.environ):
            way.append(step)
            yield step
        token = steps.token_step(destination)
        yield token
        if not sends:
            continue
        if reason := _why_not(destination, [*way, token]):
            yield steps.Step("START", "WARN", f"skipped: {reason}", "Mend that, and run check again.", destination.name)
        else:
            yield from _send(settings, destination, run_id)


def _why_not(destination: DestinationSettings, way: list[Step]) -> str | None:
    """Say what keeps the events from being sent, or None."""
    failed = next((step.name for step in way if step.status == "FAIL"), None)
    if failed:
        return f"{failed} has failed"
    if destination.profile.needs_token and destination.token_source is None:
        return "there is no token here"
    return None


def _send(settings: Settings, destination: DestinationSettings, run_id: str) -> Iterator[Step]:
    """Send a START and its COMPLETE, as they are for this destination, and say where to look for them."""
    from truewatch_lineage.cli.steps import Step  # noqa: PLC0415 - as above
    from truewatch_lineage.courier import binding_of  # noqa: PLC0415
    from truewatch_lineage.delivery.outcome import Verdict  # noqa: PLC0415
    from truewatch_lineage.delivery.sender import Sender  # noqa: PLC0415
    from truewatch_lineage.intake import Intake  # noqa: PLC0415

    only = replace(destination, match=None, mapper=None, exclude_facets=())
    intake, sender = Intake(replace(settings, destinations=(only,))), Sender(only, connections=1)
    name = destination.name
    try:
        for event_type in ("START", "COMPLETE"):
            entry = intake.accept(_event(event_type, run_id), [binding_of(only)]).entries[0]
            outcome = sender.send(entry.body or b"", deadline=time.monotonic() + only.timeout)
            if outcome.verdict is not Verdict.DELIVERED:
                detail, fix = _what_next(outcome, destination)
                yield Step(event_type, "FAIL", detail, fix, name)
                return
            yield Step(event_type, "ok", f"{outcome.reason} ({outcome.status})", None, name)
    finally:
        sender.close()
    search = f"job namespace {NAMESPACE}, job name {JOB}, runId {run_id}"
    yield Step("look", "ok", f"{destination.profile.look} ({search})", None, name)


def _what_next(outcome: Outcome, destination: DestinationSettings) -> tuple[str, str]:
    """Split what an attempt came to into what happened and what to do about it."""
    from truewatch_lineage.delivery.outcome import Verdict  # noqa: PLC0415 - as above

    what, _, fix = outcome.reason.partition(". ")
    if outcome.verdict is Verdict.RETRY:
        what, fix = outcome.reason, "This may pass by itself: events wait in the spool meanwhile. Run check again."
    elif outcome.verdict is Verdict.DEAD:
        what = outcome.reason
        fix = "The destination takes no event of this form. Check that destination and url fit together."
    if destination.url.startswith("http://") and outcome.status in _OF_A_TLS_PORT:
        fix = f"If that port speaks TLS, the url must start with https://. {fix}"
    return what, fix


def _event(event_type: str, run_id: str) -> dict[str, Any]:
    return {
        "eventType": event_type,
        "eventTime": datetime.now(timezone.utc).isoformat(),
        "run": {"runId": run_id},
        "job": {"namespace": NAMESPACE, "name": JOB},
        "inputs": [],
        "outputs": [],
        "producer": _PRODUCER,
    }


def _is_failed(steps: list[Step]) -> bool:
    return any(step.status == "FAIL" for step in steps)


def _show(step: Step) -> None:
    where = f"{step.destination}: " if step.destination else ""
    click.echo(f"{click.style(f'{step.status:<4}', fg=_COLOURS[step.status])} {where}{step.name}: {step.detail}")
    if step.fix and step.status != "ok":
        click.echo(f"     {step.fix}")


def _show_settings(rows: list[dict[str, str]]) -> None:
    for row in rows:
        click.echo(f"     {row['key']} = {row['value']} (from {row['source']})")


def _tell_unusable(error: ConfigError, *, as_json: bool) -> None:
    from truewatch_lineage.cli.steps import Step  # noqa: PLC0415 - as above

    step = Step("settings", "FAIL", error.problem + (f" (from {error.source})" if error.source else ""), error.fix)
    if as_json:
        output.as_json({"ok": False, "run_id": None, "settings": [], "steps": [asdict(step)]})
    else:
        _show(step)
