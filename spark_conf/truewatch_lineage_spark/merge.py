"""Join what is set already with what is added, and say where the two disagree."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any, Final

from truewatch_lineage_spark.versions import ARTIFACT

JAR_LISTS: Final = ("spark.jars.packages", "spark.jars")
JOINED: Final = (*JAR_LISTS, "spark.extraListeners", "spark.redaction.regex")
"""Properties whose value is joined; others of ours replace what was there."""

_OLD_TRANSPORT: Final = re.compile(r"(?:^|@)spark\.openlineage\.transport\.|OPENLINEAGE(?:__TRANSPORT|_API_KEY|_URL)")
"""Another transport's parts, which the listener would merge into ours: a second Authorization header, or a token."""


def listed(existing: str | None, addition: str) -> str:
    """Return a list of names with ``addition`` at its end, once."""
    return ",".join([*_names(others(existing, addition)), addition])


def others(existing: str | None, addition: str) -> str:
    """Return a list of names without ``addition``."""
    return ",".join(name for name in _names(existing) if name != addition)


def jars(existing: str | None, addition: str) -> str:
    """Return a list of jars with ``addition`` at its end, in the place of every other release of the listener."""
    return listed(",".join(name for name in _names(existing) if ARTIFACT not in name), addition)


def is_old_transport(key: str) -> bool:
    """Tell whether a property or variable belongs to a transport, so that it must not stand beside another."""
    return bool(_OLD_TRANSPORT.search(key))


def cleaned(key: str, value: Any) -> Any:
    """Return what stays of a setting: all of it, or None; of a list of jars, those that are no release of the listener.

    Args:
        key: Its name.
        value: Its value.
    """
    if is_old_transport(key):
        return None
    if key in JAR_LISTS and ARTIFACT in str(value):
        return ",".join(name for name in _names(value) if ARTIFACT not in name) or None
    return value


def kept(base: Mapping[str, str], ours: Collection[str]) -> dict[str, str]:
    """Return the properties of ``base`` that stay, in order."""
    stay = {key: cleaned(key, value) for key, value in base.items() if key not in ours}
    return {key: value for key, value in stay.items() if value is not None}


def conflicts(base: Mapping[str, str], ours: Mapping[str, str]) -> list[str]:
    """Name what of ``base`` is replaced or left out; values may be secrets, and are not shown."""
    replaced = [key for key, value in ours.items() if key not in JOINED and base.get(key, value) != value]
    others = {key: value for key, value in base.items() if key not in ours}
    dropped = [key for key in others if is_old_transport(key)]
    jars = [key for key in others if key in JAR_LISTS and cleaned(key, others[key]) != others[key]]
    return [
        *(f"Replaced: {key} had another value." for key in replaced),
        *(f"Left out: {key} belongs to another transport, and would be mixed with this one." for key in dropped),
        *(f"Left out: another release of the listener in {key}." for key in jars),
    ]


def _names(existing: str | None) -> list[str]:
    return [name.strip() for name in (existing or "").split(",") if name.strip()]
