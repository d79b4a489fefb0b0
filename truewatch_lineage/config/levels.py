"""From layers to one value a key: each layer is brought to the keys' own names, then the highest wins."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from truewatch_lineage.config import coerce
from truewatch_lineage.config.found import Found
from truewatch_lineage.config.keys import KEYS, TOKEN_KEYS, Scope, fold
from truewatch_lineage.config.layers import Layer
from truewatch_lineage.config.settings import DEFAULT_NAME
from truewatch_lineage.config.spelling import DESTINATIONS, expect_mapping, resolve
from truewatch_lineage.errors import ConfigError

_NAME: Final = re.compile(r"(?!\.{1,2}$)[A-Za-z0-9_.-]{1,64}")
_SHOWN: Final = 80
_TOP: Final[tuple[Scope, ...]] = ("settings", "destination")
_NESTED: Final[tuple[Scope, ...]] = ("destination",)

Values = dict[str, Found]


@dataclass(slots=True)
class Level:
    """One layer, with every key under its own name.

    Attributes:
        whole: Settings of the whole.
        flat: Settings of the one destination named ``default``.
        named: Settings of named destinations.
        named_at: Where ``destinations`` was written, if it was.
    """

    whole: Values = field(default_factory=dict)
    flat: Values = field(default_factory=dict)
    named: dict[str, Values] = field(default_factory=dict)
    named_at: Found | None = None


def normalise(layer: Layer, notices: list[str]) -> Level:
    """Bring a layer to the keys' own names.

    Raises:
        ConfigError: A key is unknown, written in two ways, or a destination names two sources of its token.
    """
    level = Level()
    for spelling, value in layer.values.items():
        found = Found(value, str(spelling), layer.origin(str(spelling)), layer.base)
        if fold(str(spelling)) != DESTINATIONS:
            for name, setting in resolve(found, str(spelling), _TOP, notices):
                _put(level.whole if KEYS[name].scope == "settings" else level.flat, name, setting)
        elif value is not None:
            level.named_at = found
            level.named = _named(found, notices)
    _check_one_token(level.flat)
    return level


def merge(levels: Iterable[Level]) -> tuple[Values, dict[str, Values]]:
    """Take each key from the first level that has it.

    A token is taken whole: the first level that names any source of it hides those of all levels below.

    Returns:
        The settings of the whole, and those of each destination by name.

    Raises:
        ConfigError: Flat and named destinations are mixed, in one level or over two: a token meant for one
            destination could reach another.
    """
    levels = tuple(levels)
    _check_not_mixed(levels)
    whole: Values = {}
    destinations: dict[str, Values] = {}
    for level in levels:
        _merge(whole, level.whole)
        for name, values in (level.named or ({DEFAULT_NAME: level.flat} if level.flat else {})).items():
            _merge(destinations.setdefault(name, {}), values)
    return whole, destinations


def _named(found: Found, notices: list[str]) -> dict[str, Values]:
    result: dict[str, Values] = {}
    for name, inner in expect_mapping(found, coerce.tree(found)).items():
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise found.error(
                f"holds the name {str(name)[:_SHOWN]!r}, which no destination can have",
                "Use up to 64 letters, digits, dots, hyphens, underscores.",
            )
        result[name] = _destination(found.inner(name, inner), notices)
    return result


def _destination(found: Found, notices: list[str]) -> Values:
    values: Values = {}
    for spelling, value in expect_mapping(found, found.value).items():
        for name, setting in resolve(found.inner(str(spelling), value), str(spelling), _NESTED, notices):
            _put(values, name, setting)
    _check_one_token(values)
    return values


def _put(values: Values, name: str, setting: Found) -> None:
    if name in values:
        raise setting.error(f"says the same as `{values[name].key}`", "Leave one of them out.")
    values[name] = setting


def _check_one_token(values: Values) -> None:
    sources = [values[name] for name in TOKEN_KEYS if name in values]
    if len(sources) > 1:
        keys = " and ".join(f"`{found.key}`" for found in sources)
        raise ConfigError(
            f"{keys} name the token twice.",
            key=sources[0].key,
            source=sources[0].source,
            fix="Keep one of them.",
        )


def _check_not_mixed(levels: tuple[Level, ...]) -> None:
    flat = next((found for level in levels for found in level.flat.values()), None)
    named = next((level.named_at for level in levels if level.named_at), None)
    if flat and named:
        raise ConfigError(
            f"`{flat.key}` (from {flat.source}) can't be mixed with `{named.key}` (from {named.source}).",
            key=flat.key,
            fix=f"Move {flat.key} into one of the named destinations.",
        )


def _merge(into: Values, values: Values) -> None:
    has_token = not into.keys().isdisjoint(TOKEN_KEYS)
    for name, found in values.items():
        if not (has_token and name in TOKEN_KEYS):
            into.setdefault(name, found)
