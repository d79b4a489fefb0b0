"""Runs a child under the recording library and reads its record."""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

SOURCE: Final = Path(__file__).with_name("record.c")
_HEAD: Final = struct.Struct("<cQqI")
_TIMEOUT: Final = 50.0


@dataclass(frozen=True)
class Record:
    """One step of the child; the kinds are those of ``record.c``."""

    kind: str
    inode: int
    offset: int
    data: bytes

    @property
    def text(self) -> str:
        """The path or paths it is about."""
        return self.data.decode()

    @property
    def note(self) -> dict[str, Any]:
        """The child's own words, of kind ``N``."""
        found = json.loads(self.data)
        assert isinstance(found, dict)
        return found


def build(folder: Path) -> Path:
    """Compile the recording library into a folder; returns its path."""
    library = folder / "record.so"
    flags = ["-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror"]
    subprocess.run(["cc", *flags, "-o", str(library), str(SOURCE), "-ldl", "-pthread"], check=True)
    return library


def run(library: Path, work: Path, script: Path, arguments: Sequence[str]) -> list[Record]:
    """Run a Python script as ``script root notes *arguments`` under the library; returns what it did below the root.

    Args:
        library: From `build`.
        work: An empty folder; the script's root is ``root`` in it.
        script: The script.
        arguments: More arguments.
    """
    root, notes, log = work / "root", work / "notes", work / "record"
    root.mkdir()
    environ = os.environ | {
        "LD_PRELOAD": str(library),
        "POWERCUT_ROOT": str(root),
        "POWERCUT_NOTES": str(notes),
        "POWERCUT_LOG": str(log),
    }
    command = [sys.executable, str(script), str(root), str(notes), *arguments]
    subprocess.run(command, check=True, env=environ, timeout=_TIMEOUT)
    return list(_read(log.read_bytes()))


def _read(data: bytes) -> Iterator[Record]:
    at = 0
    while at < len(data):
        kind, inode, offset, size = _HEAD.unpack_from(data, at)
        at += _HEAD.size
        yield Record(kind.decode(), inode, offset, data[at : at + size])
        at += size
