"""``truewatch-dbt send-events``: send the events of the last run from what it left behind, without running dbt."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Final

from truewatch_lineage_dbt.artefacts import read_artefacts
from truewatch_lineage_dbt.invocation import Invocation
from truewatch_lineage_dbt.lineage.artifacts import timings
from truewatch_lineage_dbt.project import project_folder, read_project, target_folder
from truewatch_lineage_dbt.reporter import Reporter
from truewatch_lineage_dbt.summary import show, warn
from truewatch_lineage_dbt.times import now

_FAILED: Final = frozenset({"error", "fail", "runtime error", "partial success"})


def send_events(invocation: Invocation) -> int:
    """Send the last run's events.

    Args:
        invocation: Whose arguments name project, profile, target and target path, as for dbt.

    Returns:
        0, or 1 where there is nothing to send or it can't be sent.
    """
    project = read_project(project_folder(invocation.arguments, os.environ))
    folder = target_folder(project, invocation.arguments, os.environ)
    found = read_artefacts(folder, since=0)
    if not found.manifest or not found.results or found.invocation_id is None:
        warn(f"There is nothing to send: {folder} holds no manifest.json with the results of a run.")
        return 1
    reporter = Reporter()
    reporter.tell(
        "begin",
        at=_first(found.entries) or now(),
        run_id=found.invocation_id,  # so that sending twice makes no second run
        command=str(found.arguments.get("which") or "run"),
        project_dir=str(project.folder),
        arguments=invocation.arguments,
        job_name=invocation.job_name,
    )
    reporter.tell("artefacts", folder=str(folder), since=0)
    state = "FAIL" if any(result.get("status") in _FAILED for result in found.entries) else "COMPLETE"
    reporter.tell("end", state=state, at=found.generated_at or now())
    report = reporter.finish()
    show(report)
    return 1 if report.is_broken or report.refused is not None else 0


def _first(results: list[Mapping[str, Any]]) -> str | None:
    times = (timing.get("started_at") for result in results for timing in timings(result))
    return min((str(one) for one in times if one), default=None)
