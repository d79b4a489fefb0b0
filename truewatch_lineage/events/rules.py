"""How the tables of rules in the settings are read: ``match`` and ``map_names``."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from truewatch_lineage.errors import ConfigError


def table(value: object, known: Collection[str], key: str) -> Mapping[str, Any]:
    """Return ``value`` if it is a mapping with known keys only.

    Raises:
        ConfigError: It is no mapping, or has an unknown key; the nearest known one is named.
    """
    if not isinstance(value, Mapping):
        raise ConfigError(f"{key} must be a table, not {type(value).__name__}.", key=key)
    for name in value:
        if name not in known:
            raise ConfigError(f"Unknown key {key}.{name}.", key=f"{key}.{name}", fix=nearest(str(name), known))
    return value


def rows(value: object, key: str) -> Sequence[object]:
    """Return ``value`` if it is a list; None is an empty one.

    Raises:
        ConfigError: It is something else.
    """
    if value is None:
        return ()
    if isinstance(value, (list, tuple)):
        return value
    raise ConfigError(f"{key} must be a list, not {type(value).__name__}.", key=key)


def text(value: object, key: str) -> str:
    """Return ``value`` if it is text.

    Raises:
        ConfigError: It is something else.
    """
    if isinstance(value, str):
        return value
    raise ConfigError(f"{key} must be text, not {type(value).__name__}.", key=key)


def nearest(name: str, known: Collection[str]) -> str:
    """Tell which known key was probably meant, or list them all."""
    from difflib import get_close_matches  # noqa: PLC0415 - only for a message

    close = get_close_matches(name, sorted(known), n=1)
    return f"Did you mean {close[0]}?" if close else f"Known keys: {', '.join(sorted(known))}."
