"""Keys that nobody reads, and values that do not arrive as they were meant."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from truewatch_lineage_spark.lint import keys
from truewatch_lineage_spark.lint.catalog import found
from truewatch_lineage_spark.lint.model import OPENLINEAGE, Finding, Scope, Setting, Transport, spelt, transport_prefix

_BOOLS: Final = frozenset({"true", "True", "TRUE", "false", "False", "FALSE"})
_INT: Final = re.compile(r"\s*[+-]?[0-9]+\s*")
_EXPANSION: Final = re.compile(r"\$\{[^}]*\}")
_COMMENT: Final = re.compile(r"\s(?:#|//)(?:\s|$)")
_LISTS: Final = ("spark.extraListeners", "spark.jars.packages", "spark.jars", "spark.redaction.regex")
_EMR_LIMIT: Final = 1024


def keys_and_types(scope: Scope) -> Iterator[Finding]:
    """Yield keys that the listener does not have, and values of the wrong type."""
    kinds = {(one.layer, one.prefix): one for one in scope.transports}
    for one in scope.lineage:
        prefix = transport_prefix(one.key)
        transport = kinds.get((one.layer, prefix))
        at = prefix.removeprefix(OPENLINEAGE)
        kind = transport.kind if transport else ""
        leaf = one.rest.removeprefix(at)
        if transport is not None and _told_elsewhere(transport, leaf):
            continue
        known = keys.lookup(one.rest, kind, at)
        if known is not None and _dotted_in_child(one, transport, leaf):
            message = "Inside a composite a dot splits the name, and the listener sends nothing."
            yield found("transport.child-key", one, message, "Take it out; only a single transport takes such names.")
        elif known is None and not (one.layer == "env" and keys.is_branch(one.rest, at)):
            yield _unknown(one, kind, at, child=bool(transport and not transport.top))
        elif known is not None and one.known:
            yield from _typed(one, known.type)


def prefixes(scope: Scope) -> Iterator[Finding]:
    """Yield properties whose ``openlineage`` is misspelt."""
    for one in scope.conf.values():
        spark, _, rest = one.key.partition(".")
        if spark == "spark" and keys.is_near(rest.partition(".")[0], "openlineage"):
            message = f"The listener reads properties that begin with {OPENLINEAGE} only."
            yield found("key.misspelt", one, message, f"Begin it with {OPENLINEAGE}")


def _told_elsewhere(transport: Transport, leaf: str) -> bool:
    """Tell whether a key has a trap of its own, or belongs to somebody's own transport or token provider."""
    own_transport = bool(transport.kind) and transport.kind not in keys.TRANSPORTS
    own_provider = leaf.startswith("auth.") and "." in (transport.known("auth.type") or "")
    return own_transport or own_provider or (transport.top and bool(keys.KEY_ALIAS.fullmatch(leaf)))


def _dotted_in_child(one: Setting, transport: Transport | None, leaf: str) -> bool:
    """Tell whether a header or parameter inside a composite holds a dot, which splits it there."""
    if transport is None or transport.top or one.layer != "conf":
        return False
    return leaf.startswith(("headers.", "urlParams.", "properties.")) and leaf.count(".") > 1


def _unknown(one: Setting, kind: str, at: str, *, child: bool) -> Finding:
    meant = keys.instead(one.rest, kind, at)
    fix = "Take it out."
    if meant:
        fix = f"Write {spelt(meant, one)}." if re.fullmatch(r"[A-Za-z0-9_.\-]+", meant) else f"Instead: {meant}."
    if child:
        message = "Inside a composite a key that the listener does not know makes it send nothing at all."
        return found("transport.child-key", one, message, fix)
    message = f"The listener {keys.LISTENER_VERSION} has no such key and ignores it."
    return found("key.misspelt" if meant else "key.unknown", one, message, fix)


def _typed(one: Setting, wanted: keys.Type) -> Iterator[Finding]:
    value = one.value.strip()
    listed = value.startswith("[") and value.endswith("]")
    if not value or _EXPANSION.search(value) or _quotes(value) or one.changed:
        return
    if one.rest.startswith("facets.") and wanted == "bool" and value.lower() not in ("true", "false"):
        yield found(
            "value.type", one, "The listener takes only true or false here, and ignores the rest.", "Write true."
        )
    elif wanted == "bool" and value not in _BOOLS:
        yield found(
            "value.type", one, "This is not true or false, so the listener sends nothing.", "Write true or false."
        )
    elif wanted == "int" and not _INT.fullmatch(value):
        yield found("value.type", one, "This is no whole number, so the listener sends nothing.", "Write digits alone.")
    elif wanted == "text" and listed:
        message = "A value of the form [...] is read as a list where a text belongs: the listener sends nothing."
        yield found("value.list", one, message, "Write it without the brackets.")
    elif wanted == "list" and not listed:
        message = "A list is wanted, and without brackets this is none: the listener sends nothing."
        yield found("value.not-list", one, message, "Write [a;b].")


def spoilt(scope: Scope) -> Iterator[Finding]:
    """Yield values with something in them that nobody takes out or fills in."""
    for one in scope.lineage:
        if not one.known:
            continue
        if _EXPANSION.search(one.value):
            message = "Nothing is filled in for ${...} here: the listener gets these characters."
            fix = "Write the value itself, or set the variable OPENLINEAGE__... of the driver."
            yield found("value.not-expanded", one, message, fix)
        if one.layer == "conf" and _COMMENT.search(one.value):
            message = "Text behind a value is part of it, also behind a #."
            yield found("value.comment", one, message, "Put the comment on a line of its own.")
        if one.layer == "conf" and _quotes(one.value):
            yield found("value.quotes", one, "The quotes are part of the value here.", "Take them away.")


def duplicates(scope: Scope) -> Iterator[Finding]:
    """Yield properties that a later line of the same file sets to something else."""
    last = scope.conf
    for one in scope.settings:
        winner = last.get(one.key)
        if (
            one.layer != "conf"
            or winner is None
            or winner is one
            or winner.file != one.file
            or winner.value == one.value
        ):
            continue
        if not one.key.startswith("spark."):
            continue
        additive = one.key in _LISTS
        message = f"Line {winner.line} sets it again, and only the last one counts."
        fix = "Put all of them into one line, between commas." if additive else "Leave one of them out."
        yield found("key.not-additive" if additive else "key.duplicate", one, message, fix)


def too_long(scope: Scope) -> Iterator[Finding]:
    """Yield what EMR refuses."""
    for one in scope.conf.values() if scope.platform == "emr" else ():
        if len(one.key) + len(one.value) > _EMR_LIMIT:
            message = f"EMR takes {_EMR_LIMIT:,} characters at most for a key and its value together."
            yield found("value.too-long", one, message, "Shorten it, or give it to spark-submit.")


def _quotes(value: str) -> bool:
    return len(value) > 1 and value[0] in "\"'" and value[-1] == value[0]
