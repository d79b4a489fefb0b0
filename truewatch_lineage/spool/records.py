"""What goes into the spool and comes out of it."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from truewatch_lineage.spool.soundness import LAST_ID

State = Literal["ready", "paused", "parked"]
_Record = TypeVar("_Record")


@dataclass(frozen=True, slots=True)
class Binding:
    """The identity of a destination: rows are delivered only by settings that agree in all three.

    Attributes:
        name: What the user calls it.
        kind: ``dataway``, ``datakit``, ``portal`` or ``openlineage``.
        url: The final url, without any credential.
    """

    name: str
    kind: str
    url: str


@dataclass(frozen=True, slots=True)
class Entry:
    """An event for one destination, ready to be stored.

    Attributes:
        binding: Where it goes.
        lane: What it must stay in order with.
        body: Its JSON, gzipped; None where there is none to keep (it could not be serialised).
        event_type: ``START``, ``COMPLETE`` and so on.
        job: ``namespace/name``.
        run_id: The run's id.
        dead: Why it can't be sent, which makes it a dead letter from the start.
    """

    binding: Binding
    lane: str
    body: bytes | None
    event_type: str | None = None
    job: str | None = None
    run_id: str | None = None
    dead: str | None = None


@dataclass(frozen=True, slots=True)
class Queued:
    """A waiting event at the head of its lane.

    Attributes:
        id: Its place in the order of emit.
        lane: Its lane.
        body: Its JSON, gzipped.
        attempts: How often it was tried.
        failed_at: The number of its first failed attempt, 0 if none failed.
        failed_first: When that was, in epoch seconds.
        status: The HTTP status of its last failed attempt, if there was an answer.
    """

    id: int
    lane: str
    body: bytes
    attempts: int
    failed_at: int
    failed_first: float | None
    status: int | None = None


@dataclass(frozen=True, slots=True)
class Settlement:
    """What became of one attempt.

    Attributes:
        id: The event's.
        attempt: The attempt's number.
        result: ``delivered``, ``wait`` or ``dead``.
        reason: Why it waits or is dead, for people.
        status: The HTTP status, if there was an answer.
        due: When it may be tried again, in epoch seconds.
        cached: Whether the destination has cached it only.
        not_json: Whether the answer was no JSON.
    """

    id: int
    attempt: int
    result: Literal["delivered", "wait", "dead"]
    reason: str | None = None
    status: int | None = None
    due: float = 0.0
    cached: bool = False
    not_json: bool = False


@dataclass(frozen=True, slots=True)
class Standing:
    """How things stand with a destination; numbers of attempts are compared instead of clocks.

    Attributes:
        state: ``ready``, ``paused`` until a time, or ``parked`` until somebody mends something.
        reason: Why, for people.
        until: When the next probe is due, in epoch seconds.
        failures: How many failures of the destination itself came in a row.
        attempts: The number of the last attempt.
        stopped_at: The attempt that paused or parked it.
        passed_at: The last attempt that was delivered.
        passed_with: The fingerprint of the settings it was delivered with.
        parked_with: The fingerprint of the settings that were parked.
    """

    state: State = "ready"
    reason: str | None = None
    until: float | None = None
    failures: int = 0
    attempts: int = 0
    stopped_at: int = 0
    passed_at: int = 0
    passed_with: str | None = None
    parked_with: str | None = None


def from_row(cls: type[_Record], row: Iterable[Any]) -> _Record:
    """Make a record of a row's values, in the order of its fields.

    Raises:
        TypeError: If a value is none that the field may have, as `soundness` finds too.
    """
    values = tuple(row)
    hints = _hints(cls)  # type: ignore[arg-type]  # a class is hashable
    for (name, hint), value in zip(hints.items(), values, strict=True):
        if not _may_be(hint, value):
            raise TypeError(f"{cls.__name__}.{name} can't be a {type(value).__name__}")
    return cls(*values)


def _may_be(hint: Any, value: object) -> bool:
    if get_origin(hint) is Literal:
        return value in get_args(hint)
    return isinstance(value, hint) and (not isinstance(value, int) or 0 <= value <= LAST_ID)


@cache
def _hints(cls: Hashable) -> dict[str, Any]:
    return get_type_hints(cls)
