"""What OpenLineage's own client reads: the file it takes, and what its loader of variables does to a token.

``OpenLineageClient._load_config_from_env_variables`` (openlineage-python 1.54) lower-cases the key and parses the value
as JSON, so that a token such as ``9e12``, ``true``, ``null`` or ``"x"`` reaches a transport as something else. The
variable still holds the text: it is the one whose name leads to the key and whose parsed value is what arrived.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from truewatch_lineage.config.keys import fold
from truewatch_lineage.errors import TokenError

_FILE: Final = "openlineage.yml"
_PREFIX: Final = "OPENLINEAGE__TRANSPORT__"
_CHILDREN: Final = "transports"
_CHILD_OF_URL: Final = "default_http"
_TOKEN_SPELLINGS: Final = frozenset({"token", "apikey"})


@dataclass(frozen=True, slots=True)
class _Variable:
    """A variable that sets a token: its name, the folded keys it leads to, its text, and what upstream makes of it."""

    name: str
    path: tuple[str, ...]
    text: str = field(repr=False)
    parsed: Any = field(repr=False)

    def leads_to(self, path: tuple[str, ...]) -> bool:
        return self.path == path or (self.path[0] == "transports" and self.path[-len(path) :] == path)


def restore_tokens(params: Mapping[str, Any], environ: Mapping[str, str]) -> Mapping[str, Any]:
    """Return the transport's settings with every token as its variable spells it, byte for byte.

    Args:
        params: What the transport was given; not changed.
        environ: The environment.

    Raises:
        TokenError: Two variables lead to the same value by different texts, so which one is meant can't be told.
    """
    variables = tuple(_variables(environ))
    return _restore(params, (), variables) if variables else params


def without_url(params: Mapping[str, Any], environ: Mapping[str, str], notices: list[str]) -> Mapping[str, Any]:
    """Leave out the child that OpenLineage's client makes of ``OPENLINEAGE_URL``, whatever the transport's type.

    As ``OpenLineageClient._alias_env_vars`` (openlineage-python 1.54) puts it among a composite's transports, and so
    into the settings of a transport that is none.

    Args:
        params: What the transport was given; not changed.
        environ: The environment.
        notices: Where a sentence is added if it is left out.
    """
    children = params.get(_CHILDREN)
    if not environ.get("OPENLINEAGE_URL") or not isinstance(children, Mapping) or set(children) != {_CHILD_OF_URL}:
        return params
    notices.append("OPENLINEAGE_URL has no effect on this transport. Unset it, or name both in a composite transport.")
    return {name: value for name, value in params.items() if name != _CHILDREN}


def upstream_file(environ: Mapping[str, str]) -> Path | None:
    """Return the file that OpenLineage's client would read here, or None.

    As ``OpenLineageClient._find_yaml_config_path`` (openlineage-python 1.54) looks for it.
    """
    named = environ.get("OPENLINEAGE_CONFIG")
    places = ([Path(named)] if named else []) + [Path(_FILE).absolute(), _home() / ".openlineage" / _FILE]
    return next((path for path in places if os.path.isfile(path) and os.access(path, os.R_OK)), None)  # noqa: PTH113 - never raises


def _home() -> Path:
    return Path(os.path.expanduser("~"))  # noqa: PTH111 - never raises where there is none


def _variables(environ: Mapping[str, str]) -> Iterator[_Variable]:
    for name, text in environ.items():
        path = tuple(fold(part) for part in name.removeprefix(_PREFIX).split("__"))
        if name.startswith(_PREFIX) and path[-1] in _TOKEN_SPELLINGS:
            yield _Variable(name, path, text, _parse(text))


def _parse(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _restore(tree: Mapping[str, Any], path: tuple[str, ...], variables: Iterable[_Variable]) -> dict[str, Any]:
    return {key: _value(value, (*path, fold(str(key))), variables) for key, value in tree.items()}


def _value(value: Any, path: tuple[str, ...], variables: Iterable[_Variable]) -> Any:
    if path[-1] in _TOKEN_SPELLINGS:
        return _text(value, path, variables)
    return _restore(value, path, variables) if isinstance(value, Mapping) else value


def _text(value: Any, path: tuple[str, ...], variables: Iterable[_Variable]) -> Any:
    matching = [known for known in variables if known.leads_to(path) and _same(known.parsed, value)]
    texts = {known.text for known in matching}
    if len(texts) > 1:
        names = " and ".join(sorted(known.name for known in matching))
        raise TokenError(
            f"{names} look the same once OpenLineage's client has parsed them as JSON.",
            key=".".join(path),
            fix="Name each token's variable in token_env instead.",
        )
    return texts.pop() if texts else value


def _same(one: Any, other: Any) -> bool:
    """Compare as JSON values: true is not 1, 1 is not 1.0, and NaN is NaN."""
    return type(one) is type(other) and json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
