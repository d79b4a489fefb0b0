"""What a destination would say about an event, fault by fault, each with the rule it comes from.

An error is a fault by a rule of the destination's own page or, where that names the specification, by what
the specification requires. What real events break without harm (URIs, UUIDs, offsets where the page does not
ask, facets without ``_producer``) and what is mended on the way is a warning.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal
from urllib.parse import urlsplit

from truewatch_lineage import protocol
from truewatch_lineage.errors import EventError
from truewatch_lineage.events.facets import are_objects, holders
from truewatch_lineage.events.model import identify, kind_of
from truewatch_lineage.events.paths import join
from truewatch_lineage.events.rulebook import (
    PORTAL_RUNS,
    PORTAL_SCHEMA,
    RULES,
    SPEC,
    TRUEWATCH_ONE,
    TRUEWATCH_RUN,
    TRUEWATCH_SIZE,
    Rules,
    Severity,
)
from truewatch_lineage.events.serialise import dumps
from truewatch_lineage.events.timestamps import timestamp_form
from truewatch_lineage.events.trim import trim
from truewatch_lineage.words import counted

_UUID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Finding:
    """One fault of an event.

    Attributes:
        severity: ``error`` where a rule of the destination is broken, else ``warning``.
        path: Where, as a JSON path.
        message: What is wrong, in one sentence; no value of the event is quoted.
        rule: The sentence of the destination's page, or the specification.
    """

    severity: Severity
    path: str
    message: str
    rule: str


def validate(tree: object, kind: str, oversize: Literal["trim", "reject"] = "trim") -> list[Finding]:
    """Check an event against the rules of a kind of destination, as it is before it is mended or trimmed.

    Args:
        tree: A plain JSON value, such as :func:`~truewatch_lineage.events.serialise.to_tree` returns.
        kind: ``dataway``, ``datakit``, ``portal`` or ``openlineage``.
        oversize: What happens to an event above the limit.

    Returns:
        The faults, in the event's order; an empty list means none.

    Raises:
        KeyError: There is no such kind.
    """
    rules = replace(RULES[kind], trims=oversize == "trim")
    if not isinstance(tree, dict):
        return [Finding("error", "$", "Not a JSON object: one event a request.", TRUEWATCH_ONE)]
    event_kind = kind_of(tree)
    if rules.run_events_only and event_kind in {"JobEvent", "DatasetEvent"}:
        return [Finding("warning", "$", f"Skipped: a {event_kind} is not sent there.", PORTAL_RUNS)]
    checks = (_event_type, _base, _names, _datasets, _facets, _size)
    return [finding for check in checks for finding in check(tree, rules)]


def refusals(tree: dict[str, Any], kind: str) -> list[Finding]:
    """Return only the errors of `validate`, for an event that was mended; its size is not looked at.

    A third of the time of `validate`, which looks into every facet for warnings.

    Args:
        tree: As :func:`~truewatch_lineage.events.serialise.normalise` returns it.
        kind: As of `validate`.

    Raises:
        KeyError: There is no such kind.
    """
    rules = RULES[kind]
    if rules.run_events_only and kind_of(tree) in {"JobEvent", "DatasetEvent"}:
        return []
    checks = (_event_type, _base, _names, _datasets, *(() if are_objects(tree) else (_holders,)))
    return [finding for check in checks for finding in check(tree, rules) if finding.severity == "error"]


def validate_many(trees: Iterable[object]) -> list[Finding]:
    """Find runs that have two job identities.

    Args:
        trees: Events in their order; what is no JSON object is passed over.

    Returns:
        A warning for each event whose job differs from that of its run's first event; its path is
        ``$[index].job``.
    """
    jobs: dict[str, str] = {}
    findings = []
    for index, tree in enumerate(trees):
        identity = identify(tree if isinstance(tree, dict) else {})
        if identity.kind == "RunEvent" and identity.run_id is not None and identity.job is not None:
            first = jobs.setdefault(identity.run_id, identity.job)
            if first != identity.job:
                message = f"The run {identity.run_id} has the job {identity.job} here, {first} before."
                findings.append(Finding("warning", f"$[{index}].job", message, TRUEWATCH_RUN))
    return findings


def _event_type(tree: dict[str, Any], rules: Rules) -> Iterator[Finding]:
    if kind_of(tree) not in {"RunEvent", None}:
        return
    path, value = "$.eventType", tree.get("eventType")
    if value is None:
        severity: Severity = "error" if rules.run_events_only else "warning"
        yield Finding(severity, path, "Missing: the run's state stays unknown.", rules.names)
    elif not isinstance(value, str):
        yield Finding("error", path, "Not text.", rules.types)
    elif value.upper() not in protocol.EVENT_TYPES:
        # Only Portal's page names the values: elsewhere such an event is taken.
        severity = "error" if rules.run_events_only else "warning"
        yield Finding(severity, path, f"Not one of {', '.join(protocol.EVENT_TYPES)}.", rules.types)
    elif value != value.upper():
        yield Finding("warning", path, "In another case; it is sent in upper case.", rules.types)


def _base(tree: dict[str, Any], rules: Rules) -> Iterator[Finding]:
    yield from _event_time(tree, rules)
    yield from _text(tree, "producer", "$", rules.base)
    yield from _uri(tree, "producer", "$", rules.base)
    yield from _schema_url(tree, rules)


def _schema_url(tree: dict[str, Any], rules: Rules) -> Iterator[Finding]:
    if tree.get("schemaURL") is None:
        yield Finding("warning", "$.schemaURL", "Missing; it is filled in on the way.", rules.base)
    elif not rules.run_events_only:
        yield from _text(tree, "schemaURL", "$", rules.base)
        yield from _uri(tree, "schemaURL", "$", rules.base)
    elif tree["schemaURL"] != protocol.PORTAL_SCHEMA_URL:
        yield Finding("warning", "$.schemaURL", "Another one; it is replaced on the way.", PORTAL_SCHEMA)


def _event_time(tree: dict[str, Any], rules: Rules) -> Iterator[Finding]:
    yield from _text(tree, "eventTime", "$", rules.base)
    value = tree.get("eventTime")
    if not isinstance(value, str):
        return
    form = timestamp_form(value)
    if form is None:
        yield Finding("error", "$.eventTime", "Not an ISO 8601 timestamp.", rules.time)
    elif form == "local":
        severity: Severity = "error" if rules.run_events_only else "warning"
        rule = rules.time if rules.run_events_only else f"{SPEC}: format date-time"
        yield Finding(severity, "$.eventTime", "Without timezone offset.", rule)


def _names(tree: dict[str, Any], rules: Rules) -> Iterator[Finding]:
    """Check that the event's kind can be told, and what that kind must have."""
    kind = kind_of(tree)
    if kind is None:
        message = "Its type can't be told: it needs run and job, or job, or dataset, each as an object."
        yield Finding("error", "$", message, rules.kinds)
    if isinstance(tree.get("run"), Mapping):
        yield from _text(tree["run"], "runId", "$.run", rules.names)
        yield from _uuid(tree["run"])
    owners = ("dataset",) if kind == "DatasetEvent" else ("job",)
    for owner in owners:
        if isinstance(tree.get(owner), Mapping):
            for key in ("namespace", "name"):
                yield from _text(tree[owner], key, join("$", owner), rules.names)


def _uuid(run: Mapping[str, Any]) -> Iterator[Finding]:
    value = run.get("runId")
    if isinstance(value, str) and not _UUID.fullmatch(value):
        yield Finding("warning", "$.run.runId", "Not a UUID; it is sent as it is.", f"{SPEC}: format uuid")


def _datasets(tree: dict[str, Any], rules: Rules) -> Iterator[Finding]:
    for side in ("inputs", "outputs"):
        path, items = join("$", side), tree.get(side)
        if side in tree and items is None:
            yield Finding("warning", path, "null instead of an array.", SPEC)
        elif items is not None and not isinstance(items, list):
            yield Finding(rules.shapes, path, "Not an array.", rules.names)
        for index, item in enumerate(items if isinstance(items, list) else ()):
            yield from _dataset(item, join(path, index), rules)


def _dataset(item: object, path: str, rules: Rules) -> Iterator[Finding]:
    if not isinstance(item, Mapping):
        yield Finding(rules.shapes, path, "Not an object.", rules.names)
        return
    for key in ("namespace", "name"):
        yield from _text(item, key, path, rules.datasets, "error" if rules.datasets_need_names else "warning")


def _facets(tree: dict[str, Any], rules: Rules) -> Iterator[Finding]:
    yield from _holders(tree, rules)
    for _, path, facets in holders(tree):
        for name, facet in facets.items() if isinstance(facets, Mapping) else ():
            yield from _facet(facet, join(path, name))


def _holders(tree: dict[str, Any], rules: Rules) -> Iterator[Finding]:
    for _, path, facets in holders(tree):
        if facets is None:
            yield Finding("warning", path, "null instead of an object.", SPEC)
        elif not isinstance(facets, Mapping):
            yield Finding(rules.shapes, path, "Not an object.", rules.names)


def _facet(facet: object, path: str) -> Iterator[Finding]:
    if not isinstance(facet, Mapping):
        what = "null" if facet is None else "no object"
        yield Finding("warning", path, f"The facet is {what}.", f"{SPEC}: BaseFacet")
        return
    missing = [key for key in ("_producer", "_schemaURL") if not isinstance(facet.get(key), str)]
    if missing:
        yield Finding("warning", path, f"Without {' and '.join(missing)}.", f"{SPEC}: BaseFacet.required")


def _size(tree: dict[str, Any], rules: Rules) -> Iterator[Finding]:
    try:
        size = len(dumps(tree))
    except EventError as error:
        yield Finding("error", error.path, error.problem, "RFC 8259")
        return
    if rules.limit is not None and size > rules.limit:
        yield _too_large(tree, size, rules.limit, trims=rules.trims)


def _too_large(tree: dict[str, Any], size: int, limit: int, *, trims: bool) -> Finding:
    told = f"{counted(size, 'byte')}, above {limit:,}"
    if not trims:
        return Finding("error", "$", f"{told}, and oversize is reject.", TRUEWATCH_SIZE)
    try:
        trim(tree, limit, size)
    except EventError:
        return Finding("error", "$", f"{told}, even without its facets.", TRUEWATCH_SIZE)
    return Finding("warning", "$", f"{told}: it will be trimmed, facets are left out on the way.", TRUEWATCH_SIZE)


def _text(owner: Mapping[str, Any], key: str, path: str, rule: str, missing: Severity = "error") -> Iterator[Finding]:
    """Check that a member is there and is text; an empty one is only a warning."""
    value = owner.get(key)
    if value is None:
        yield Finding(missing, join(path, key), "Missing.", rule)
    elif not isinstance(value, str):
        yield Finding(missing, join(path, key), "Not text.", rule)
    elif not value:
        yield Finding("warning", join(path, key), "Empty.", rule)


def _uri(owner: Mapping[str, Any], key: str, path: str, rule: str) -> Iterator[Finding]:
    value = owner.get(key)
    if isinstance(value, str) and value and not _is_absolute(value):
        yield Finding("warning", join(path, key), "Not an absolute URI; it is sent as it is.", rule)


def _is_absolute(text: str) -> bool:
    try:
        return bool(urlsplit(text).scheme)
    except ValueError:
        return False
