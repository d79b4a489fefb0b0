"""The OpenLineage listener's jar: downloaded once from Maven Central, checked, and kept.

jar(choose("3.5", "2.12"))    # the path of openlineage-spark_2.12-1.53.0.jar
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

import pytest

from support.environments import OUTSIDE, locked
from truewatch_lineage_spark.versions import Jar

FOLDER_VARIABLE = "TRUEWATCH_LINEAGE_TEST_JARS"
SECONDS = 300
_DOWNLOAD = """
import shutil, sys, urllib.request
with urllib.request.urlopen(sys.argv[1], timeout=60) as answer, open(sys.argv[2], "wb") as file:
    shutil.copyfileobj(answer, file)
"""


def folder() -> Path:
    """Return where jars are kept: ``$TRUEWATCH_LINEAGE_TEST_JARS``, or the user's cache."""
    named = OUTSIDE.get(FOLDER_VARIABLE)
    return Path(named) if named else Path(OUTSIDE.get("HOME", "~")).expanduser() / ".cache/truewatch-lineage/jars"


def jar(wanted: Jar) -> Path:
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


def _download(url: str, path: Path) -> None:
    """Download a file of 43 MB, in a child that has the proxies and certificates that tests take away."""
    part = path.with_suffix(".part")
    command = [sys.executable, "-c", _DOWNLOAD, url, str(part)]
    done = subprocess.run(command, env=OUTSIDE, capture_output=True, text=True, timeout=SECONDS, check=False)
    if done.returncode:
        problem = done.stderr.strip().rpartition("\n")[2]
        pytest.skip(f"{path.name} (43 MB) is not in {path.parent} and does not come from {url}: {problem}")
    part.replace(path)
