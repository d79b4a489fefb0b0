"""All the ways a key may be written, and what becomes of other clients' keys.

A key may be snake_case, camelCase, hyphenated or run together in lower case, as OpenLineage's loader of variables
leaves it. Names are those of OpenLineage's Python client 1.54 (``HttpConfig``, ``AsyncHttpConfig``) and of its Java
client (``HttpConfig.java``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from truewatch_lineage.config import coerce
from truewatch_lineage.config.found import Found
from truewatch_lineage.config.keys import BY_SPELLING, TOKEN_KEYS, Scope, fold
from truewatch_lineage.errors import ConfigError

DESTINATIONS: Final = "destinations"
"""The key that holds named destinations."""

_IGNORED: Final = frozenset({"type", "priority"})
"""What OpenLineage's factory reads: our class's name, and the order among transports."""

_MEANT: Final = {"type": "destination", "kind": "destination", "name": DESTINATIONS, "transports": DESTINATIONS}
"""Words that resemble no key, and the key they most likely stand for."""

_OPTIONS: Final = {
    fold(name): f"--{name.replace('_', '-')}"
    for name in ("host", "no_token", "tls_cert", "tls_key", "kafka_bootstrap", "topic", "group", "dead_letter_topic")
}
"""Options of the gateway that are no settings, by their folded spelling."""

_SSL_CONTEXT: Final = {"cacertpath": "ca_file", "clientcertpath": "client_cert", "clientkeypath": "client_key"}
_NO_EFFECT: Final = {
    "retry": "retries are built in",
    "retries": "retries are built in",
    "maxretries": "retries are built in",
    "maxqueuesize": "events wait on disk, as many as spool_max_bytes allows",
}

Named = tuple[str, Found]


def resolve(found: Found, spelling: str, scopes: Iterable[Scope], notices: list[str]) -> Iterator[Named]:
    """Give each setting that one written key stands for, by its own name; a value of None counts as not written.

    Args:
        found: What was written.
        spelling: The key alone, without the names around it.
        scopes: Where it stands: at the top both kinds of settings are allowed, in a named destination only its own.
        notices: Where a sentence about a key without effect is added.

    Raises:
        ConfigError: There is no such key; the message names the nearest.
    """
    folded = fold(spelling)
    key = BY_SPELLING.get(folded)
    if key is not None and key.scope in scopes:
        if key.name == "destination" and isinstance(found.value, Mapping):
            raise found.error(
                "is one word, the kind; named destinations are in `destinations`", "Write [destinations.NAME]."
            )
        yield from () if found.value is None else ((key.name, found),)
    elif folded in _FOREIGN:
        yield from () if found.value is None else _FOREIGN[folded](found, notices)
    elif key is not None:
        raise found.error("is a setting of the whole", f"Write it outside of {DESTINATIONS}.")
    elif not (folded in _IGNORED and "settings" in scopes):
        raise unknown(found, suggestion(spelling, scopes))


def is_known(spelling: str) -> bool:
    """Tell whether a top-level key is one that :func:`resolve` takes, or holds the named destinations."""
    folded = fold(spelling)
    return folded in BY_SPELLING or folded in _FOREIGN or folded in _IGNORED or folded == DESTINATIONS


def names_token(spelling: str) -> bool:
    """Tell whether a key names a token's source."""
    key = BY_SPELLING.get(fold(spelling))
    return key is not None and key.name in TOKEN_KEYS


def suggestion(
    spelling: str, scopes: Iterable[Scope] = ("settings", "destination"), spell: Callable[[str], str] = str
) -> str:
    """Return a sentence that names the key nearest to ``spelling``.

    Args:
        spelling: What was written.
        scopes: Which keys it may have meant.
        spell: Writes a key's name as it belongs where ``spelling`` stands, such as a variable's.
    """
    if option := _OPTIONS.get(fold(spelling)):
        return f"It is no setting, but an option of `truewatch-lineage gateway`: {option}."
    if meant := _MEANT.get(fold(spelling)):
        return f"Did you mean {spell(meant)}?"
    candidates = {folded: spell(key.name) for folded, key in BY_SPELLING.items() if key.scope in scopes}
    if "settings" in scopes:
        candidates[DESTINATIONS] = spell(DESTINATIONS)
    return nearest(spelling, candidates)


def nearest(spelling: str, candidates: Mapping[str, str]) -> str:
    """Return a sentence that names the candidate nearest to ``spelling``, or all where none is near.

    Args:
        spelling: What was written.
        candidates: Names by their folded spelling.
    """
    from difflib import get_close_matches  # noqa: PLC0415 - only for a message

    near = get_close_matches(fold(spelling), candidates, n=1, cutoff=0.5)
    if near:
        return f"Did you mean {candidates[near[0]]}?"
    return f"Known are: {', '.join(dict.fromkeys(candidates.values()))}."


def unknown(found: Found, hint: str) -> ConfigError:
    """Make the error for a key that is none."""
    return ConfigError(f"Unknown setting `{found.key}`.", key=found.key, source=found.source, fix=hint)


def _milliseconds(found: Found, _: list[str]) -> Iterator[Named]:
    yield "timeout", Found(coerce.number(found, {"": 0.001}, minimum=0), found.key, found.source)


def _verify(found: Found, notices: list[str]) -> Iterator[Named]:
    if not coerce.flag(found):
        raise found.error(
            "can't be false: certificates are always checked", "Name your own authority's file in ca_file."
        )
    notices.append(_no_effect(found, "certificates are always checked"))
    yield from ()


def _without_effect(found: Found, notices: list[str]) -> Iterator[Named]:
    notices.append(_no_effect(found, _NO_EFFECT[fold(found.key.rpartition(".")[2])]))
    yield from ()


def _url_params(found: Found, notices: list[str]) -> Iterator[Named]:
    params = coerce.tree(found)
    if isinstance(params, Mapping) and any(names_token(str(name)) for name in params):
        raise found.error(
            "holds a token", "Give it as token, token_file, token_env or token_command: it goes into a header."
        )
    if params:
        raise found.error("can't be used: no destination takes a query", "Leave it out.")
    notices.append(_no_effect(found, "it is empty"))
    yield from ()


def _ssl_context(found: Found, _: list[str]) -> Iterator[Named]:
    parts = coerce.tree(found)
    if not isinstance(parts, Mapping):
        raise found.error("must be a mapping")
    for name, value in parts.items():
        part = found.inner(str(name), value)
        if fold(str(name)) not in _SSL_CONTEXT:
            raise unknown(part, nearest(str(name), {fold(known): known for known in _SSL_NAMES}))
        yield _SSL_CONTEXT[fold(str(name))], part


def _no_effect(found: Found, reason: str) -> str:
    return f"`{found.key}` (from {found.source}) has no effect: {reason}."


_SSL_NAMES: Final = ("caCertPath", "clientCertPath", "clientKeyPath")
_FOREIGN: Final[dict[str, Callable[[Found, list[str]], Iterator[Named]]]] = {
    "timeoutinmillis": _milliseconds,
    "timeoutms": _milliseconds,
    "verify": _verify,
    "urlparams": _url_params,
    "sslcontext": _ssl_context,
    **dict.fromkeys(_NO_EFFECT, _without_effect),
}


def expect_mapping(found: Found, value: Any) -> Mapping[Any, Any]:
    """Return ``value`` if it is a mapping.

    Raises:
        ConfigError: It is something else.
    """
    if isinstance(value, Mapping):
        return value
    raise found.error("must be a mapping, or its JSON text")
