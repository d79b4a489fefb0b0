"""Virtual environments with what others publish and this package, each made once by uv and kept.

made = Made(ROOT / ".dbt" / "newest", lock=ROOT / "requirements" / "dbt.txt")
made.make()                              # nothing to do the second time
subprocess.run([made.python, "-m", "dbt.cli.main", "--version"])
"""

from __future__ import annotations

import fcntl
import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from support.repository import ROOT

BUILD_SECONDS = 900
# Tests clear the environment and give themselves an empty home; uv needs the registry's settings and its cache.
OUTSIDE = dict(os.environ)


@dataclass(frozen=True)
class Made:
    """A virtual environment with this package, editable.

    Attributes:
        folder: Where it is.
        lock: A file of pins with hashes, or None to resolve ``requirements``.
        requirements: What is installed where there is no lock.
    """

    folder: Path
    lock: Path | None = None
    requirements: Sequence[str] = ()

    @property
    def scripts(self) -> Path:
        """Give the folder of its commands."""
        return self.folder / "bin"

    @property
    def python(self) -> Path:
        """Give its interpreter."""
        return self.scripts / "python"

    def make(self) -> None:
        """Make it where it is not there or what it is made from changed; two processes may ask at once.

        Raises:
            AssertionError: It could not be made; with what uv said.
        """
        with locked(self.folder.with_name(f"{self.folder.name}.lock")):
            self._make()

    def _make(self) -> None:
        """Make what is not there: first what others publish, then this package, whose metadata changes more often."""
        made = _digest([sys.version, sys.base_prefix, *self.requirements, *_texts(self.lock)])
        stamp = self.folder / ".made"
        if not _holds(stamp, made):
            _uv("venv", "--quiet", "--clear", "--python", sys.executable, str(self.folder))
            pinned = ["--require-hashes", "-r", str(self.lock)] if self.lock else self.requirements
            _uv("pip", "install", "--quiet", "--python", str(self.python), *pinned)
            stamp.write_text(made)
        installed = _digest([made, *_texts(ROOT / "pyproject.toml")])
        stamp = self.folder / ".installed"
        if not _holds(stamp, installed):
            self._install_this()
            stamp.write_text(installed)

    def _install_this(self) -> None:
        """Install this package by an editable wheel, built with the tools of this environment."""
        folder = self.folder / "wheel"
        shutil.rmtree(folder, ignore_errors=True)
        _child([sys.executable, "-m", "hatchling", "build", "-t", "wheel:editable", "-d", str(folder)])
        wheel = next(folder.glob("*.whl"))
        options = ["--quiet", "--offline", "--no-deps", "--reinstall", "--python", str(self.python)]
        _uv("pip", "install", *options, str(wheel))


def run_child(
    command: Sequence[str], *, cwd: Path, env: Mapping[str, str], timeout: float
) -> subprocess.CompletedProcess[str]:
    """Run a command without input, and keep what it says; a failure shows in the result.

    Raises:
        subprocess.TimeoutExpired: It took longer than ``timeout`` seconds, and was killed.
    """
    return subprocess.run(
        command,
        cwd=cwd,
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )


def folder_name(name: str) -> str:
    """Name an environment's folder, one for each Python that runs the tests."""
    return f"{name}-python{sys.version_info.major}.{sys.version_info.minor}"


def skip_unless_possible(what: str, newest_python: int) -> None:
    """Skip the test where ``what`` does not run on this Python 3.X, or there is no uv."""
    if sys.version_info >= (3, newest_python + 1):
        pytest.skip(f"{what} runs on Python 3.{newest_python} at most")
    if importlib.util.find_spec("uv") is None:
        pytest.skip("uv is not installed")


def _uv(*args: str) -> None:
    _child([sys.executable, "-m", "uv", *args])


def _child(command: Sequence[str]) -> None:
    done = subprocess.run(
        command,
        cwd=ROOT,
        env={**OUTSIDE, "UV_PYTHON_DOWNLOADS": "never"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=BUILD_SECONDS,
        check=False,
    )
    assert done.returncode == 0, f"{' '.join(command)}:\n{done.stdout}"


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a file's lock, which the kernel frees where the holder dies; it is made in a folder that may be new."""
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
