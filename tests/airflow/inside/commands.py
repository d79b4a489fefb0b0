"""Run ``airflow`` commands one after the other in one warm process, since each start costs seconds.

Takes a JSON list of arguments a line, and answers each by a line: JSON of exit code and output.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
import traceback

# What Airflow logs, from its import on, must not get between the answers.
answers = os.fdopen(os.dup(1), "w", buffering=1)
os.dup2(2, 1)

from airflow.cli import cli_parser  # noqa: E402 - as just said


def run(args: list[str]) -> tuple[int, str]:
    """Run one command as the command line does."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        try:
            parsed = cli_parser.get_parser().parse_args(args)
            parsed.func(parsed)
        except SystemExit as ended:
            return ended.code if isinstance(ended.code, int) else int(ended.code is not None), out.getvalue()
        except Exception:  # noqa: BLE001 - the caller is told, and the next command must run
            return 1, out.getvalue() + traceback.format_exc()
    return 0, out.getvalue()


with answers:
    for line in sys.stdin:
        answers.write(json.dumps(run(json.loads(line))) + "\n")
