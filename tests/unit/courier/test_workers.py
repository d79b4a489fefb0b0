"""Threads that make attempts."""

from __future__ import annotations

import threading
import time

from truewatch_lineage.courier.policy import Attempt
from truewatch_lineage.courier.workers import Window, Workers
from truewatch_lineage.delivery.outcome import Outcome, Verdict
from truewatch_lineage.spool import Queued

PASSED = Outcome(Verdict.DELIVERED, "delivered", status=200)
SLOW_DOWN = Outcome(Verdict.RETRY, "429", status=429, slow_down=True)
NO_ANSWER = Outcome(Verdict.RETRY, "refused")


def an_attempt(number):
    return Attempt(Queued(number, "l", b"", 0, 0, None), number, 0)


def test_the_window_grows_with_answers_to_its_limit():
    """Design section 3: "grows from 4"."""
    window = Window(6)
    sizes = [window.size]
    for _ in range(4):
        window.note(PASSED)
        sizes.append(window.size)
    assert sizes == [4, 5, 6, 6, 6]


def test_the_window_halves_on_429_but_never_closes():
    """Design section 3: "halves on 429"."""
    window = Window(64)
    sizes = []
    for _ in range(4):
        window.note(SLOW_DOWN)
        sizes.append(window.size)
    assert sizes == [2, 1, 1, 1]


def test_the_window_keeps_its_size_without_an_answer():
    """A refused connection says nothing about how much the destination bears."""
    window = Window(64)
    window.note(NO_ANSWER)
    assert window.size == 4


def test_attempts_run_at_once():
    """As many threads as attempts in flight: three that wait for each other all end."""
    barrier = threading.Barrier(3, timeout=5)

    def make(attempt):
        barrier.wait()
        return attempt, PASSED

    workers = Workers(make)
    for number in range(3):
        workers.launch(an_attempt(number))
    ended = []
    while len(ended) < 3:
        ended += workers.gather(5)
    workers.stop()
    assert sorted(attempt.number for attempt, _ in ended) == [0, 1, 2]


def test_idle_threads_are_used_again():
    """One attempt after the other needs one thread."""
    names = set()

    def make(attempt):
        names.add(threading.get_ident())
        return attempt, PASSED

    workers = Workers(make)
    for number in range(5):
        workers.launch(an_attempt(number))
        assert len(workers.gather(5)) == 1
    workers.stop()
    assert len(names) == 1


def test_wake_ends_a_wait():
    """A new event is launched at once, though an attempt in flight takes long."""
    workers = Workers(lambda attempt: (attempt, PASSED))
    threading.Timer(0.05, workers.wake).start()
    began = time.monotonic()
    assert workers.gather(10) == []
    assert time.monotonic() - began < 5
