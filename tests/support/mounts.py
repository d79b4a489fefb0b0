"""Small file systems of a test's own, for full and read-only disks; need root and a container that allows mounts."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path


@contextlib.contextmanager
def small_disk(point: Path, mib: int) -> Iterator[Path]:
    """Mount a tmpfs of that many MiB on a new folder for a ``with`` block."""
    point.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={mib}m", "none", str(point)], check=True, capture_output=True)
    try:
        yield point
    finally:
        subprocess.run(["umount", "--lazy", str(point)], check=True)


def make_read_only(point: Path) -> None:
    """Let nobody write to a `small_disk` any more, as a kernel does after an error of the disk."""
    subprocess.run(["mount", "-o", "remount,ro", str(point)], check=True)


@cache
def can_mount() -> bool:
    """Tell whether this process may mount."""
    if sys.platform != "linux" or os.geteuid() != 0:
        return False
    with tempfile.TemporaryDirectory() as folder:
        try:
            with small_disk(Path(folder, "disk"), 1):
                return True
        except (OSError, subprocess.CalledProcessError):
            return False
