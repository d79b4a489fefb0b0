"""A refused event as the log names it."""

from __future__ import annotations

import gzip
import zlib
from dataclasses import dataclass
from typing import Final

from truewatch_lineage.errors import EventError
from truewatch_lineage.events.model import identify
from truewatch_lineage.spool import Queued
from truewatch_lineage.words import printable

_LONGEST: Final = 1000


@dataclass(frozen=True, slots=True)
class Refused:
    """An event that was refused; it is read only where it is put in words, since most are not told.

    Attributes:
        event: As it was tried.
        kind: Of the destination.
        place: Where people find it.
        reason: What the destination said.
    """

    event: Queued
    kind: str
    place: str
    reason: str | None

    def __str__(self) -> str:
        """Return the job, the lane, the place, the reason, and by JSON path what is wrong with it."""
        job, faults = self._read()
        about = f"job {printable(job)}, " if job else ""
        return f"{self.reason} ({about}lane {printable(self.event.lane)}, {self.place}){printable(faults, _LONGEST)}"

    def _read(self) -> tuple[str | None, str]:
        from truewatch_lineage.events.faults import faults_in_words  # noqa: PLC0415 - few jobs ever need it
        from truewatch_lineage.events.serialise import to_tree  # noqa: PLC0415

        try:
            tree = to_tree(gzip.decompress(self.event.body))
        except (OSError, EOFError, zlib.error, EventError):  # damaged, which the reason says
            return None, ""
        identity = identify(tree)
        return identity.job or identity.dataset, faults_in_words(tree, self.kind)
