"""Environments with a real Airflow, each made once and kept in ``.airflow/``, by uv from the pins of ``make lock``.

environment("3").run("import airflow; print(airflow.__version__)", home=tmp_path).stdout
"""

from __future__ import annotations

import fcntl
import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from support.repository import ROOT

BUILD_SECONDS = 900
RUN_SECONDS = 120
DAGS = ROOT / "tests" / "airflow" / "dags"
# Tests clear the environment and give themselves an empty home; uv needs the registry's settings and its cache.
_OUTSIDE = dict(os.environ)


@dataclass(frozen=True)
class Recipe:
    """How an environment is made.

    Attributes:
        major: Airflow's major version, 2 or 3.
        newest_python: The last minor version of Python 3 that this Airflow runs on.
        lock: A file of pins with hashes, or None to resolve ``requirements``.
        requirements: What is installed where there is no lock.
    """

    major: int
    newest_python: int
    lock: Path | None = None
    requirements: Sequence[str] = ()


RECIPES = {
    "3": Recipe(3, 13, ROOT / "requirements" / "airflow3.txt"),
    "2": Recipe(2, 12, ROOT / "requirements" / "airflow2.txt"),
}


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
            "PATH": f"{self.python.parent}{os.pathsep}{_OUTSIDE.get('PATH', os.defpath)}",
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
        return subprocess.run(
            command,
            cwd=home,
            env=self.variables(home, env),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )


def environment(name: str) -> Environment:
    """Return an environment of ``RECIPES``, and make it first where it is not there or what it is made from changed.

    Skips the test where this Python has no such Airflow, or no uv. Two processes may ask at once.

    Raises:
        AssertionError: It could not be made; with what uv said.
    """
    recipe = RECIPES[name]
    if sys.version_info >= (3, recipe.newest_python + 1):
        pytest.skip(f"Airflow {name} runs on Python 3.{recipe.newest_python} at most")
    if importlib.util.find_spec("uv") is None:
        pytest.skip("uv is not installed")
    folder = f"{name}-python{sys.version_info.major}.{sys.version_info.minor}"
    found = Environment(name, recipe.major, ROOT / ".airflow" / folder)
    with _locked(ROOT / ".airflow" / f"{folder}.lock"):
        _make(found, recipe)
    return found


def _make(environment: Environment, recipe: Recipe) -> None:
    """Make what is not there: first what others publish, then this package, whose metadata changes more often."""
    made = _digest([sys.version, sys.base_prefix, *recipe.requirements, *_texts(recipe.lock)])
    stamp = environment.folder / ".made"
    if not _holds(stamp, made):
        _uv("venv", "--quiet", "--clear", "--python", sys.executable, str(environment.folder))
        pinned = ["--require-hashes", "-r", str(recipe.lock)] if recipe.lock else recipe.requirements
        _uv("pip", "install", "--quiet", "--python", str(environment.python), *pinned)
        stamp.write_text(made)
    installed = _digest([made, *_texts(ROOT / "pyproject.toml")])
    stamp = environment.folder / ".installed"
    if not _holds(stamp, installed):
        _install_this(environment)
        stamp.write_text(installed)


def _install_this(environment: Environment) -> None:
    """Install this package by an editable wheel, built with the tools of this environment."""
    folder = environment.folder / "wheel"
    shutil.rmtree(folder, ignore_errors=True)
    _child([sys.executable, "-m", "hatchling", "build", "-t", "wheel:editable", "-d", str(folder)])
    wheel = next(folder.glob("*.whl"))
    options = ["--quiet", "--offline", "--no-deps", "--reinstall", "--python", str(environment.python)]
    _uv("pip", "install", *options, str(wheel))


def _uv(*args: str) -> None:
    _child([sys.executable, "-m", "uv", *args])


def _child(command: Sequence[str]) -> None:
    done = subprocess.run(
        command,
        cwd=ROOT,
        env={**_OUTSIDE, "UV_PYTHON_DOWNLOADS": "never"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=BUILD_SECONDS,
        check=False,
    )
    assert done.returncode == 0, f"{' '.join(command)}:\n{done.stdout}"


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold a file's lock, which the kernel frees where the holder dies."""
    path.parent.mkdir(exist_ok=True)
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _texts(path: Path | None) -> list[str]:
    return [path.read_text("utf-8")] if path else []


def _digest(parts: Sequence[str]) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _holds(stamp: Path, text: str) -> bool:
    return stamp.exists() and stamp.read_text() == text
