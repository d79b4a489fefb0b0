"""How the token is sent: the provider's type, the key's spelling, headers beside it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from truewatch_lineage_spark.lint import keys
from truewatch_lineage_spark.lint.catalog import found
from truewatch_lineage_spark.lint.model import OPENLINEAGE, Finding, Scope, Setting, Transport, spelt

_PROVIDERS: Final = frozenset({"api_key", "jwt"})
_TOKEN_PARAMETER: Final = "urlparams.token"  # noqa: S105 - a key


def providers(scope: Scope) -> Iterator[Finding]:
    """Yield what is wrong with a transport's ``auth``."""
    for one in scope.transports:
        own = [setting for leaf, setting in one.settings.items() if leaf.startswith("auth.")]
        kind = one.settings.get("auth.type")
        if own and kind is None and not scope.brought(f"{one.prefix}auth.type", one.layer):
            fix = f"Add {_name(one, 'auth.type')} with api_key, there too."
            message = "An auth without its type makes the listener send nothing, whatever other places say."
            yield found("auth.no-type", own[0], message, fix)
        elif kind is not None and kind.known and kind.value not in _PROVIDERS and "." not in kind.value:
            message = "The listener has no such kind of auth, and sends nothing."
            yield found("auth.type", kind, message, "Write api_key, in lower case and with the underscore.")
        elsewhere = scope.platform == "glue" or scope.brought(f"{one.prefix}auth.apiKey", one.layer)
        yield from _keys(one, elsewhere=elsewhere)


def _keys(one: Transport, *, elsewhere: bool) -> Iterator[Finding]:
    """Yield what is wrong with the key, which other files may bring; on Glue, the job's own code does."""
    right = one.settings.get("auth.apiKey")
    wrong = [setting for leaf, setting in one.settings.items() if keys.KEY_ALIAS.fullmatch(leaf)]
    if right is not None and right.known and not right.value.strip():
        message = "A blank key is dropped, and `Bearer null` is sent in its place."
        yield found("auth.no-key", right, message, "Take it out here, and bring the token by the driver's environment.")
    if right is not None:
        return
    for setting in wrong if one.top else ():  # inside a composite it is an unknown key
        yield _misspelt(one, setting)
    kind = one.settings.get("auth.type")
    if (
        not wrong
        and kind is not None
        and kind.known
        and kind.value == "api_key"
        and one.layer != "env"
        and not elsewhere
    ):
        message = (
            "The type without a key in the same place sends `Bearer null`, even where the environment has the token."
        )
        fix = f"Take it out here, and set {_variable(one, 'AUTH__TYPE')} beside {_variable(one, 'AUTH__API_KEY')}."
        yield found("auth.no-key", kind, message, fix)


def _misspelt(one: Transport, setting: Setting) -> Finding:
    if setting.layer == "env" and setting.name.upper().endswith("__APIKEY"):
        message = "This is the spelling of OpenLineage's Python client; Spark's listener sends `Bearer null` with it."
        return found("environment.python-spelling", setting, message, f"Write {_variable(one, 'AUTH__API_KEY')}.")
    message = "The listener does not know this spelling, and sends `Bearer null`."
    right = "apiKey" if "{" in setting.name or not _single(setting) else _name(one, "auth.apiKey")
    return found("auth.key-spelling", setting, message, f"Write {right}.")


def _single(setting: Setting) -> bool:
    """Tell whether a variable is one setting, not JSON with several."""
    return setting.layer != "env" or setting.name.count("__") == setting.rest.count(".") + 1


def headers(scope: Scope) -> Iterator[Finding]:
    """Yield tokens that are sent in two ways at once."""
    prefixes = {one.prefix: one for one in scope.transports}
    for prefix, one in prefixes.items():
        own = [setting for setting in scope.lineage if setting.key.startswith(prefix)]
        by_leaf = {setting.key.removeprefix(prefix).lower(): setting for setting in own}
        auth = [leaf for leaf in by_leaf if leaf.startswith("auth.")]
        if auth and (header := by_leaf.get("headers.authorization")):
            message = "Beside auth this sends a second Authorization header."
            yield found("auth.two-headers", header, message, f"Take it out, and keep {_name(one, 'auth')}.")
        others = [by_leaf[leaf] for leaf in ("headers.x-token", "headers.xtoken", _TOKEN_PARAMETER) if leaf in by_leaf]
        for setting in others[0 if auth else 1 :]:
            message = "The token is sent in two ways; DataWay takes the query token, then X-Token, then Bearer."
            yield found("auth.two-tokens", setting, message, "Keep one of them.")


def _name(one: Transport, leaf: str) -> str:
    return spelt(f"{one.prefix}{leaf}".removeprefix(OPENLINEAGE), one.first)


def _variable(one: Transport, leaf: str) -> str:
    steps = one.prefix.removeprefix(OPENLINEAGE).strip(".").split(".")
    return "__".join(["OPENLINEAGE", *(step.upper() for step in steps), leaf])
