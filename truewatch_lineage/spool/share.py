"""How many bytes of bodies a destination may have in the spool."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Final

from truewatch_lineage.protocol import MIB
from truewatch_lineage.spool import receipts
from truewatch_lineage.spool.folder import FILE_NAME
from truewatch_lineage.spool.interval import Interval

LARGEST_DEFAULT: Final = 1024 * MIB
DEAD_PART: Final = 4
"""Dead letters keep their bodies up to a quarter of a destination's share."""

LEAST_RECEIPTS: Final = 10_000
RECOUNT_SECONDS: Final = 60.0


class Share:
    """One of the equal shares of a spool.

    Where no size was set it is cut from min(1 GiB, 10 % of what the disk has free or the spool has taken), which is
    looked up again when something does not fit: the disk may have been full when the process began.

    Args:
        folder: The spool's folder.
        max_bytes: The size of all shares, or None.
        shares: How many there are.
        clock: In seconds.
    """

    def __init__(self, folder: Path, max_bytes: int | None, shares: int, clock: Callable[[], float]) -> None:
        self._folder = folder
        self._max_bytes = max_bytes
        self._shares = max(shares, 1)
        self._recounts = Interval(RECOUNT_SECONDS, clock)
        self.size = self._count()

    @property
    def total(self) -> int:
        """Return the size of all shares together, in bytes."""
        return self.size * self._shares

    @property
    def receipts(self) -> int:
        """Return how many receipts may stay: as many as take as much room as dead letters may, on top of the shares."""
        return max(LEAST_RECEIPTS, self.total // DEAD_PART // receipts.BYTES)

    def holds(self, size: int) -> bool:
        """Tell whether a destination's bodies of ``size`` bytes in all fit."""
        if size > self.size and not self._max_bytes and self._recounts.is_due():
            self.size = self._count()
        return size <= self.size

    def holds_dead(self, size: int) -> bool:
        """Tell whether bodies of dead letters of ``size`` bytes in all fit into their part of the share."""
        return self.holds(size * DEAD_PART)

    def _count(self) -> int:
        return (self._max_bytes or self._default()) // self._shares

    def _default(self) -> int:
        taken = 0
        for name in (FILE_NAME, f"{FILE_NAME}-wal"):
            with contextlib.suppress(FileNotFoundError):
                taken += (self._folder / name).stat().st_size
        return min(LARGEST_DEFAULT, (shutil.disk_usage(self._folder).free + taken) // 10)
