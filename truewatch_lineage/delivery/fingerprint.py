"""A truncated keyed hash of what decides how a destination is reached: a change can be seen, and nothing else."""

from __future__ import annotations

import hmac
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

_BYTES: Final = 8
FileState = list[int | str] | None


def keyed_hash(key: bytes, parts: Sequence[Any]) -> str:
    """Return the hash of what JSON can hold; without the key nothing follows from it."""
    return hmac.digest(key, json.dumps(parts).encode(), "sha256")[:_BYTES].hex()


def file_state(path: Path | None) -> FileState:
    """Return what changes when a file is replaced; None where there is no file to look at."""
    if path is None:
        return None
    try:
        found = path.stat()
    except OSError:
        return [str(path)]
    return [str(path), found.st_mtime_ns, found.st_size]
