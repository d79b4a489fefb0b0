"""Ask Airflow for something that may take long, and wait no longer than there is time."""

from __future__ import annotations

import contextvars
import math
import os
import threading
import time
from collections.abc import Callable
from typing import Final, TypeVar

from truewatch_lineage_airflow import compat

SUPERVISOR_SECONDS: Final = 8.0
"""How long a question that Airflow 3's supervisor is busy with is awaited, whatever time there is.

Its answer would else be taken for that to the task's next question, since the two know no numbers. OpenLineage's
listener ends the process after 10 s (``[openlineage] execution_timeout``) in any case."""

STALE_SECONDS: Final = 60.0
"""For how long an answer that came too late is the next question's; a connection or token of before may be outdated."""

T = TypeVar("T")


class _Question:
    """One question in flight, which any number of threads may wait for."""

    def __init__(self) -> None:
        self.is_answered = threading.Event()
        self.outcome: Callable[[], object] = lambda: None
        self._at = time.monotonic()

    @property
    def is_stale(self) -> bool:
        """Whether it was answered, and that so long ago that it is to be put again."""
        return self.is_answered.is_set() and time.monotonic() - self._at > STALE_SECONDS

    def put(self, question: Callable[[], object]) -> None:
        try:
            answer = _kept_from_exit(question)
        except Exception as error:  # noqa: BLE001 - it belongs to whoever waits, and is raised there
            self.outcome = _raiser(error)
        else:
            self.outcome = lambda: answer
        finally:
            self._at = time.monotonic()
            self.is_answered.set()


_in_flight: Final[dict[tuple[int, str], _Question]] = {}


def ask(key: str, question: Callable[[], T], within: float) -> T:
    """Return the answer to a question, put by a thread of its own unless there is time without end.

    Args:
        key: Names the question; while one is in flight, another of the same name waits for its answer.
        question: Asks.
        within: Seconds to wait.

    Returns:
        What the question returned; what it raised is raised.

    Raises:
        TimeoutError: There is no answer yet; the thread goes on, and the next question of that name gets its answer,
            unless that comes much later.
        RuntimeError: The question was about to end the process.
    """
    if math.isinf(within):
        return _kept_from_exit(question)
    place = (os.getpid(), key)
    made = _Question()
    if (late := _in_flight.get(place)) and late.is_stale:
        _in_flight.pop(place, None)
    asked = _in_flight.setdefault(place, made)  # one step, so that threads agree without a lock that a fork could keep
    if asked is made:
        try:
            threading.Thread(target=contextvars.copy_context().run, args=(asked.put, question), daemon=True).start()
        except RuntimeError:  # at interpreter exit no thread can be started
            asked.put(question)
    if not _wait(asked, within):
        raise TimeoutError
    _in_flight.pop(place, None)
    return asked.outcome()  # type: ignore[return-value]  # of whoever asked first under this name


def _kept_from_exit(question: Callable[[], T]) -> T:
    """Ask; what exits as a command would has failed: it must neither end a task, nor pass for an answer in a thread."""
    try:
        return question()
    except SystemExit:
        problem = "exits"
    raise RuntimeError(problem)


def _wait(asked: _Question, within: float) -> bool:
    if asked.is_answered.wait(max(0.0, within)):
        return True
    return compat.is_asking_supervisor() and asked.is_answered.wait(max(0.0, SUPERVISOR_SECONDS - within))


def _raiser(error: Exception) -> Callable[[], object]:
    def outcome() -> object:
        raise error

    return outcome
