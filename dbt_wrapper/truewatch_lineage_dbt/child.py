"""Runs dbt as another program, where it can't be imported: lineage comes from the files it leaves."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import sys
import time
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from truewatch_lineage_dbt.forwarding import Forwarding, die_with_parent
from truewatch_lineage_dbt.invocation import Invocation
from truewatch_lineage_dbt.project import project_folder, read_project, target_folder
from truewatch_lineage_dbt.reporter import Reporter
from truewatch_lineage_dbt.summary import conclude, warn
from truewatch_lineage_dbt.times import now

NOT_FOUND: Final = 127
"""What a shell says of a command that is not there."""

_CALL: Final = re.compile(rb"\btruewatch-dbt(?![\w./-])")
_SCRIPT_BYTES: Final = 4096

PLUGIN_VARIABLE: Final = "TRUEWATCH_LINEAGE_DBT_PLUGIN"
"""Hidden from dbt, so that a plugin there does not send the run a second time."""


def run(invocation: Invocation) -> int:
    """Run dbt and return its exit code.

    Args:
        invocation: What to run.

    Returns:
        dbt's own exit code; 128 + N where signal N ended it; 127 where there is no dbt, 126 where it can't be run.
    """
    program = find_dbt(os.environ)
    if program is None:
        warn("There is no dbt: none can be imported, none is beside this Python, and none on PATH. Install dbt-core.")
        return NOT_FOUND
    since, at = time.time(), now()
    with Forwarding() as signals:
        try:
            process = subprocess.Popen(  # noqa: S603 - the user's own dbt
                [program, *invocation.arguments],
                env={name: value for name, value in os.environ.items() if name != PLUGIN_VARIABLE},
                close_fds=False,  # what a shell opened for dbt, as by `<(…)`; Python's own are not inherited
                preexec_fn=die_with_parent(),  # noqa: PLW1509 - this process has no threads yet
            )
        except OSError as error:
            warn(f"{program} can't be run: {error.strerror}.")
            return NOT_FOUND - 1
        reporter = None
        with contextlib.suppress(Exception):  # dbt runs, and its outcome stands, whatever happens here
            reporter = _begin(invocation, at) if invocation.has_lineage else None
        code = signals.wait(process)
        if reporter is not None:
            signals.leave_to(reporter)
            with contextlib.suppress(Exception):  # as above
                _conclude(reporter, invocation, code, since, interrupted=code < 0 or signals.was_told_to_stop)
    return 128 - code if code < 0 else code


def find_dbt(environ: Mapping[str, str]) -> str | None:
    """Return the path of dbt: beside this interpreter, else on PATH; never this command itself under that name."""
    folders = [str(Path(sys.executable).parent), *environ.get("PATH", os.defpath).split(os.pathsep)]
    found = (shutil.which("dbt", path=folder) for folder in folders if folder)
    return next((path for path in found if path and not _is_this_command(path)), None)


def _is_this_command(path: str) -> bool:
    """Tell whether a program is this one, or a script that calls it, which as dbt would call itself for ever."""
    if os.path.realpath(path) == os.path.realpath(sys.argv[0]):
        return True
    with contextlib.suppress(OSError), Path(path).open("rb") as file:
        return _CALL.search(file.read(_SCRIPT_BYTES)) is not None
    return False


def _begin(invocation: Invocation, at: str) -> Reporter:
    reporter = Reporter()
    reporter.tell(
        "begin",
        at=at,
        run_id=str(uuid.uuid4()),
        command=invocation.command,
        project_dir=str(project_folder(invocation.arguments, os.environ)),
        arguments=invocation.arguments,
        job_name=invocation.job_name,
    )
    return reporter


def _conclude(reporter: Reporter, invocation: Invocation, code: int, since: float, *, interrupted: bool) -> None:
    project = read_project(project_folder(invocation.arguments, os.environ))
    folder = target_folder(project, invocation.arguments, os.environ)
    reporter.tell("artefacts", folder=str(folder), since=since)
    conclude(reporter, code, interrupted=interrupted, message=_killed(code))


def _killed(code: int) -> str | None:
    return f"dbt was killed by signal {-code}." if code < 0 else None
