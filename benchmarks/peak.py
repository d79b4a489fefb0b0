"""The memory of a process and all below it, watched while it runs."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from pathlib import Path

SAMPLE_SECONDS = 0.05


class Peak:
    """Watches what the processes below one hold of memory, each shared page by its share."""

    def __init__(self, root: int) -> None:
        self._root = root
        self._most = 0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()

    def stop(self) -> int:
        """End, and return the most bytes that were seen."""
        self._stop.set()
        self._thread.join()
        return self._most

    def _watch(self) -> None:
        while not self._stop.wait(SAMPLE_SECONDS):
            self._most = max(self._most, sum(_pss(pid) for pid in _below(self._root)))


def _below(root: int) -> Iterator[int]:
    yield root
    for listing in Path(f"/proc/{root}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            for pid in listing.read_text().split():
                yield from _below(int(pid))


def _pss(pid: int) -> int:
    with contextlib.suppress(OSError, StopIteration):
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        return int(next(line for line in lines if line.startswith("Pss:")).split()[1]) * 1024
    return 0
