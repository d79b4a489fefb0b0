"""Questions that may take long are awaited no longer than there is time."""

from __future__ import annotations

import contextvars
import math
import os
import sys
import threading
import time
from types import SimpleNamespace

import pytest

from truewatch_lineage_airflow import lookup
from truewatch_lineage_airflow.lookup import ask


class Slow:
    """Answers when it is let."""

    def __init__(self):
        self.asked = 0
        self.may_answer = threading.Event()

    def __call__(self):
        self.asked += 1
        self.may_answer.wait(10)
        return self.asked


def test_an_answer_in_time_is_returned_and_an_error_raised():
    """In a thread of its own, which sees the context variables of whoever asks."""
    variable = contextvars.ContextVar("variable", default="none")
    variable.set("mine")
    assert ask("a", lambda: (variable.get(), threading.get_ident()), 5)[0] == "mine"
    assert ask("a", threading.get_ident, 5) != threading.get_ident()
    assert ask("a", threading.get_ident, math.inf) == threading.get_ident()
    with pytest.raises(ZeroDivisionError):
        ask("a", lambda: 1 / 0, 5)


@pytest.mark.parametrize("within", [5, math.inf])
def test_a_question_that_exits_has_failed(within):
    """Whoever waits neither ends by it nor takes it for an answer; its text may be a secret."""
    with pytest.raises(RuntimeError, match=r"^exits$") as raised:
        ask("exit", lambda: sys.exit("canary"), within)
    assert raised.value.__context__ is None


def test_a_late_answer_is_that_of_the_next_question():
    """No second thread is started meanwhile, however often it is asked."""
    slow = Slow()
    for _ in range(3):
        start = time.monotonic()
        with pytest.raises(TimeoutError):
            ask("slow", slow, 0.02)
        assert time.monotonic() - start < 1
    assert slow.asked == 1
    slow.may_answer.set()
    assert ask("slow", slow, 5) == 1
    assert ask("slow", slow, 5) == 2


def test_an_answer_that_nobody_fetched_for_long_is_outdated(monkeypatch):
    """Who asks again gets what holds now, such as the token that was rotated meanwhile."""
    slow = Slow()
    with pytest.raises(TimeoutError):
        ask("outdated", slow, 0.01)
    monkeypatch.setattr(lookup, "STALE_SECONDS", -1.0)
    with pytest.raises(TimeoutError):
        ask("outdated", slow, 0.01)
    assert slow.asked == 1
    slow.may_answer.set()
    end = time.monotonic() + 10
    while not lookup._in_flight[os.getpid(), "outdated"].is_answered.is_set():
        assert time.monotonic() < end
        time.sleep(0.01)
    assert ask("outdated", slow, 5) == 2


def test_a_question_to_the_supervisor_is_awaited_to_its_end(monkeypatch):
    """Given up, its answer would be taken for the task's next one."""
    lock = threading.Lock()
    runner = SimpleNamespace(SUPERVISOR_COMMS=SimpleNamespace(_thread_lock=lock))
    monkeypatch.setitem(sys.modules, "airflow.sdk.execution_time.task_runner", runner)

    def question():
        with lock:
            time.sleep(0.3)
            return "answer"

    assert ask("supervisor", question, 0.05) == "answer"
    monkeypatch.setattr(lookup, "SUPERVISOR_SECONDS", 0.1)
    with pytest.raises(TimeoutError):
        ask("supervisor", question, 0.05)
    ask("supervisor", question, 5)


def test_a_forked_child_asks_by_itself():
    """The thread that the parent waits for is not in it."""
    slow = Slow()
    with pytest.raises(TimeoutError):
        ask("forked", slow, 0.01)
    pid = os.fork()
    if not pid:
        slow.may_answer = SimpleNamespace(wait=lambda _: None)
        os._exit(0 if ask("forked", slow, 5) == 2 else 1)
    assert os.waitpid(pid, 0)[1] == 0
    slow.may_answer.set()
    assert ask("forked", slow, 5) == 1
