"""Which mount a folder is on, as Linux tells it."""

from __future__ import annotations

import contextlib
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

MOUNTINFO: Final = Path("/proc/self/mountinfo")


@dataclass(frozen=True, slots=True)
class Mount:
    """One line of ``/proc/self/mountinfo`` (proc(5)).

    Attributes:
        point: Where it is mounted.
        root: Which folder of its file system is mounted there; tells a volume from another.
        kind: The file system's type, such as ``ext4``.
    """

    point: str
    root: str
    kind: str


def read_mountinfo() -> str:
    """Return the text of ``/proc/self/mountinfo``, empty where there is none."""
    with contextlib.suppress(OSError):
        return MOUNTINFO.read_text(encoding="utf-8", errors="replace")
    return ""


def mount_of(folder: Path, mountinfo: str) -> Mount | None:
    """Return the mount that holds ``folder``: the innermost, and of several in one place the last.

    Args:
        folder: A folder; where it does not exist, what is above it decides.
        mountinfo: As of `read_mountinfo`.
    """
    real = os.path.realpath(folder)
    best = None
    for line in mountinfo.splitlines():
        mount = _parse(line)
        holds = real == mount.point or real.startswith(mount.point.rstrip("/") + "/")
        if holds and (best is None or len(mount.point) >= len(best.point)):
            best = mount
    return best


def _parse(line: str) -> Mount:
    before, _, after = line.partition(" - ")
    root, point = before.split(" ")[3:5]
    return Mount(_plain(point), _plain(root), after.split(" ")[0])


def _plain(text: str) -> str:
    """Replace the octal numbers that mountinfo has in the place of blanks and backslashes."""
    return re.sub(r"\\([0-7]{3})", lambda found: chr(int(found[1], 8)), text)
