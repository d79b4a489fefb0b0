"""Where a token shows: in the file itself, on Spark's pages, in logs, in the process list, in events."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from truewatch_lineage_spark import redaction
from truewatch_lineage_spark.lint import keys
from truewatch_lineage_spark.lint.catalog import found
from truewatch_lineage_spark.lint.model import OPENLINEAGE, Finding, Scope, Setting
from truewatch_lineage_spark.lint.traps import urls

LITERAL: Final = re.compile(r"\btkn_[0-9A-Za-z]{16,}|\bBearer +[A-Za-z0-9._~+/=-]{16,}")
"""A TrueWatch token, or any other in its header's form."""

_NAMED: Final = re.compile(r"(?:.*_)?(?:API_?KEY|TOKEN|PASSWORD|SECRET)", re.IGNORECASE)
_QUERY: Final = re.compile(r"(?:^|[&;])[^=&;]*(?:token|key|secret|passw)[^=&;]*=", re.IGNORECASE)
_SAMPLES: Final = ("my.secret", "my.password", "my.token", "my.accesskey", "my.access.key")
"""Keys that Spark's own expression masks."""

BY_ENVIRONMENT: Final = "Bring it by the driver's environment, out of your platform's secrets: `spark conf` writes how."


def literals(scope: Scope) -> Iterator[Finding]:
    """Yield tokens that stand in the file."""
    for layer in scope.layers.values():
        for one in layer.values():
            if not one.known or not one.value.strip() or not (is_secret(one) or LITERAL.search(one.value)):
                continue
            private = scope.private and one.layer != "conf"
            message = "A token stands here. Whoever reads the file has it, and so has every copy of it."
            if private:
                message = "A token stands here. Only the file's owner can read it; keep it so, and out of every copy."
            elif one.shown:
                message = "A token stands here: in the file, in the shell's history and in the process list."
            yield found("token.literal-private" if private else "token.literal", one, message, BY_ENVIRONMENT)


def is_secret(one: Setting) -> bool:
    """Tell whether a setting holds a credential, by its key, or in its url."""
    if one.rest:
        return keys.is_secret(one.rest) or (one.rest.endswith(".url") and _has_credential(one.value))
    return one.layer == "env" and "LINEAGE" in one.key.upper() and bool(_NAMED.fullmatch(one.key))


def _has_credential(url: str) -> bool:
    parts = urls.split(url)
    return "@" in url if parts is None else "@" in parts.netloc or bool(_QUERY.search(parts.query))


def pages(scope: Scope) -> Iterator[Finding]:
    """Yield tokens among Spark's properties that Spark does not mask everywhere."""
    expression = _expression(scope)
    slow = scope.conf.get(redaction.SLOW_EVENTS)
    for one in scope.conf.values():
        if not one.rest or not is_secret(one):
            continue
        if expression is not None and not expression.search(one.key) and not expression.search(one.value):
            message = "Spark's pages, REST API, event log and verbose output show this property as it is."
            fix = f"Set {redaction.KEY} to {redaction.widened(None)}, or leave the token out of the properties."
            yield found("leak.redaction", one, message, fix)
        if slow is None or (slow.known and slow.value.lower() != "false"):
            message = "When an event takes the listener over a second, the driver's log gets this property as it is."
            yield found("leak.slow-event", one, message, f"Set {redaction.SLOW_EVENTS} to false.")
        if one.shown and not one.known:
            message = "The shell puts the token into the command line, and the process list shows it."
            yield found("leak.process-list", one, message, BY_ENVIRONMENT)


def narrowed(scope: Scope) -> Iterator[Finding]:
    """Yield an expression of what to mask that masks less than Spark's own."""
    setting = scope.conf.get(redaction.KEY)
    expression = _expression(scope)
    if setting is None or expression is None or all(expression.search(key) for key in _SAMPLES):
        return
    message = "It replaces Spark's own expression and masks less: passwords, secrets or tokens show."
    fix = f"Write {redaction.widened(None)}, with yours behind another |."
    yield found("leak.redaction-narrowed", setting, message, fix)


def _expression(scope: Scope) -> re.Pattern[str] | None:
    """Return what Spark masks; None where that can't be told."""
    setting = scope.conf.get(redaction.KEY)
    if setting is None:
        return re.compile(redaction.SPARKS_OWN)
    try:
        return re.compile(setting.value) if setting.known else None
    except re.error:  # an expression of Java's own
        return None


def captured(scope: Scope) -> Iterator[Finding]:
    """Yield a list of properties for every event that names a token's."""
    one = scope.conf.get(f"{OPENLINEAGE}capturedProperties")
    names = [name.strip() for name in one.value.split(",")] if one is not None and one.known else []
    if one is not None and any(name.startswith(OPENLINEAGE) and keys.is_secret(name) for name in names):
        yield found("leak.captured", one, "It copies a token into every event.", "Take the token's property out of it.")
