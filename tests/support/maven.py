"""Jars from Maven Central: each downloaded once, checked, and kept.

jar(choose("3.5", "2.12"))    # the path of openlineage-spark_2.12-1.53.0.jar
jars(ROOT / "requirements" / "kafka-jars.txt")
"""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import pytest

from support.environments import OUTSIDE, locked
from truewatch_lineage_spark.versions import MAVEN

FOLDER_VARIABLE = "TRUEWATCH_LINEAGE_TEST_JARS"
SECONDS = 300
_DOWNLOAD = """
import shutil, sys, urllib.request
with urllib.request.urlopen(sys.argv[1], timeout=60) as answer, open(sys.argv[2], "wb") as file:
    shutil.copyfileobj(answer, file)
"""


class Wanted(Protocol):
    """What says which jar is meant."""

    @property
    def file_name(self) -> str:
        """The name it has in Maven Central."""

    @property
    def url(self) -> str:
        """Where to download it."""

    @property
    def sha256(self) -> str:
        """Its checksum, in hexadecimal."""


@dataclass(frozen=True)
class Artifact:
    """A jar by its coordinates.

    Attributes:
        group: As ``org.apache.kafka``.
        name: As ``kafka-clients``.
        version: As ``3.9.1``.
        sha256: Its checksum, in hexadecimal.
    """

    group: str
    name: str
    version: str
    sha256: str

    @property
    def file_name(self) -> str:
        """The name it has in Maven Central."""
        return f"{self.name}-{self.version}.jar"

    @property
    def url(self) -> str:
        """Where to download it."""
        return f"{MAVEN}/{self.group.replace('.', '/')}/{self.name}/{self.version}/{self.file_name}"


def folder() -> Path:
    """Return where jars are kept: ``$TRUEWATCH_LINEAGE_TEST_JARS``, or the user's cache."""
    named = OUTSIDE.get(FOLDER_VARIABLE)
    return Path(named) if named else Path(OUTSIDE.get("HOME", "~")).expanduser() / ".cache/truewatch-lineage/jars"


def jar(wanted: Wanted) -> Path:
    """Return a jar's path, downloaded where it is not there; two processes may ask at once.

    Skips the test where it can't be downloaded.

    Raises:
        AssertionError: What is there, or came, is not what Maven Central has by that name.
    """
    path = folder() / wanted.file_name
    path.parent.mkdir(parents=True, exist_ok=True)
    with locked(path.with_suffix(".lock")):
        if not path.exists():
            _download(wanted.url, path)
        found = hashlib.sha256(path.read_bytes()).hexdigest()
        assert found == wanted.sha256, f"{path} is not what Maven Central has: remove it, and run the test again"
    return path


def jars(pins: Path) -> list[Path]:
    """Return the paths of all the jars that a file pins, as ``jar`` does for one.

    Args:
        pins: A file of lines ``group:name:version sha256``; those that begin with ``#`` are comments.
    """
    return [jar(artifact) for artifact in _pinned(pins)]


def _pinned(pins: Path) -> Iterator[Artifact]:
    for line in pins.read_text("utf-8").splitlines():
        if not line.startswith("#"):
            group, name, version, sha256 = re.split("[: ]", line)
            yield Artifact(group, name, version, sha256)


def _download(url: str, path: Path) -> None:
    """Download a file, in a child that has the proxies and certificates that tests take away."""
    part = path.with_suffix(".part")
    command = [sys.executable, "-c", _DOWNLOAD, url, str(part)]
    done = subprocess.run(command, env=OUTSIDE, capture_output=True, text=True, timeout=SECONDS, check=False)
    if done.returncode:
        problem = done.stderr.strip().rpartition("\n")[2]
        pytest.skip(f"{path.name} is not in {path.parent} and does not come from {url}: {problem}")
    part.replace(path)
