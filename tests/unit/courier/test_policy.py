"""What an outcome means for an event and its destination."""

from __future__ import annotations

from dataclasses import replace

import pytest

from truewatch_lineage.courier.policy import Attempt, Moment, decide
from truewatch_lineage.delivery.outcome import Outcome, Verdict
from truewatch_lineage.spool import Queued, Standing

NOW = 1_800_000_000.0
DAY = 86_400.0
DELIVERED = Outcome(Verdict.DELIVERED, "delivered", status=200)
BUSY = Outcome(Verdict.RETRY, "503", status=503)
BROKEN = Outcome(Verdict.RETRY, "500", status=500, patience=True)
REFUSED = Outcome(Verdict.PARK, "401", status=401)
MISSING = Outcome(Verdict.PARK, "404", status=404, dead_if_passed=True)
MALFORMED = Outcome(Verdict.DEAD, "400", status=400)
TOO_EARLY = Outcome(Verdict.RETRY, "425", status=425, max_attempts=2)


def moment(chance=0.5, now=NOW):
    return Moment(now, lambda: chance)


def attempt(number=1, *, tries=0, failed_at=0, failed_first=None, status=None, stopped_at=0, fingerprint="f"):
    event = Queued(7, "run:a", b"", tries, failed_at, failed_first, status)
    return Attempt(event, number, stopped_at, fingerprint)


def test_a_pass_opens_a_stopped_destination():
    """Any state becomes ready, and the pass is remembered by its number and its settings."""
    parked = Standing("parked", "401", NOW + 60, failures=3, attempts=8, stopped_at=8, parked_with="old")
    settlement, standing = decide(parked, attempt(9, stopped_at=8), DELIVERED, moment())
    assert settlement.result == "delivered"
    assert standing == Standing("ready", attempts=9, stopped_at=8, passed_at=9, passed_with="f")


def test_a_pass_that_began_before_the_stop_does_not_open():
    """An answer to an older attempt says nothing about what stopped the destination since."""
    paused = Standing("paused", "503", NOW + 5, failures=1, attempts=9, stopped_at=9)
    _, standing = decide(paused, attempt(8), DELIVERED, moment())
    assert (standing.state, standing.passed_at) == ("paused", 8)


@pytest.mark.parametrize(
    ("failures", "chance", "wait"),
    [(0, 1.0, 2.0), (0, 0.5, 1.0), (1, 1.0, 4.0), (5, 1.0, 64.0), (20, 1.0, 300.0), (20, 0.0, 0.0)],
)
def test_failures_pause_with_full_jitter(failures, chance, wait):
    """Design section 4: "retry with full jitter, min(300 s, 2^n)"."""
    before = Standing("paused", "503", NOW, failures=failures, attempts=4, stopped_at=4)
    settlement, after = decide(before, attempt(5, stopped_at=4), BUSY, moment(chance))
    assert (after.state, after.until, after.failures) == ("paused", NOW + wait, failures + 1)
    assert (settlement.result, settlement.due) == ("wait", 0.0)


def test_retry_after_is_the_shortest_pause():
    """Design section 4: Retry-After "pauses the destination on 429 and 503"."""
    _, after = decide(Standing(), attempt(), replace(BUSY, retry_after=30.0), moment())
    assert after.until == NOW + 30


def test_failures_at_once_count_as_one():
    """64 attempts that fail together are one failure of the destination."""
    standing = Standing()
    for number in range(1, 65):
        _, standing = decide(standing, attempt(number), BUSY, moment(1.0))
    assert (standing.failures, standing.until, standing.attempts) == (1, NOW + 2, 64)


def test_an_event_that_fails_while_others_pass_waits_alone():
    """Design section 4: "a waiting head stops only its own lane"."""
    before = Standing(attempts=9, stopped_at=4, passed_at=9)
    settlement, after = decide(before, attempt(10, tries=2, failed_at=4, stopped_at=4), BROKEN, moment(1.0))
    assert (settlement.result, settlement.due) == ("wait", NOW + 8)
    assert after == replace(before, attempts=10)


@pytest.mark.parametrize(
    ("tries", "age", "passed_at", "result"),
    [
        (19, DAY, 50, "dead"),
        (18, DAY, 50, "wait"),
        (19, DAY - 1, 50, "wait"),
        (19, DAY, 3, "wait"),
        (500, 30 * DAY, 0, "wait"),
    ],
)
def test_a_500_is_given_up_late(tries, age, passed_at, result):
    """Design section 4: "500 becomes dead only after ≥ 20 tries, ≥ 24 h and others passing"."""
    poisoned = attempt(60, tries=tries, failed_at=4, failed_first=NOW - age)
    settlement, _ = decide(Standing(attempts=59, passed_at=passed_at), poisoned, BROKEN, moment())
    assert settlement.result == result


@pytest.mark.parametrize(
    ("tries", "status", "result"),
    [(0, None, "wait"), (1, 425, "dead"), (1, 408, "dead"), (7, 425, "dead"), (1, None, "wait"), (9, 503, "wait")],
)
def test_408_and_425_get_one_retry(tries, status, result):
    """Design section 4: "one retry, then dead letter"; tries of an outage before are not that retry."""
    settlement, after = decide(Standing(), attempt(tries=tries, status=status), TOO_EARLY, moment())
    assert settlement.result == result
    assert after.state == "ready"


def test_parking_probes_after_a_minute_doubling_to_fifteen():
    """Design section 4: "probed with one event after 1 min, doubling to 15 min"."""
    standing, waits = Standing(), []
    for number in range(1, 8):
        _, standing = decide(standing, attempt(number, stopped_at=standing.stopped_at), REFUSED, moment())
        assert standing.until is not None
        waits.append(standing.until - NOW)
    assert waits == [60, 120, 240, 480, 900, 900, 900]
    assert (standing.state, standing.reason, standing.parked_with) == ("parked", "401", "f")


def test_a_parked_destination_stays_parked_when_a_probe_gets_no_answer():
    """A timeout does not mend a refused token: the reason is kept, and the probes go on as before."""
    parked = Standing("parked", "401", NOW, failures=0, attempts=1, stopped_at=1, parked_with="f")
    _, after = decide(parked, attempt(2, stopped_at=1), BUSY, moment())
    assert (after.state, after.reason, after.until, after.parked_with) == ("parked", "401", NOW + 120, "f")


@pytest.mark.parametrize(
    ("outcome", "passed_with", "result"),
    [(MISSING, "f", "dead"), (MISSING, "other", "wait"), (REFUSED, "f", "wait")],
)
def test_what_others_pass_is_the_events_own_fault(outcome, passed_with, result):
    """Design section 4: "where a later attempt with the same settings passed, dead-letter this event"."""
    before = Standing(attempts=6, stopped_at=4, passed_at=6, passed_with=passed_with)
    settlement, after = decide(before, attempt(7, tries=1, failed_at=4, stopped_at=4), outcome, moment())
    assert settlement.result == result
    assert after.state == ("ready" if result == "dead" else "parked")


def test_a_slow_failure_that_others_have_overtaken_stops_only_its_own_lane():
    """An attempt of long ago that times out says little of a destination which has passed others since."""
    hung = Outcome(Verdict.RETRY, "no answer", ambiguous=True)
    before = Standing(attempts=900, passed_at=900, passed_with="f")
    settlement, after = decide(before, attempt(5), hung, moment(1.0))
    assert (settlement.result, settlement.due, after) == ("wait", NOW + 2, before)


def test_a_missing_path_that_others_have_overtaken_stops_only_its_own_lane():
    """A 404 that is settled after others passed does not park; the second one is a dead letter."""
    before = Standing(attempts=900, passed_at=900, passed_with="f")
    settlement, after = decide(before, attempt(5), MISSING, moment(1.0))
    assert (settlement.result, settlement.due, after) == ("wait", NOW + 2, before)
    again, _ = decide(before, attempt(901, tries=1, failed_at=5), MISSING, moment())
    assert again.result == "dead"


def test_a_refused_connection_is_never_the_events_fault():
    """Where nothing was sent the whole destination pauses, though others have passed since the event failed first."""
    refused = Outcome(Verdict.RETRY, "refused")
    before = Standing(attempts=9, stopped_at=4, passed_at=9)
    settlement, after = decide(before, attempt(10, tries=2, failed_at=4, stopped_at=4), refused, moment(1.0))
    assert (settlement.due, after.state) == (0.0, "paused")


def test_a_dead_letter_shows_that_a_paused_destination_is_back():
    """A 400 is an answer, so whoever waits may go on."""
    paused = Standing("paused", "refused", NOW, failures=4, attempts=8, stopped_at=8)
    settlement, after = decide(paused, attempt(9, stopped_at=8), MALFORMED, moment())
    assert settlement.result == "dead"
    assert (after.state, after.failures) == ("ready", 0)


def test_a_dead_letter_leaves_a_parked_destination_parked_and_asks_again_at_once():
    """The answer said nothing of the token, so the next lane is asked without another minute's wait."""
    parked = Standing("parked", "401", NOW + 9, failures=2, attempts=8, stopped_at=8, parked_with="f")
    _, after = decide(parked, attempt(9, stopped_at=8), MALFORMED, moment())
    assert (after.state, after.until) == ("parked", NOW)
