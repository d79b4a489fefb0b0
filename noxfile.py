"""The version matrix: each supported Python with the newest dependencies, two also with the lowest; each Spark."""

from __future__ import annotations

import os
import shutil
import subprocess

import nox

PYTHONS = ("3.10", "3.11", "3.12", "3.13")
LOWEST_PYTHONS = ("3.10", "3.12")
SPARKS = ("3.5", "4.0")
QUICK = "not slow and not serial"
AIRFLOW = "tests/airflow"

nox.needs_version = ">=2024.4.15"
nox.options.default_venv_backend = "uv"
nox.options.error_on_missing_interpreters = False
os.environ["UV_PYTHON_DOWNLOADS"] = "never"

if "PYENV_VERSION" not in os.environ and shutil.which("pyenv"):
    # pyenv's python3.X commands run only the versions that are switched on.
    command = ["pyenv", "versions", "--bare"]
    bare = subprocess.run(command, check=True, capture_output=True, text=True)
    os.environ["PYENV_VERSION"] = ":".join(sorted(bare.stdout.split()))


def run_tests(session: nox.Session, *resolution: str, without: tuple[str, ...] = ()) -> None:
    """Install the package with its servers and Kafka, then the test tools, and run each test that measures no time."""
    session.install("-e", ".[receiver,gateway,kafka]", *resolution)
    session.install("--group", "test")
    left_out = [f"--ignore={folder}" for folder in ("tests/spark", *without)]
    session.run("pytest", "-m", "not slow and not serial", *left_out, *session.posargs)


@nox.session(python=PYTHONS)
def newest(session: nox.Session) -> None:
    """Run the tests with the newest dependencies."""
    run_tests(session)


@nox.session(python=LOWEST_PYTHONS)
def lowest(session: nox.Session) -> None:
    """Run the tests with the lowest dependencies that pyproject.toml allows; dbt has an environment of its own."""
    run_tests(session, "--resolution", "lowest-direct", without=("tests/dbt",))


@nox.session(python=PYTHONS)
def airflow(session: nox.Session) -> None:
    """Run the tests in real Airflows, of which 2.11 has no Python 3.13."""
    session.install("-e", ".[receiver,gateway,kafka]")
    session.install("--group", "test")
    session.run("pytest", "-n", "2", "--dist", "loadscope", "-m", QUICK, AIRFLOW, *session.posargs)


@nox.session(python="3.11")
@nox.parametrize("version", SPARKS)
def spark(session: nox.Session, version: str) -> None:
    """Run each form of Spark's settings, with each destination, by one Spark; the slow tests too."""
    session.install("-e", ".[receiver,gateway,kafka]")
    session.install("--group", "test")
    session.run("pytest", "tests/spark", "-k", version, *session.posargs)
