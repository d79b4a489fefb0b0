"""What waits for one destination, by lane: the first of each lane may leave, the oldest one first.

Every method but those that say so takes time that does not grow with what waits. None is safe to use from several
threads at once: the stage's lock guards them.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Iterable

from truewatch_lineage.gateway.kafka.events import Event, Parcel
from truewatch_lineage.spool.queries import CLOCK_TOLERANCE


class _Lane:
    """Parcels in order; ``blocked`` while the spool holds older ones of the lane."""

    __slots__ = ("blocked", "flying", "parcels")

    def __init__(self, *, blocked: bool) -> None:
        self.parcels: deque[Parcel] = deque()
        self.flying = False
        self.blocked = blocked


class Lanes:
    """The parcels of one destination."""

    def __init__(self) -> None:
        self._lanes: dict[str, _Lane] = {}
        self._parcels: dict[int, Parcel] = {}
        # Ids of heads that may leave, and of those that may later; each is looked at again when it is taken out, since
        # it may have been withdrawn meanwhile.
        self._ready: list[int] = []
        self._later: list[tuple[float, int]] = []
        self._flying: dict[int, Parcel] = {}

    def __len__(self) -> int:
        return len(self._parcels)

    def get(self, parcel_id: int) -> Parcel | None:
        """Return what waits or is under way by an id; None if it is not here any more."""
        return self._parcels.get(parcel_id)

    def add(self, parcel: Parcel, *, blocked: bool) -> None:
        """Let a parcel wait at the end of its lane."""
        lane = self._lanes.get(parcel.entry.lane)
        if lane is None:
            lane = self._lanes[parcel.entry.lane] = _Lane(blocked=blocked)
        lane.blocked = lane.blocked or blocked
        lane.parcels.append(parcel)
        self._parcels[parcel.id] = parcel
        if len(lane.parcels) == 1:
            self._offer(lane)

    def take(self, limit: int, now: float) -> list[Parcel]:
        """Take the oldest heads whose time has come; each is under way until it is removed or postponed.

        Args:
            limit: How many at most.
            now: Epoch seconds.
        """
        while self._later and _is_past(self._later[0][0], now):
            heapq.heappush(self._ready, heapq.heappop(self._later)[1])
        taken: list[Parcel] = []
        while self._ready and len(taken) < limit:
            parcel = self._parcels.get(heapq.heappop(self._ready))
            if parcel is not None and self._may_leave(parcel) and _is_past(parcel.due, now):
                self._launch(parcel)
                taken.append(parcel)
        return taken

    def take_least_tried(self) -> list[Parcel]:
        """Take the head that was tried least, due or not, so that lanes take turns; looks at every lane."""
        heads = [lane.parcels[0] for lane in self._lanes.values() if not (lane.flying or lane.blocked)]
        found = min(heads, key=lambda parcel: (parcel.attempts, parcel.id), default=None)
        if found is None:
            return []
        self._launch(found)
        return [found]

    def remove(self, parcel: Parcel) -> None:
        """Forget the head of a lane, which frees it for the next."""
        lane = self._land(parcel)
        del self._parcels[parcel.id]
        lane.parcels.popleft()
        self._tidy(parcel.entry.lane, lane)

    def postpone(self, parcel: Parcel) -> None:
        """Let a parcel that was under way wait on, until it is due."""
        self._offer(self._land(parcel))

    def land(self) -> None:
        """Let everything that is under way wait again: whoever took it makes no more attempts."""
        for parcel in list(self._flying.values()):
            if parcel.event.offsets.revoked:
                self.remove(parcel)
            else:
                self.postpone(parcel)

    def flying(self, wanted: Callable[[Event], bool]) -> int:
        """Count what is under way of some events."""
        return sum(wanted(parcel.event) for parcel in self._flying.values())

    def drop(self, wanted: Callable[[Event], bool], *, flying: bool) -> None:
        """Forget parcels of some events, under way or not; looks at all that waits.

        Args:
            wanted: Whose.
            flying: Also those that are under way.
        """
        for parcel in [one for one in self._parcels.values() if wanted(one.event)]:
            if flying or parcel.id not in self._flying:
                self._pull(parcel)

    def due(self, now: float) -> float | None:
        """Return when the first head may leave, in epoch seconds; None if none may."""
        while self._ready and not self._is_head(self._ready[0]):
            heapq.heappop(self._ready)
        while self._later and not self._is_head(self._later[0][1]):
            heapq.heappop(self._later)
        if self._ready:
            return 0.0
        return None if not self._later else 0.0 if _is_past(self._later[0][0], now) else self._later[0][0]

    def waiting(self, limit: int, before: int | None = None) -> int:
        """Count what waits for the destination, and not for the spool; looks at every lane where any is blocked.

        Args:
            limit: Count so many at most; negative for all.
            before: Only those with a lower id.
        """
        lanes = self._lanes.values()
        found = sum(
            len(lane.parcels) if before is None else sum(parcel.id < before for parcel in lane.parcels)
            for lane in lanes
            if not lane.blocked
        )
        return found if limit < 0 else min(found, limit)

    def withdraw(self, parcel: Parcel) -> bool:
        """Take a parcel out for the spool, if it is the head of its lane; what follows it waits until `unblock`."""
        lane = self._lanes[parcel.entry.lane]
        if lane.flying or lane.parcels[0] is not parcel:
            return False
        lane.blocked = True
        self.remove(parcel)
        return True

    def put_back(self, parcels: Iterable[Parcel]) -> None:
        """Give back what was withdrawn, in the order it was; the lanes stay blocked."""
        for parcel in reversed(list(parcels)):
            lane = self._lanes.setdefault(parcel.entry.lane, _Lane(blocked=True))
            lane.parcels.appendleft(parcel)
            self._parcels[parcel.id] = parcel

    def is_blocked(self, parcel: Parcel) -> bool:
        """Tell whether a parcel's lane waits for the spool."""
        return self._lanes[parcel.entry.lane].blocked

    def blocked(self) -> list[str]:
        """Return the lanes that wait for the spool; looks at every lane."""
        return [name for name, lane in self._lanes.items() if lane.blocked]

    def unblock(self, names: Iterable[str]) -> None:
        """Let lanes go on, of which the spool holds nothing more."""
        for name in names:
            lane = self._lanes.get(name)
            if lane is not None:
                lane.blocked = False
                self._offer(lane)

    def _offer(self, lane: _Lane) -> None:
        if lane.flying or lane.blocked:
            return
        head = lane.parcels[0]
        if head.due:
            heapq.heappush(self._later, (head.due, head.id))
        else:
            heapq.heappush(self._ready, head.id)

    def _launch(self, parcel: Parcel) -> None:
        self._lanes[parcel.entry.lane].flying = True
        self._flying[parcel.id] = parcel

    def _land(self, parcel: Parcel) -> _Lane:
        lane = self._lanes[parcel.entry.lane]
        if self._flying.pop(parcel.id, None) is not None:
            lane.flying = False
        return lane

    def _pull(self, parcel: Parcel) -> None:
        lane = self._land(parcel)
        was_head = lane.parcels[0] is parcel
        del self._parcels[parcel.id]
        lane.parcels.remove(parcel)
        if was_head:
            self._tidy(parcel.entry.lane, lane)

    def _tidy(self, name: str, lane: _Lane) -> None:
        if lane.parcels:
            self._offer(lane)
        else:
            del self._lanes[name]

    def _is_head(self, parcel_id: int) -> bool:
        parcel = self._parcels.get(parcel_id)
        return parcel is not None and self._may_leave(parcel)

    def _may_leave(self, parcel: Parcel) -> bool:
        lane = self._lanes[parcel.entry.lane]
        return not lane.flying and not lane.blocked and lane.parcels[0] is parcel


def _is_past(due: float, now: float) -> bool:
    """Tell whether a time has come; one further ahead than any that is set means that the clock was turned back."""
    return due <= now or due > now + CLOCK_TOLERANCE
