"""Threads that make attempts, one connection each."""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Callable
from typing import Final

from truewatch_lineage.courier.policy import Attempt
from truewatch_lineage.delivery.outcome import Outcome, Verdict

FIRST_WINDOW: Final = 4
LINGER_SECONDS: Final = 0.001
"""How long `gather` waits for one attempt more, once it has one."""

Finished = tuple[Attempt, Outcome]
Try = Callable[[Attempt], Finished]


class Window:
    """How many attempts may be in flight: it grows from 4 to ``limit`` with success, and halves on 429."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self.size = min(FIRST_WINDOW, limit)

    def note(self, outcome: Outcome) -> None:
        """Learn from an outcome."""
        if outcome.slow_down:
            self.size = max(1, self.size // 2)
        elif outcome.status is not None or outcome.verdict is Verdict.DELIVERED:
            self.size = min(self._limit, self.size + 1)


class Workers:
    """Makes attempts in daemon threads, so that none keeps the process alive.

    Args:
        make: Makes one attempt; never raises.
    """

    def __init__(self, make: Try) -> None:
        self._make = make
        self._jobs: queue.SimpleQueue[Attempt | None] = queue.SimpleQueue()
        self._done: queue.SimpleQueue[Finished | None] = queue.SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._flying = 0
        self._woken = False

    def launch(self, attempt: Attempt) -> None:
        """Begin an attempt, in a new thread where all are busy."""
        self._flying += 1
        if self._flying > len(self._threads) and not self._grow() and not self._threads:
            self._done.put(self._make(attempt))  # at interpreter exit no thread can be started
            return
        self._jobs.put(attempt)

    def gather(self, timeout: float) -> list[Finished]:
        """Wait for an attempt to end or for `wake`, and return all that have ended by then.

        Args:
            timeout: Seconds to wait at most.
        """
        finished: list[Finished] = []
        with contextlib.suppress(queue.Empty):
            self._take(finished, max(timeout, 0.0))
            # Attempts end one by one, and each gathering is a transaction: a moment's patience makes them fewer.
            while finished and len(finished) < self._flying:
                self._take(finished, LINGER_SECONDS)
        self._flying -= len(finished)
        return finished

    def _take(self, finished: list[Finished], timeout: float) -> None:
        ended = self._done.get(timeout=timeout)
        if ended is None:
            self._woken = False
        else:
            finished.append(ended)

    def wake(self) -> None:
        """Let `gather` return, since there is something new to launch; until it has, further calls cost nothing."""
        if not self._woken:
            self._woken = True
            self._done.put(None)

    def stop(self) -> None:
        """Let every thread end after its attempt."""
        for _ in self._threads:
            self._jobs.put(None)
        self._threads.clear()

    def _grow(self) -> bool:
        thread = threading.Thread(target=self._run, name="truewatch-lineage-sender", daemon=True)
        try:
            thread.start()
        except RuntimeError:
            return False
        self._threads.append(thread)
        return True

    def _run(self) -> None:
        while (attempt := self._jobs.get()) is not None:
            self._done.put(self._make(attempt))
