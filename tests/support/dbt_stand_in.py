"""A program named ``dbt`` that does what a test wants, and ``truewatch-dbt`` where no dbt can be imported."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from support import cli

# A shell starts what is in the background with SIGINT ignored, and children inherit that.
_MAIN = """
import signal, sys
sys.path[:] = [entry for entry in sys.path if entry]  # as in a script that is installed
sys.argv[0] = "/usr/bin/truewatch-dbt"  # as there
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.modules["dbt"] = None  # as where dbt lives in another environment
from truewatch_lineage_dbt.main import main
main()
"""
_PREAMBLE = """#!{python}
import json, os, pathlib, signal, sys, time
target = pathlib.Path("target")
"""


@dataclass(frozen=True)
class StandIn:
    """A folder with the program, a project beside it, and a spool.

    Args:
        folder: Where all of it is.
    """

    folder: Path

    def install(self, code: str) -> None:
        """Make the program; ``json``, ``os``, ``pathlib``, ``signal``, ``sys``, ``time`` and ``target`` are there."""
        for name in ("bin", "project/target"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        self.project.joinpath("dbt_project.yml").write_text("name: demo\nversion: '1.0'\nprofile: demo\n")
        program = self.folder / "bin" / "dbt"
        program.write_text(_PREAMBLE.format(python=sys.executable) + textwrap.dedent(code))
        program.chmod(0o755)

    @property
    def project(self) -> Path:
        """The working folder of the command."""
        return self.folder / "project"

    @property
    def command(self) -> list[str]:
        """The command line of ``truewatch-dbt`` without arguments."""
        return [sys.executable, "-c", _MAIN]

    def variables(self, more: Mapping[str, str]) -> dict[str, str]:
        """Return the environment: the program first on PATH, and events kept in the spool."""
        return {
            **os.environ,
            "PATH": f"{self.folder / 'bin'}{os.pathsep}{os.environ['PATH']}",
            "TRUEWATCH_LINEAGE_URL": "http://127.0.0.1:9",
            "TRUEWATCH_LINEAGE_TOKEN": cli.TOKEN,
            "TRUEWATCH_LINEAGE_DELIVERY": "spool",
            "TRUEWATCH_LINEAGE_SPOOL_DIR": str(self.folder / "spool"),
            **more,
        }

    def run(self, *args: str, env: Mapping[str, str] | None = None, stdin: str = "") -> cli.Ran:
        """Run the command to its end."""
        done = subprocess.run(
            [*self.command, *args],
            cwd=self.project,
            env=self.variables(env or {}),
            input=stdin,
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
        return cli.Ran(done.returncode, done.stdout, done.stderr)

    @contextlib.contextmanager
    def started(self, *args: str, env: Mapping[str, str] | None = None) -> Iterator[subprocess.Popen[str]]:
        """Start the command in a process group of its own for a ``with`` block, after which all of it is killed."""
        process = subprocess.Popen(
            [*self.command, *args],
            cwd=self.project,
            env=self.variables(env or {}),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        try:
            yield process
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.communicate()

    def events(self) -> list[Any]:
        """Return the events in the spool, in order; none where there is no spool."""
        done = cli.run("spool", "export", env={"spool_dir": str(self.folder / "spool")})
        return done.lines if done.code == 0 else []
