"""Filling the store from files, before the receiver serves: whatever has an event's kind is taken, and judged later."""

from __future__ import annotations

import itertools
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from truewatch_lineage.errors import ConfigError
from truewatch_lineage.receiver.arrival import Arrival
from truewatch_lineage.receiver.checks import check, kind_of
from truewatch_lineage.receiver.parsing import parse
from truewatch_lineage.receiver.rules import FILE
from truewatch_lineage.receiver.store import MAX_BATCH, Store
from truewatch_lineage.serving.answers import Refusal


@dataclass(frozen=True, slots=True)
class Item:
    """One value of a file.

    Attributes:
        where: ``file:line``.
        data: Its JSON, or None where it can't be read.
        problem: Why not, or None.
    """

    where: str
    data: bytes | None
    problem: str | None = None


def load(store: Store, items: Iterable[Item], tell: Callable[[str], None]) -> tuple[int, int]:
    """Keep the events of files.

    They need no more than the objects run and job, or job, or dataset: what each destination would refuse of them is in
    their verdicts.

    Args:
        store: Where to.
        items: What the files hold.
        tell: Is called with a line for each item that is no event.

    Returns:
        How many were taken, and how many not.

    Raises:
        ConfigError: The store can't be written.
    """
    counts = {"taken": 0, "left": 0}
    arrivals = _arrivals(items, tell, counts)
    while batch := list(itertools.islice(arrivals, MAX_BATCH)):
        try:
            store.fill(batch)
        except sqlite3.Error as error:
            raise ConfigError(f"The receiver can't write {store.path}: {error}.", key="--load") from error
        counts["taken"] += len(batch)
    return counts["taken"], counts["left"]


def _arrivals(items: Iterable[Item], tell: Callable[[str], None], counts: dict[str, int]) -> Iterator[Arrival]:
    for item in items:
        try:
            yield _arrival(item)
        except Refusal as refusal:
            counts["left"] += 1
            tell(f"{item.where}: {refusal.message}")


def _arrival(item: Item) -> Arrival:
    if item.data is None:
        raise Refusal(400, "unreadable", item.problem or "it can't be read")
    if len(item.data) > FILE.max_decoded:
        raise Refusal(413, "eventTooLarge", f"$: is larger than {FILE.max_decoded} bytes.")
    tree = parse(item.data)
    if kind_of(tree) is None:
        raise Refusal(400, "unknownEvent", _NO_KIND)
    findings = [finding for finding in check(tree, FILE, strict=False) if not finding.error]
    return Arrival.of(FILE.name, item.data, tree, findings)


_NO_KIND: Final = "$: needs the objects run and job, or job, or dataset at the top level."
