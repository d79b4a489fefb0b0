"""What ``check`` finds, step by step, without its command line: integrations run it too."""

from __future__ import annotations

import contextlib
import importlib
import os
import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime, timezone
from http import HTTPStatus
from typing import Any, Final

from truewatch_lineage.cli import kafka_steps, steps
from truewatch_lineage.cli.steps import Step
from truewatch_lineage.cli.surroundings import upstream_steps
from truewatch_lineage.config import DestinationSettings, Settings
from truewatch_lineage.courier import binding_of
from truewatch_lineage.delivery.outcome import Outcome, Verdict
from truewatch_lineage.delivery.senders import sender_of
from truewatch_lineage.errors import ConfigError
from truewatch_lineage.intake import Intake
from truewatch_lineage.program import runs_in_airflow

NAMESPACE: Final = "truewatch-lineage"
JOB: Final = "check"

_PRODUCER: Final = "urn:truewatch-lineage:check"
_OF_A_TLS_PORT: Final = (None, 400)
"""How servers answer plain HTTP on a port for TLS: with an alert, which is no HTTP, by hanging up, or with a 400."""

_NONE_SENT: Final = ("asks for a token, and none was sent", "Set token_file (TRUEWATCH_LINEAGE_TOKEN_FILE).")


def all_steps(settings: Settings, run_id: str, *, sends: bool = True) -> Iterator[Step]:
    """Look at the settings and the spool, and go the way to each destination.

    Args:
        settings: The settings.
        run_id: The run of the events.
        sends: Whether a START and its COMPLETE are sent.
    """
    yield from steps.settings_steps(settings)
    yield from upstream_steps(os.environ)
    yield from _airflow_steps(settings)
    yield from importlib.import_module("truewatch_lineage_dbt.checks").steps()  # above the command line: found by name
    yield from steps.spool_steps(settings)
    for destination in settings.destinations:
        yield from destination_steps(settings, destination, run_id, sends=sends)


def _airflow_steps(settings: Settings) -> Iterator[Step]:
    """Look at the Airflow that this runs in or beside; its integration is above the command line, and found by name."""
    if runs_in_airflow():
        with contextlib.suppress(ImportError):  # another program of that name
            yield from importlib.import_module("truewatch_lineage_airflow.checks").steps(settings)


def destination_steps(
    settings: Settings, destination: DestinationSettings, run_id: str, *, sends: bool = True
) -> Iterator[Step]:
    """Go the way to one destination: name, TCP, TLS, token, then a START and its COMPLETE.

    Args:
        settings: The settings, of which the destination is one.
        destination: Where to go.
        run_id: The run of the events.
        sends: Whether they are sent.
    """
    way = []
    by_http = bool(destination.profile.endpoint)
    for step in steps.way_steps(destination, os.environ) if by_http else kafka_steps.way_steps(destination):
        way.append(step)
        yield step
    token = steps.token_step(destination)
    yield token
    if not sends:
        return
    if reason := _why_not(destination, [*way, token]):
        yield Step("START", "WARN", f"skipped: {reason}", "Mend that, and run check again.", destination.name)
    else:
        yield from _send(settings, destination, run_id)


def is_failed(found: Iterable[Step]) -> bool:
    """Tell whether a step has failed; warnings are no failure."""
    return any(step.status == "FAIL" for step in found)


def unusable(error: ConfigError) -> Step:
    """Make the one step of settings that are wrong."""
    return Step("settings", "FAIL", error.problem + (f" (from {error.source})" if error.source else ""), error.fix)


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
    only = replace(destination, match=None, mapper=None, exclude_facets=())
    intake, sender = Intake(replace(settings, destinations=(only,))), sender_of(only, connections=1)
    name = destination.name
    try:
        for event_type in ("START", "COMPLETE"):
            entry = intake.accept(_event(event_type, run_id), [binding_of(only)]).entries[0]
            outcome = sender.send(entry.body or b"", deadline=time.monotonic() + only.timeout)
            if outcome.verdict is not Verdict.DELIVERED:
                detail, fix = _what_next(outcome, destination)
                yield Step(event_type, "FAIL", detail, fix, name)
                return
            answer = f" ({outcome.status})" if outcome.status else ""
            yield Step(event_type, "ok", f"{outcome.reason}{answer}", None, name)
    finally:
        sender.close()
    search = f"job namespace {NAMESPACE}, job name {JOB}, runId {run_id}"
    yield Step("look", "ok", f"{destination.profile.look} ({search})", None, name)


def _what_next(outcome: Outcome, destination: DestinationSettings) -> tuple[str, str]:
    """Split what an attempt came to into what happened and what to do about it."""
    what, _, fix = outcome.reason.partition(". ")
    if outcome.verdict is Verdict.RETRY:
        what, fix = outcome.reason, "This may pass by itself: events wait in the spool meanwhile. Run check again."
    elif outcome.verdict is Verdict.DEAD:
        what = outcome.reason
        fix = "The destination takes no event of this form. Check that destination and url fit together."
    sends_none = destination.profile.sends_token and destination.token_source is None
    if sends_none and outcome.status == HTTPStatus.UNAUTHORIZED:
        asks, fix = _NONE_SENT
        what = f"{destination.profile.label} {asks}"
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
