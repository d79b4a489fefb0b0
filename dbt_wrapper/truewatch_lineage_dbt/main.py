"""``truewatch-dbt``: dbt, whose outcome is its own, with its lineage sent beside it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, NoReturn

from truewatch_lineage_dbt.invocation import SEND_EVENTS, parse

# ruff: noqa: PLC0415 - each way to run imports what it needs, since `truewatch-dbt --version` should cost what dbt's does


def main() -> NoReturn:
    """Run dbt with the arguments of this process.

    Raises:
        SystemExit: With dbt's own exit code; 128 + N where signal N ended it; 127 where there is no dbt.
    """
    invocation = parse(sys.argv[1:])
    if invocation.command == SEND_EVENTS:
        from truewatch_lineage_dbt.send_events import send_events

        sys.exit(send_events(invocation))
    cli = _importable()
    if cli is not None:
        from truewatch_lineage_dbt import inprocess

        inprocess.run(cli, invocation)
    from truewatch_lineage_dbt.child import run

    sys.exit(run(invocation))


def _importable() -> Callable[..., Any] | None:
    """Return dbt's own command where this interpreter can import it (dbt-core 1.5 and later)."""
    try:
        from dbt.cli.main import cli
    except Exception:  # noqa: BLE001 - a dbt that is absent, old or broken; run as another program it says so itself
        return None
    return cli  # type: ignore[no-any-return]  # dbt is not there when types are checked
