"""A run's state and times, put together from its events in whatever order they come."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any, Final

from truewatch_lineage import protocol
from truewatch_lineage.receiver.projection import Projection

_KEPT: Final = (
    "parent_run_id",
    "parent_job_namespace",
    "parent_job_name",
    "root_run_id",
    "root_job_namespace",
    "root_job_name",
    "nominal_start_time",
    "nominal_end_time",
    "error_message",
)
_MAX_TEXT: Final = 2000


@dataclass(frozen=True, slots=True)
class Run:
    """One run of one job.

    Attributes:
        state: Of its latest event that tells one: a terminal type wins, then START or RUNNING, then OTHER; None if no
            event had a type.
        state_at: The time of that event.
        started: The time of the first START or RUNNING, or None.
        ended: The time of the terminal event, or None.
        first, last: The times of its first and last event, in seconds since the epoch.
        events: How many distinct events it has.
        info: Fields of parent, root, nominal time and error, the latest value of each.
    """

    state: str | None
    state_at: float
    started: float | None
    ended: float | None
    first: float
    last: float
    events: int = 1
    info: dict[str, Any] = field(default_factory=dict)

    def times(self) -> tuple[str | None, float, float | None, float | None, float, float, int]:
        """Return all but ``info``, in this order."""
        return (self.state, self.state_at, self.started, self.ended, self.first, self.last, self.events)


def of_event(projection: Projection, moment: float) -> Run:
    """Return the run as one event shows it.

    Args:
        projection: The event's.
        moment: Its eventTime in seconds since the epoch, or its arrival's where that is no time.
    """
    event = projection.records[0]
    state = event.get("event_type")
    state = state.upper() if isinstance(state, str) else None
    info = {name: event[name] for name in _KEPT if name in event}
    return Run(
        state=state,
        state_at=moment,
        started=moment if state in {"START", "RUNNING"} else None,
        ended=moment if state in protocol.TERMINAL_EVENT_TYPES else None,
        first=moment,
        last=moment,
        info={name: value[:_MAX_TEXT] if isinstance(value, str) else value for name, value in info.items()},
    )


def merge(known: Run, new: Run) -> Run:
    """Put what one more event shows to what is known; the order of the two does not matter but for equal times."""
    later = max(known, new, key=lambda run: (_rank(run.state), run.state_at))
    newest, older = (new, known) if new.last >= known.last else (known, new)
    return dataclasses.replace(
        known,
        state=later.state,
        state_at=later.state_at,
        started=_least(known.started, new.started),
        ended=max((moment for moment in (known.ended, new.ended) if moment is not None), default=None),
        first=min(known.first, new.first),
        last=max(known.last, new.last),
        events=known.events + new.events,
        info={**older.info, **newest.info},
    )


def _rank(state: str | None) -> int:
    if state in protocol.TERMINAL_EVENT_TYPES:
        return 3
    return {"START": 2, "RUNNING": 2, None: 0}.get(state, 1)


def _least(one: float | None, other: float | None) -> float | None:
    return min((moment for moment in (one, other) if moment is not None), default=None)
