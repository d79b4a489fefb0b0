"""What a process uses, as the system tells it."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path


def processor(pid: int) -> float:
    """Return the seconds of processor time a process has used; 0 where the system does not tell."""
    with suppress(OSError):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return 0.0


def resident(pid: int) -> float:
    """Return a process's memory in MiB; 0 where the system does not tell."""
    with suppress(OSError):
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 2**20
    return 0.0
