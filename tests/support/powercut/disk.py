"""A disk with a cache that loses, tears and reorders: replays a record and rebuilds what may be left after a cut.

What was written to a file before its last sync is there. Of what came after, any 512-byte sector may be there or not,
whichever was written first. Names are there once their folder was synced; of the later ones a first part may be, since
file systems keep a journal of them. That is harsher than ext4, which also keeps the name of a file that was synced.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Final

from support.powercut.recorder import Record

SECTOR: Final = 512
_FOLDER: Final = -1
_Names = dict[str, int]


@dataclass
class _File:
    """A file: what is on the disk for sure, and what was asked for since."""

    durable: bytearray = field(default_factory=bytearray)
    pending: list[Record] = field(default_factory=list)

    def sync(self) -> None:
        self.durable = self._with(lambda _: 1.0, random.Random(0))
        self.pending.clear()

    def survivor(self, rng: random.Random) -> bytes:
        """Return one content that the file may have after a cut."""
        content = self._with(_style(len(self.pending), rng), rng)
        if rng.random() < 0.3:  # the size was written, the data was not
            ends = [step.offset + len(step.data) for step in self.pending if step.kind == "W"]
            content.extend(bytes(max(0, max(ends, default=0) - len(content))))
        return bytes(content)

    def _with(self, chance: Callable[[int], float], rng: random.Random) -> bytearray:
        content = bytearray(self.durable)
        for number, step in enumerate(self.pending):
            if step.kind == "W":
                _write(content, step, chance(number), rng)
            elif rng.random() < chance(number):
                _resize(content, step.offset)
        return content


def _style(steps: int, rng: random.Random) -> Callable[[int], float]:
    """Choose how the cache was written out: the chance of a step's sectors, by the step's number."""
    cut = rng.randint(0, steps)
    lucky = {number for number in range(steps) if rng.random() < 0.5}
    styles: list[Callable[[int], float]] = [
        lambda _: 0.0,
        lambda _: 1.0,
        lambda _: 0.5,  # torn
        lambda number: float(number in lucky),  # reordered
        lambda number: 0.5 if number == cut else float(number < cut),  # in order, the last one torn
        lambda number: float(number >= cut),  # the last ones first
    ]
    return rng.choice(styles)


def _write(content: bytearray, step: Record, chance: float, rng: random.Random) -> None:
    start, end = step.offset, step.offset + len(step.data)
    while start < end:
        stop = min(end, (start // SECTOR + 1) * SECTOR)
        if rng.random() < chance:
            _resize(content, max(len(content), stop))
            content[start:stop] = step.data[start - step.offset : stop - step.offset]
        start = stop


def _resize(content: bytearray, size: int) -> None:
    del content[size:]
    content.extend(bytes(size - len(content)))


class Disk:
    """The state of a disk while a record is replayed."""

    def __init__(self, root: Path) -> None:
        self._root = str(root)
        self._files: list[_File] = []
        self._by_inode: dict[int, _File] = {}
        self._names: _Names = {}
        self._pending: list[Record] = []  # on names
        self._created: dict[int, int] = {}  # by the id of a record

    def apply(self, step: Record) -> None:
        """Take the next step of the record."""
        if step.kind in "WT":
            self._by_inode[step.inode].pending.append(step)
        elif step.kind == "S":
            self._by_inode[step.inode].sync()
        elif step.kind == "D":
            self._sync_names(step.text)
        elif step.kind != "N":
            self._note_name(step)

    def rebuild(self, target: Path, rng: random.Random) -> None:
        """Make in ``target`` what the root may look like after a cut now."""
        names = dict(self._names)
        for step in self._pending[: rng.choice((0, rng.randint(0, len(self._pending))))]:
            self._rename(names, step)
        target.mkdir(exist_ok=True)
        for name in sorted(names, key=len):  # a folder before what is in it
            place = target / PurePath(name).relative_to(self._root)
            if not place.parent.is_dir():
                continue
            if names[name] == _FOLDER:
                place.mkdir(mode=0o700)
            else:
                place.touch(mode=0o600)
                place.write_bytes(self._content(name, self._files[names[name]], rng))

    @staticmethod
    def _content(name: str, file: _File, rng: random.Random) -> bytes:
        # What goes through shared memory is not recorded, and anything may be left of it.
        return rng.randbytes(32_768) if name.endswith("-shm") else file.survivor(rng)

    def _note_name(self, step: Record) -> None:
        if step.kind == "C":
            self._by_inode[step.inode] = _File()
            self._files.append(self._by_inode[step.inode])
            self._created[id(step)] = len(self._files) - 1
        self._pending.append(step)

    def _sync_names(self, folder: str) -> None:
        waiting, self._pending = self._pending, []
        for step in waiting:
            if str(PurePath(step.text.split("\0")[0]).parent) == folder:
                self._rename(self._names, step)
            else:
                self._pending.append(step)

    def _rename(self, names: _Names, step: Record) -> None:
        if step.kind == "U":
            names.pop(step.text, None)
        elif step.kind == "R":
            old, new = step.text.split("\0")
            names[new] = names.pop(old)
        else:
            names[step.text] = _FOLDER if step.kind == "M" else self._created[id(step)]
