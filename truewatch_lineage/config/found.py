"""A value together with where it was found, so that every error can say so without showing the value."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from truewatch_lineage.errors import ConfigError


@dataclass(frozen=True, slots=True)
class Found:
    """One setting as a user wrote it.

    Attributes:
        value: What was written; never shown, since a token may have been written in the wrong place.
        key: The setting as it was spelt, with the names around it, such as ``destinations.prod.timeoutInMillis``.
        source: Where it was written: a variable's name, a file's path, the transport's settings.
        base: The folder that a relative path in it starts from, or None for the working folder.
    """

    value: Any = field(repr=False)
    key: str
    source: str
    base: Path | None = None

    def error(self, problem: str, fix: str | None = None) -> ConfigError:
        """Make the error that says what is wrong with this setting.

        Args:
            problem: The rest of a sentence that starts with the key, such as ``must be a number``.
            fix: What to write instead.
        """
        return ConfigError(f"`{self.key}` {problem}.", key=self.key, source=self.source, fix=fix)

    def inner(self, name: str, value: Any) -> Found:
        """Return a part of this setting's value under its own key."""
        return Found(value, f"{self.key}.{name}", self.source, self.base)
