"""Environments with a real Airflow, each made once and kept in ``.airflow/``, by uv from the pins of ``make lock``.

environment("3").run("import airflow; print(airflow.__version__)", home=tmp_path).stdout
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from support.environments import OUTSIDE, Made, folder_name, run_child, skip_unless_possible
from support.repository import ROOT, pyproject

RUN_SECONDS = 120
VERSIONS = ("3", "2")
"""The environments that each run of the tests has: the newest of both."""

DAGS = ROOT / "tests" / "airflow" / "dags"


@dataclass(frozen=True)
class Recipe:
    """How an environment is made.

    Attributes:
        major: Airflow's major version, 2 or 3.
        newest_python: The last minor version of Python 3 that this Airflow runs on.
        lock: A file of pins with hashes, or None to resolve ``requirements``.
        requirements: What uv installs where there is no lock.
    """

    major: int
    newest_python: int
    lock: Path | None = None
    requirements: Sequence[str] = ()


def _of(day: str, airflow: str, provider: str = "") -> tuple[str, ...]:
    """Say what uv is to install: an Airflow and what was there for it on a day, as in one that nobody upgraded.

    With later releases beside it an old Airflow may not even start. ``provider`` asks for a release of OpenLineage's.
    """
    ours: list[str] = pyproject()["project"]["dependencies"]
    providers = [f"apache-airflow-providers-{name}" for name in ("common-sql", "sqlite", f"openlineage{provider}")]
    return (f"--exclude-newer={day}", f"apache-airflow~={airflow}.0", *providers, *ours)


RECIPES = {
    "3": Recipe(3, 13, ROOT / "requirements" / "airflow3.txt"),
    "2": Recipe(2, 12, ROOT / "requirements" / "airflow2.txt"),
    "3.2": Recipe(3, 13, requirements=_of("2026-08-01", "3.2")),
    "3.1": Recipe(3, 13, requirements=_of("2026-04-01", "3.1")),
    "3.0": Recipe(3, 12, requirements=_of("2025-09-15", "3.0")),
    "3-lowest": Recipe(3, 12, requirements=_of("2025-09-15", "3.0", "==2.1.3")),
    "2-lowest": Recipe(2, 12, requirements=_of("2025-09-15", "2.11", "==2.0.0")),
}
"""The newest of each, as pinned; older ones; and with the lowest provider that works."""


@dataclass(frozen=True)
class Environment:
    """A virtual environment with Airflow, its OpenLineage provider and this package, editable.

    Attributes:
        name: Its name among ``RECIPES``.
        major: Airflow's major version, 2 or 3.
        folder: Where it is.
    """

    name: str
    major: int
    folder: Path

    @property
    def python(self) -> Path:
        """Give its interpreter."""
        return self.folder / "bin" / "python"

    def variables(self, home: Path, more: Mapping[str, str] | None = None) -> dict[str, str]:
        """Return the whole environment of a process of the Airflow whose ``AIRFLOW_HOME`` is ``home``."""
        return {
            "PATH": f"{self.python.parent}{os.pathsep}{OUTSIDE.get('PATH', os.defpath)}",
            "HOME": str(home),
            "TMPDIR": tempfile.gettempdir(),
            "LANG": "C.UTF-8",
            "AIRFLOW_HOME": str(home),
            "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
            "AIRFLOW__CORE__DAGS_FOLDER": str(DAGS),
            # Processes wait for each other's writes as long as a slow machine needs.
            "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": f"sqlite:///{home}/airflow.db?timeout=60",
            **(more or {}),
        }

    def run(
        self,
        script: str | Path,
        *args: str | Path,
        home: Path,
        env: Mapping[str, str] | None = None,
        timeout: float = RUN_SECONDS,
    ) -> subprocess.CompletedProcess[str]:
        """Run Python code (text) or a file (path) with its interpreter; a failure shows in the result.

        Args:
            script: The code, or the file.
            args: Its ``sys.argv[1:]``.
            home: ``AIRFLOW_HOME``, ``HOME`` and working folder.
            env: Variables to add; nothing else but a path and a locale is inherited.
            timeout: Seconds it may take.

        Raises:
            subprocess.TimeoutExpired: It took longer, and was killed.
        """
        what = [str(script)] if isinstance(script, Path) else ["-c", script]
        return self._run([str(self.python), *what, *map(str, args)], home, env, timeout)

    def airflow(
        self, *args: str | Path, home: Path, env: Mapping[str, str] | None = None, timeout: float = RUN_SECONDS
    ) -> subprocess.CompletedProcess[str]:
        """Run the command ``airflow``; arguments and result as of ``run``."""
        return self._run(["airflow", *map(str, args)], home, env, timeout)

    def _run(
        self, command: list[str], home: Path, env: Mapping[str, str] | None, timeout: float
    ) -> subprocess.CompletedProcess[str]:
        command[0] = str(self.python.parent / command[0])  # Popen looks for it on our own PATH, not on the child's
        return run_child(command, cwd=home, env=self.variables(home, env), timeout=timeout)


def environment(name: str) -> Environment:
    """Return an environment of ``RECIPES``, and make it first where it is not there or what it is made from changed.

    Skips the test where this Python has no such Airflow, or no uv. Two processes may ask at once.

    Raises:
        AssertionError: It could not be made; with what uv said.
    """
    recipe = RECIPES[name]
    skip_unless_possible(f"Airflow {name}", recipe.newest_python)
    made = Made(ROOT / ".airflow" / folder_name(name), recipe.lock, recipe.requirements)
    made.make()
    return Environment(name, recipe.major, made.folder)
