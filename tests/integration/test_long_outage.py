"""Outages of days, on a clock that the test sets: few probes, no event lost, and back at once when it is mended."""

from __future__ import annotations

import itertools
import random
from pathlib import Path

import pytest
from support.couriers import Clock, post
from support.destinations import destination
from support.events import tree
from support.private import write_private
from support.raw_server import Behaviour, RawServer, answer
from support.spooled import spooled

from truewatch_lineage.destinations.tokens import FileToken
from truewatch_lineage.spool.admin import resume
from truewatch_lineage.spool.report import listed

DAY = 86_400.0
TEN_YEARS = 3652 * DAY
BACKOFF = (1, 2, 4, 8, 16, 32, 64, 128, 150, 150, 150)
"""Half of min(300, 2^n): what a chance of one half makes of it."""


def events(number, first=0):
    """Return events, each of a run of its own."""
    return [tree(run={"runId": str(first + count)}) for count in range(number)]


def advance(here, there, clock):
    """Turn the clock to when the destination may be tried again, try it, and return the seconds between."""
    until = here.standing(there).until
    waited = until - clock.now
    clock.now = until
    here.courier.drain(5)
    return waited


@pytest.fixture
def clock():
    """Give the test's clock."""
    return Clock()


@pytest.fixture
def folder(tmp_path):
    """Give the folder of the spool."""
    return tmp_path / "spool"


@pytest.fixture
def token_file(tmp_path) -> Path:
    """Give a file with a token that is refused."""
    return write_private(tmp_path / "token", "old-token")


def new_token_only():
    """Take nothing but ``new-token``."""

    def run(exchange):
        good = exchange.request.header("Authorization") == "Bearer new-token"
        return answer(200 if good else 401).run(exchange)

    return Behaviour(run)


def test_three_days_without_an_answer(folder, clock):
    """The waits grow to a cap, so a day costs some 576 probes whatever is emitted meanwhile; then all arrives."""
    with RawServer(default=answer(503)) as server:
        there = destination(server.url)
        with post(folder, there, clock=clock, chance=lambda: 0.5) as here:
            here.put(there, events(3))
            here.courier.drain(5)
            end = clock.now + 3 * DAY
            waits = []
            while clock.now < end:
                waits.append(advance(here, there, clock))
                here.put(there, events(1, 100 + len(waits)))
                here.courier.drain(5)
            assert tuple(round(wait) for wait in waits[: len(BACKOFF)]) == BACKOFF
            assert max(waits) <= 150
            assert len(server.requests) <= 3 * DAY / 150 + 20
            before = len(server.requests)
            assert spooled(folder)[:3] == (3 + len(waits), 0, 0)
            assert here.standing(there).state == "paused"

            server.behave(answer(200))
            advance(here, there, clock)
            runs = [request.json["run"]["runId"] for request in server.requests[before:]]
            assert len(set(runs)) == len(runs) == 3 + len(waits)
            assert spooled(folder)[:3] == (0, 0, 3 + len(waits))


@pytest.mark.parametrize("status", [503, 401])
@pytest.mark.parametrize("jump", [TEN_YEARS, -TEN_YEARS])
def test_a_clock_that_jumps_ten_years_stops_nothing(folder, clock, status, jump):
    """A due time that can't be ours counts as due: the next look makes a probe, and a pass delivers all."""
    with RawServer([answer(status)]) as server:
        there = destination(server.url)
        with post(folder, there, clock=clock, connections=1) as here:
            here.put(there, events(5))
            here.courier.drain(5)
            assert (len(server.requests), here.courier.pending()) == (1, 5)
            clock.now += jump
            here.courier.drain(5)
            assert here.courier.pending() == 0
            here.put(there, events(1, 50))
            here.courier.drain(5)
            assert here.courier.pending() == 0


def test_an_own_wait_of_an_event_survives_a_clock_that_jumps_back(folder, clock):
    """The same for a lane that waits alone."""
    with RawServer() as server:
        there = destination(server.url)
        with post(folder, there, clock=clock, chance=lambda: 0.9) as here:
            here.put(there, events(1))
            server.script(answer(408))
            here.courier.drain(5)
            assert here.courier.pending() == 1
            clock.now -= TEN_YEARS
            here.courier.drain(5)
            assert here.courier.pending() == 0


def test_a_parked_destination_is_probed_from_a_minute_to_a_quarter_of_an_hour(folder, clock):
    """With the clock in steps of ten seconds: 1, 2, 4, 8, 15, 15 minutes apart, one event each, taking turns."""
    with RawServer(default=answer(404)) as server:
        there = destination(server.url)
        with post(folder, there, clock=clock, connections=1) as here:
            here.put(there, events(4))
            start, times, seen = clock.now, [], 0
            while clock.now < start + 3600:
                here.courier.drain(5)
                times += [clock.now - start] * (len(server.requests) - seen)
                seen = len(server.requests)
                clock.now += 10
            assert [b - a for a, b in itertools.pairwise(times)] == [60, 120, 240, 480, 900, 900]
            runs = [body["run"]["runId"] for body in server.bodies]
            assert runs == ["0", "1", "2", "3", "0", "1", "2"]
            assert spooled(folder)[:2] == (4, 0)


def test_a_new_token_in_its_file_opens_at_once(folder, clock, token_file):
    """No probe is waited for: the next look sees the change by its fingerprint."""
    with RawServer(default=new_token_only()) as server:
        there = destination(server.url, token=None, token_source=FileToken(token_file))
        with post(folder, there, clock=clock, connections=1) as here:
            here.put(there, events(5))
            here.courier.drain(5)
            here.courier.drain(5)
            assert (here.standing(there).state, len(server.requests)) == ("parked", 1)
            token_file.write_text("new-token")
            here.courier.drain(5)
            assert (here.courier.pending(), here.standing(there).state) == (0, "ready")


@pytest.mark.parametrize("status", [503, 401])
def test_resume_opens_at_once(folder, clock, status):
    """An operator's word counts for a paused and for a parked destination."""
    with RawServer([answer(status)]) as server:
        there = destination(server.url)
        with post(folder, there, clock=clock, connections=1, chance=lambda: 0.9) as here:
            here.put(there, events(5))
            here.courier.drain(5)
            assert here.courier.pending() == 5
            assert resume(here.store) == ["default"]
            here.courier.drain(5)
            assert here.courier.pending() == 0


def _poisoned(server, others_pass):
    """Answer 500 to run ``poison``, and to others 200 or 500 as told."""

    def run(exchange):
        poison = exchange.request.json["run"]["runId"] == "poison"
        return answer(500 if poison or not others_pass else 200).run(exchange)

    server.behave(Behaviour(run))


@pytest.mark.parametrize("others_pass", [True, False])
def test_a_500_is_given_up_late_and_only_while_others_pass(folder, clock, others_pass):
    """Design section 4: "500 becomes dead only after ≥ 20 tries, ≥ 24 h and others passing"."""
    with RawServer() as server:
        _poisoned(server, others_pass)
        there = destination(server.url)
        with post(folder, there, clock=clock, chance=lambda: 0.9) as here:
            here.put(there, [tree(run={"runId": "poison"})])
            start, died = clock.now, None
            for count in range(200):
                here.put(there, events(1, count))
                here.courier.drain(5)
                clock.now += 600
                if died is None and spooled(folder).dead:
                    died = clock.now - start
    if others_pass:
        assert DAY <= died <= DAY + 1800
        assert spooled(folder)[:3] == (0, 1, 200)
    else:
        assert died is None
        assert spooled(folder)[:3] == (201, 0, 0)


def test_a_500_is_not_given_up_before_twenty_tries(folder, clock):
    """A job that looks once a day tries 20 times before it gives up."""
    with RawServer() as server:
        _poisoned(server, others_pass=True)
        there = destination(server.url)
        with post(folder, there, clock=clock, chance=lambda: 0.0, connections=1) as here:
            here.put(there, [tree(run={"runId": "poison"})])
            for count in range(30):
                clock.now += DAY
                here.put(there, events(1, count))
                here.courier.drain(0.05)
                if spooled(folder).dead:
                    break
            # Counted by the spool: an attempt that drain's end has cut need not have arrived.
            (poison,) = listed(here.store, dead=True)
    assert poison["attempts"] >= 20


@pytest.mark.timeout(120)
def test_a_token_rotated_with_10000_queued(folder, token_file, clock):
    """The old one is refused to a handful, nothing becomes a dead letter, and the new one delivers all."""
    with RawServer(default=new_token_only()) as server:
        there = destination(server.url, token=None, token_source=FileToken(token_file))
        with post(folder, there, clock=clock, chance=random.Random(1).random) as here:
            for first in range(0, 10_000, 1000):
                here.put(there, events(1000, first))
            for _ in range(10):
                here.courier.drain(5)
                clock.now += 60
            assert len(server.requests) < 20
            token_file.write_text("new-token")
            here.courier.drain(60)
    assert spooled(folder)[:4] == (0, 0, 10_000, 0)
