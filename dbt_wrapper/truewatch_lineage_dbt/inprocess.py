"""Runs dbt in this process, by the function its own command calls, with a listener beside it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, NoReturn

from truewatch_lineage_dbt.callbacks import Listener
from truewatch_lineage_dbt.endings import Watch
from truewatch_lineage_dbt.invocation import RUN_COMMANDS, Invocation
from truewatch_lineage_dbt.summary import conclude
from truewatch_lineage_dbt.times import now


def run(cli: Callable[..., Any], invocation: Invocation) -> NoReturn:
    """Run dbt and end as it ends.

    Args:
        cli: ``dbt.cli.main.cli``, a click command.
        invocation: What to run.

    Raises:
        SystemExit: With dbt's own exit code; any other exception is dbt's own as well.
    """
    obj: dict[str, Any] = {}
    watch = Watch(dying=lambda: _abandon(listener))
    listener = Listener(obj, invocation.arguments, job_name=invocation.job_name, began=watch.start)
    obj["callbacks"] = [listener]
    sys.argv[1:] = invocation.arguments  # dbt looks there for what it writes into its artefacts
    try:
        cli(args=list(invocation.arguments), prog_name="dbt", obj=obj)
    except BaseException as error:
        _conclude(listener, watch, invocation, error)
        raise
    raise SystemExit(0)  # click's commands end by SystemExit, unless somebody has made this one another


def _conclude(listener: Listener, watch: Watch, invocation: Invocation, error: BaseException) -> None:
    code = _exit_code(error)
    watch.dbt_ended(code)
    try:
        if listener.reporter is None and code != 0 and invocation.command in RUN_COMMANDS:
            listener.begin(invocation.command)  # dbt refused the command line before it began
        if listener.reporter is not None:
            listener.resolve()
            interrupted = listener.was_interrupted or isinstance(error, KeyboardInterrupt)
            conclude(listener.reporter, code, interrupted=interrupted, message=listener.error)
    except (Exception, KeyboardInterrupt):  # noqa: BLE001 - dbt has ended, and its outcome stands whatever happens here
        return


def _exit_code(error: BaseException) -> int:
    """Return the process's exit code, as the interpreter makes it of an exception."""
    code = error.code if isinstance(error, SystemExit) else 1
    return 0 if code is None else code if isinstance(code, int) else 1


def _abandon(listener: Listener) -> None:
    reporter = listener.reporter
    if reporter is not None:
        reporter.tell("end", state="ABORT", at=now(), message="dbt was stopped by a signal.")
        reporter.abandon()
