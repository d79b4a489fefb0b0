"""The child of the power cut tests: works on a spool and notes what it was promised.

``workload.py ROOT NOTES power|process STEPS SEED [damage]``; each note is a JSON object of lists of ids: ``accepted``
(`put` has returned), ``delivered`` (about to be settled so); ``damage`` breaks a page half-way, and ``saved`` are the
ids of the spool at the end.
"""

from __future__ import annotations

import json
import os
import random
import sys
from pathlib import Path

from truewatch_lineage.spool import Binding, Entry, Settlement, Standing, Store

BINDINGS = (Binding("a", "dataway", "http://a/v1"), Binding("b", "portal", "http://b/v1"))
PAGE = 4096
TABLE_LEAF = 13


class Workload:
    """Works step by step, repeatably for a seed."""

    def __init__(self, folder: Path, notes: Path, durability: str, rng: random.Random) -> None:
        self.store = Store(folder, durability=durability)
        self.rng = rng
        self._notes = os.open(notes, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self._attempt = 0

    def note(self, **ids: list[int]) -> None:
        """Write down ids under a name."""
        os.write(self._notes, json.dumps(ids).encode())

    def step(self, number: int) -> None:
        """Put one to three events, and now and then settle, tidy up or close."""
        entries = [self._entry() for _ in range(self.rng.randint(1, 3))]
        self.note(accepted=[event for event in self.store.put(entries) if event is not None])
        if self.rng.random() < 0.4:
            self._settle(self.rng.choice(BINDINGS))
        if number % 17 == 16:
            self.store.tidy()
        if number % 29 == 28:
            self.store.close()

    def damage(self) -> None:
        """Break a page that holds rows, as a bad disk would."""
        self.store.tidy()
        self.store.close()
        handle = os.open(self.store.database.path, os.O_RDWR)
        pages = range(PAGE, os.fstat(handle).st_size, PAGE)
        leaves = [at for at in pages if os.pread(handle, 1, at) == bytes([TABLE_LEAF])]
        os.pwrite(handle, self.rng.randbytes(PAGE), self.rng.choice(leaves))
        os.fsync(handle)
        os.close(handle)

    def _entry(self) -> Entry:
        body = self.rng.randbytes(self.rng.choice((40, 900, 9000)))
        dead = "can't be sent" if self.rng.random() < 0.1 else None
        return Entry(self.rng.choice(BINDINGS), f"run:{self.rng.randint(1, 6)}", body, "START", "ns/job", None, dead)

    def _settle(self, binding: Binding) -> None:
        heads = self.store.heads(binding, 4)
        results = [(one, self.rng.choice(("delivered", "delivered", "wait", "dead"))) for one in heads]
        self._attempt += 1
        self.note(delivered=[one.id for one, result in results if result == "delivered"])
        settlements = [Settlement(one.id, self._attempt, result) for one, result in results]  # type: ignore[arg-type]
        self.store.settle(binding, settlements, Standing(attempts=self._attempt))


def main(root: str, notes: str, durability: str, steps: str, seed: str, damage: str = "") -> None:
    """Do the whole work."""
    workload = Workload(Path(root, "state", "spool"), Path(notes), durability, random.Random(int(seed)))
    for number in range(int(steps)):
        if damage and number == int(steps) // 2:
            workload.damage()
        workload.step(number)
    if damage:
        from support.spool_audit import audit  # noqa: PLC0415 - the tests' folder is on the path only then

        workload.note(saved=sorted(audit(workload.store).known))
    workload.store.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
