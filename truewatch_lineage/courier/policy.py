"""What an attempt's outcome means for its event and for its destination: pure, given the clock and the chance.

The rules are the outcome table's (docs/delivery.md). "Passed since" compares the numbers of attempts, not clocks, which
may jump by years.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import Final

from truewatch_lineage.delivery.backoff import full_jitter, probe_delay
from truewatch_lineage.delivery.outcome import Outcome, Verdict
from truewatch_lineage.spool import Queued, Settlement, Standing

ONE_RETRY: Final = frozenset({HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_EARLY})
"""After either of these a second of either is final."""

PATIENCE_TRIES: Final = 20
PATIENCE_SECONDS: Final = 24 * 3600.0
"""A 500 is given up only after as many tries and as long a time, and while other events pass."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One try to deliver one event.

    Attributes:
        event: The event.
        number: The attempt's number among all of its destination.
        stopped_at: The destination's ``stopped_at`` when it began: another value now means that something else has
            paused or parked the destination meanwhile.
        fingerprint: Of the settings it was made with.
    """

    event: Queued
    number: int
    stopped_at: int
    fingerprint: str | None = None


@dataclass(frozen=True, slots=True)
class Moment:
    """The clock and the chance of a decision.

    Attributes:
        now: Epoch seconds.
        random: Returns a float in [0, 1).
    """

    now: float
    random: Callable[[], float]


def decide(standing: Standing, attempt: Attempt, outcome: Outcome, moment: Moment) -> tuple[Settlement, Standing]:
    """Return what becomes of the event, and how its destination stands afterwards."""
    standing = replace(standing, attempts=max(standing.attempts, attempt.number))
    rule = {Verdict.DELIVERED: _passed, Verdict.RETRY: _retry, Verdict.PARK: _park, Verdict.DEAD: _dead}
    return rule[outcome.verdict](standing, attempt, outcome, moment)


def reopened(standing: Standing) -> Standing:
    """Return the standing of a destination that is tried again as if nothing had happened."""
    return replace(standing, state="ready", reason=None, until=None, failures=0, parked_with=None)


def _passed(standing: Standing, attempt: Attempt, outcome: Outcome, _: Moment) -> tuple[Settlement, Standing]:
    standing = replace(standing, passed_at=max(standing.passed_at, attempt.number), passed_with=attempt.fingerprint)
    if attempt.number > standing.stopped_at:
        standing = reopened(standing)
    return _settlement(attempt, outcome, "delivered"), standing


def _retry(standing: Standing, attempt: Attempt, outcome: Outcome, moment: Moment) -> tuple[Settlement, Standing]:
    tries = attempt.event.attempts + 1
    if outcome.max_attempts is not None:
        # Tries that failed for other reasons, such as an outage before, are not counted.
        if tries >= outcome.max_attempts and attempt.event.status in ONE_RETRY:
            return _settlement(attempt, outcome, "dead"), standing
        return _waiting(attempt, outcome, moment, tries), standing
    if not _reached(outcome) or not (_passed_since(standing, attempt) or _overtaken(standing, attempt)):
        return _settlement(attempt, outcome, "wait"), _pause(standing, attempt, outcome, moment)
    if outcome.patience and _is_out_of_patience(attempt, tries, moment):
        return _settlement(attempt, outcome, "dead"), standing
    # Others passed since this one failed first, or since it began: its own fault, so only its own lane waits.
    if outcome.retry_after is not None:
        standing = _pause(standing, attempt, outcome, moment)
    return _waiting(attempt, outcome, moment, tries), standing


def _park(standing: Standing, attempt: Attempt, outcome: Outcome, moment: Moment) -> tuple[Settlement, Standing]:
    if outcome.dead_if_passed and _passed_since(standing, attempt) and standing.passed_with == attempt.fingerprint:
        return _settlement(attempt, outcome, "dead"), standing
    if outcome.dead_if_passed and _overtaken(standing, attempt) and standing.passed_with == attempt.fingerprint:
        return _waiting(attempt, outcome, moment, attempt.event.attempts + 1), standing
    if _is_news(standing, attempt):
        failures = standing.failures + 1 if standing.state == "parked" else 0
        standing = replace(
            standing,
            state="parked",
            reason=outcome.reason,
            until=moment.now + probe_delay(failures),
            failures=failures,
            stopped_at=attempt.number,
            parked_with=attempt.fingerprint,
        )
    return _settlement(attempt, outcome, "wait"), standing


def _dead(standing: Standing, attempt: Attempt, outcome: Outcome, moment: Moment) -> tuple[Settlement, Standing]:
    if attempt.number > standing.stopped_at:
        if standing.state == "paused":  # it answers, so it is back
            standing = reopened(standing)
        elif standing.state == "parked":  # the answer said nothing of what it is parked for: ask with the next lane
            standing = replace(standing, until=moment.now)
    return _settlement(attempt, outcome, "dead"), standing


def _pause(standing: Standing, attempt: Attempt, outcome: Outcome, moment: Moment) -> Standing:
    if not _is_news(standing, attempt):
        return standing
    if standing.state == "parked":
        wait = probe_delay(standing.failures + 1)
    else:
        wait = full_jitter(standing.failures + 1, moment.random)
    return replace(
        standing,
        state="parked" if standing.state == "parked" else "paused",
        reason=standing.reason if standing.state == "parked" else outcome.reason,
        until=moment.now + max(wait, outcome.retry_after or 0.0),
        failures=standing.failures + 1,
        stopped_at=attempt.number,
    )


def _is_news(standing: Standing, attempt: Attempt) -> bool:
    """Tell whether the destination has not been stopped since the attempt began: 64 that fail at once count as one."""
    return standing.stopped_at == attempt.stopped_at


def _passed_since(standing: Standing, attempt: Attempt) -> bool:
    return 0 < attempt.event.failed_at < standing.passed_at


def _overtaken(standing: Standing, attempt: Attempt) -> bool:
    """Tell whether an attempt that began later has passed: a slow failure says little about the destination of now."""
    return attempt.number < standing.passed_at


def _reached(outcome: Outcome) -> bool:
    """Tell whether the destination may have seen the event, without which the event can't be at fault."""
    return outcome.status is not None or outcome.ambiguous


def _is_out_of_patience(attempt: Attempt, tries: int, moment: Moment) -> bool:
    first = attempt.event.failed_first
    return tries >= PATIENCE_TRIES and first is not None and moment.now - first >= PATIENCE_SECONDS


def _waiting(attempt: Attempt, outcome: Outcome, moment: Moment, tries: int) -> Settlement:
    wait = max(full_jitter(tries, moment.random), outcome.retry_after or 0.0)
    return replace(_settlement(attempt, outcome, "wait"), due=moment.now + wait)


def _settlement(attempt: Attempt, outcome: Outcome, result: str) -> Settlement:
    return Settlement(
        id=attempt.event.id,
        attempt=attempt.number,
        result=result,  # type: ignore[arg-type]  # one of the three literals, all in this file
        reason=outcome.reason,
        status=outcome.status,
        cached=outcome.cached,
        not_json=outcome.not_json,
    )
