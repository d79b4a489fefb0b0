"""Files that only their owner may read, as those with a token have to be."""

from __future__ import annotations

from pathlib import Path


def write_private(path: Path, text: str) -> Path:
    """Write a file that only its owner may read, and give its path."""
    path.write_text(text, encoding="utf-8")
    path.chmod(0o600)
    return path
