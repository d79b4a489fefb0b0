"""The Java of this machine, which Spark and Kafka run on."""

from __future__ import annotations

import functools
import re
import shutil
import subprocess

from support.environments import OUTSIDE


def java() -> str | None:
    """Return the program that Spark's scripts would start: ``JAVA_HOME``'s, or the path's; None where there is none."""
    home = OUTSIDE.get("JAVA_HOME")
    return f"{home}/bin/java" if home else shutil.which("java", path=OUTSIDE.get("PATH"))


@functools.cache
def java_version() -> int | None:
    """Return its major version, or None where there is none."""
    program = java()
    if program is None:
        return None
    told = subprocess.run([program, "-version"], capture_output=True, text=True, timeout=60, check=True).stderr
    found = re.search(r'version "(?:1\.)?(\d+)', told)
    return int(found[1]) if found else None
