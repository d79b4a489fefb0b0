"""A real dbt with duckdb in an environment of its own, projects to run it on, and what plain dbt says beside ours.

dbt = environment("newest")
project = copy_of(HARBOUR, tmp_path)
ran = dbt.run("truewatch-dbt", "build", project=project, env={"TRUEWATCH_LINEAGE_URL": receiver.url})
"""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from support.cli import Ran
from support.environments import OUTSIDE, Made, folder_name, run_child, skip_unless_possible
from support.repository import ROOT, pyproject

RUN_SECONDS = 120
HARBOUR = ROOT / "tests" / "dbt" / "project"
"""The whole project, whose lineage is in ``tests/dbt/expected_graph.py``."""
SMALL = ROOT / "tests" / "dbt" / "small"
"""A seed, two models and a test: enough where only dbt's words and exit codes matter."""

OTHERS = ("1.8", "1.9", "1.10", "1.11", "lowest")
"""Releases of dbt-core with the newest of all else; and the oldest with the lowest that our extra ``dbt`` allows."""

LOCK = ROOT / "requirements" / "dbt.txt"
NEWEST_PYTHON = {"1.8": 12, "1.9": 12, "lowest": 12}

_MASKS = [
    (re.compile(r"\x1b\[[0-9;]*m"), ""),
    (re.compile(r"(?<!\d)\d{2}:\d{2}:\d{2}(?:\.\d+)?"), "TIME"),
    (re.compile(r"\b\d{4}-\d{2}-\d{2}[T ]TIME(?:Z|[+-]\d{2}:\d{2})?"), "TIME"),
    (re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"), "ID"),
    (re.compile(r"\b\d+(?:\.\d+)?(?:e-\d+)? ?(?:seconds|s)\b"), "SECONDS"),
    (re.compile(r"\b0x[0-9a-f]+\b"), "ADDRESS"),
]
_OF_ONE_RUN = frozenset(
    {"ts", "pid", "invocation_id", "thread", "elapsed", "execution_time", "started_at", "finished_at"}
)


@dataclass(frozen=True)
class Dbt:
    """An environment with dbt-core, dbt-duckdb, openlineage-dbt, sqlglot and this package.

    Attributes:
        name: ``newest``, as ``requirements/dbt.txt`` pins it, one of ``OTHERS``, or ``dagster`` with dagster-dbt.
        made: Where it is.
    """

    name: str
    made: Made

    def variables(self, home: Path, more: Mapping[str, object] | None = None) -> dict[str, str]:
        """Return the whole environment of a process; nothing else but a path and a locale is inherited."""
        return {
            "PATH": f"{self.made.scripts}{os.pathsep}{OUTSIDE.get('PATH', os.defpath)}",
            "HOME": str(home),
            "TMPDIR": tempfile.gettempdir(),
            "LANG": "C.UTF-8",
            "DBT_SEND_ANONYMOUS_USAGE_STATS": "false",
            **{name: str(value) for name, value in (more or {}).items()},
        }

    def command(self, name: str, *args: object) -> list[str]:
        """Give the command line of ``dbt``, ``truewatch-dbt`` or ``dbt-ol``."""
        # Popen looks for it on our own PATH, not on the child's.
        return [str(self.made.scripts / name), *map(str, args)]

    def run(
        self,
        name: str,
        *args: object,
        project: Path,
        env: Mapping[str, object] | None = None,
        timeout: float = RUN_SECONDS,
    ) -> Ran:
        """Run a command in a project's folder; a failure shows in the result.

        Raises:
            subprocess.TimeoutExpired: It took longer than ``timeout`` seconds, and was killed.
        """
        variables = self.variables(project.parent, env)
        done = run_child(self.command(name, *args), cwd=project, env=variables, timeout=timeout)
        return Ran(done.returncode, done.stdout, done.stderr)


def environment(name: str = "newest") -> Dbt:
    """Return an environment with dbt, made first where it is not there.

    Skips the test where this Python has no such dbt, or no uv.

    Raises:
        AssertionError: It could not be made; with what uv said.
    """
    skip_unless_possible(f"dbt {name}", NEWEST_PYTHON.get(name, 13))
    lock = LOCK if name == "newest" else None
    made = Made(ROOT / ".dbt" / folder_name(name), lock, () if lock else _requirements(name))
    made.make()
    return Dbt(name, made)


def _requirements(name: str) -> list[str]:
    """Say what one of ``OTHERS``, or ``dagster``, is made of."""
    extra: list[str] = pyproject()["project"]["optional-dependencies"]["dbt"]
    ours: list[str] = pyproject()["project"]["dependencies"]
    if name == "lowest":
        return ["dbt-core~=1.8.0", "dbt-duckdb~=1.8.0", *(f"{one.replace('>=', '~=')}.0" for one in extra), *ours]
    dbt = ["dagster-dbt", "dbt-core<1.12"] if name == "dagster" else [f"dbt-core~={name}.0"]
    return [*dbt, "dbt-duckdb", *extra, *ours]


def copy_of(project: Path, folder: Path, files: Mapping[str, str | None] | None = None) -> Path:
    """Copy a project into ``folder`` and return it.

    Args:
        project: ``HARBOUR`` or ``SMALL``.
        folder: Where its folder is made.
        files: Texts of files to add or to replace, by their paths; None takes one away.
    """
    made = folder / "project"
    shutil.copytree(project, made, ignore=shutil.ignore_patterns("target", "logs", "*.duckdb", ".user.yml"))
    for name, text in (files or {}).items():
        path = made / name
        if text is None:
            path.unlink()
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    return made


def masked(text: str, *folders: Path) -> str:
    """Take out of dbt's output what differs from run to run: times, durations, ids, colours, and ``folders``."""
    for folder in folders:
        text = text.replace(str(folder), "FOLDER")
    # Where a run fails fast, dbt itself says only now and then that it has cancelled an idle connection.
    kept = [line for line in text.splitlines() if " CANCEL query " not in line]
    lines = [_without_moment(line) if line.startswith("{") else line for line in kept]
    text = "\n".join(lines)
    for pattern, name in _MASKS:
        text = pattern.sub(name, text)
    return text


def _without_moment(line: str) -> str:
    """Take times and ids out of a line of ``--log-format json``, but leave one that is no JSON."""
    try:
        tree = json.loads(line)
    except ValueError:
        return line
    return json.dumps(_pruned(tree))


def _pruned(tree: Any) -> Any:
    if isinstance(tree, dict):
        return {name: _pruned(value) for name, value in tree.items() if name not in _OF_ONE_RUN}
    return [_pruned(value) for value in tree] if isinstance(tree, list) else tree
