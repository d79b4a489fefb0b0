"""How far a partition is done: what may be committed is what has no event before it that is not done."""

from __future__ import annotations

from collections import deque


class Mark:
    """The place of one event in its partition."""

    __slots__ = ("is_done", "offset")

    def __init__(self, offset: int) -> None:
        self.offset = offset
        self.is_done = False


class Offsets:
    """One partition while it is assigned; an assignment that comes later has another one.

    Not safe to use from several threads at once: the stage's lock guards it.

    Args:
        partition: Its number.

    Attributes:
        partition: Its number.
        revoked: Whether it was taken away: nothing of it is to be tried any more.
        first: The first offset that was read.
        position: The offset to commit, that of the next event to read; None while none is done.
        committed: What was committed in this assignment, as far as is known.
    """

    def __init__(self, partition: int) -> None:
        self.partition = partition
        self.revoked = False
        self.first: int | None = None
        self.position: int | None = None
        self.committed: int | None = None
        self._open: deque[Mark] = deque()
        self._asked: int | None = None
        self._uncommitted, self._asked_events = 0, 0

    def __len__(self) -> int:
        """Count the events that were read and are not committed."""
        return len(self._open) + self._uncommitted

    def take(self, offset: int) -> Mark:
        """Note that the event at an offset was read; offsets may have gaps, as topics have them."""
        if self.first is None:
            self.first = offset
        mark = Mark(offset)
        self._open.append(mark)
        return mark

    def done(self, mark: Mark) -> None:
        """Note that nothing more is to be done for an event."""
        mark.is_done = True
        while self._open and self._open[0].is_done:
            self.position = self._open.popleft().offset + 1
            self._uncommitted += 1

    def ask(self) -> int | None:
        """Return what is to be committed now; None where that is nothing, or the last question has no answer yet."""
        if self._asked is not None or self.position == self.committed:
            return None
        self._asked, self._asked_events = self.position, self._uncommitted
        return self._asked

    def answer(self, offset: int, *, committed: bool) -> None:
        """Note the answer to a commit; one to a question that was withdrawn tells nothing."""
        if offset != self._asked:
            return
        if committed:
            self.committed = offset
            self._uncommitted -= self._asked_events
        self._asked = None

    def withdraw(self) -> None:
        """Expect no answer to the last question any more."""
        self._asked = None
