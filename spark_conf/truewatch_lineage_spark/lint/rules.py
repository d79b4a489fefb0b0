"""All traps, held against what was read."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from truewatch_lineage_spark.lint.formats import variables
from truewatch_lineage_spark.lint.model import Document, Finding, Scope, Setting
from truewatch_lineage_spark.lint.traps import auth, environment, leaks, spark, transport, urls, values

Trap = Callable[[Scope], Iterable[Finding]]

TRAPS: Final[tuple[Trap, ...]] = (
    values.keys_and_types,
    values.prefixes,
    values.spoilt,
    values.duplicates,
    values.too_long,
    transport.types,
    urls.urls,
    transport.several,
    transport.kafka,
    transport.breakers,
    auth.providers,
    auth.headers,
    leaks.literals,
    leaks.pages,
    leaks.narrowed,
    leaks.captured,
    environment.names,
    environment.values,
    environment.precedence,
    environment.composites,
    spark.listener,
    spark.disabled,
    spark.jars,
    spark.glue,
)

_CARRIER: Final = re.compile(
    r"spark\.(?:kubernetes\.driverEnv|kubernetes\.driver\.(?P<ref>secretKeyRef)|yarn\.appMasterEnv|executorEnv"
    r"|emr-serverless\.driverEnv)\.(?P<name>\w*LINEAGE\w+)",
    re.IGNORECASE,
)
"""Properties that set a variable of the driver."""


def check(documents: Sequence[Document], *, scala: str | None = None) -> list[Finding]:
    """Return what is wrong, in the order of files and lines.

    Args:
        documents: The files that Spark gets together.
        scala: The Scala version that Spark is built for, if the user says it.
    """
    everything = [_brought(document) for document in documents]
    found: list[Finding] = []
    for number, document in enumerate(documents):
        elsewhere = frozenset[str]().union(*(all_ for at, all_ in enumerate(everything) if at != number))
        found += document.findings
        for scope in document.scopes:
            prepared = _prepared(scope, elsewhere, scala)
            found += [finding for trap in TRAPS for finding in trap(prepared)]
    order = {document.file: number for number, document in enumerate(documents)}
    unique = dict.fromkeys(_once(found))
    return sorted(unique, key=lambda one: (order.get(one.file, len(order)), one.line, one.severity, one.rule))


def _brought(document: Document) -> frozenset[str]:
    """Return what other files may rely on: the layers with settings of the listener, and the properties."""
    every = [one for scope in document.scopes for one in (*scope.settings, *_carried(scope.settings))]
    return frozenset({one.layer for one in every if one.rest} | {one.key for one in every if one.layer == "conf"})


def _prepared(scope: Scope, elsewhere: frozenset[str], scala: str | None) -> Scope:
    settings = (*scope.settings, *_carried(scope.settings))
    said = (scala, "the Spark that --scala names") if scala else scope.scala
    return replace(scope, settings=settings, elsewhere=elsewhere, scala=said)


def _carried(settings: Iterable[Setting]) -> Iterator[Setting]:
    """Yield the variables that properties set for the driver."""
    for one in settings:
        match = _CARRIER.fullmatch(one.key) if one.layer == "conf" else None
        if match:
            known = one.known and not match["ref"]
            for made in variables.settings(match["name"], one.value, one.file, one.line, known=known):
                yield replace(made, shown=one.shown)


def _once(findings: Sequence[Finding]) -> Iterator[Finding]:
    """Leave out tokens found by their looks on lines where one was found by its key."""
    keyed = {(one.file, one.line) for one in findings if one.rule.startswith("token.") and one.key}
    return (one for one in findings if one.rule != "token.literal" or one.key or (one.file, one.line) not in keyed)
