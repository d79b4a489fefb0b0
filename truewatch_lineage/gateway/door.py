"""What stands between a client's bytes and the spool: an event that some destination takes, or a refusal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from truewatch_lineage.config import Settings
from truewatch_lineage.courier import binding_of
from truewatch_lineage.errors import EventError
from truewatch_lineage.events.validate import Finding, refusals
from truewatch_lineage.intake import Batch, Intake
from truewatch_lineage.serving.answers import Refusal

_SHOWN: Final = 20


class Door:
    """Lets events in that at least one of their destinations takes, or that none wants.

    Args:
        settings: The settings.
    """

    def __init__(self, settings: Settings) -> None:
        self._intake = Intake(settings)
        self._bindings = [binding_of(destination) for destination in settings.destinations]
        limits = (destination.profile.max_decoded for destination in settings.destinations)
        self._smallest_limit = min((limit for limit in limits if limit is not None), default=None)
        # Where no size is set the share grows with the disk's free space: what does not fit now may fit later.
        self._share = settings.spool_max_bytes and settings.spool_max_bytes // max(1, len(self._bindings))

    def enter(self, data: bytes, secrets: Iterable[str] = ()) -> Batch:
        """Prepare an event for each of its destinations.

        Args:
            data: Its JSON, decoded.
            secrets: Texts to mask in it: what the client authorised itself with.

        Returns:
            What is to be stored; nothing where no destination wants it.

        Raises:
            Refusal: 400 with JSON paths, or 413, where every destination that wants it would refuse it; 413 too where
                it could never be stored.
        """
        try:
            tree = self._intake.read(data)
            batch = self._intake.prepare(tree, self._bindings, secrets)
        except EventError as error:
            raise Refusal(400, "invalidEvent", self._intake.reason(error, secrets)) from None
        self._check_rules(tree, batch)
        self._check_size(batch)
        self._check_share(batch)
        return batch

    def tell_dead(self, batch: Batch) -> None:
        """Log what of an event is kept as a dead letter, once it is stored."""
        self._intake.tell_dead(batch)

    def _check_rules(self, tree: dict[str, Any], batch: Batch) -> None:
        found = [refusals(tree, kind) for kind in {entry.binding.kind for entry in batch.entries}]
        if found and all(found):
            raise Refusal(400, "refusedEvent", _in_words([finding for findings in found for finding in findings]))

    def _check_size(self, batch: Batch) -> None:
        """Refuse what is a dead letter for all since it is too large; what is one by our own fault is kept."""
        limit = self._smallest_limit
        too_large = limit is not None and batch.data is not None and len(batch.data) > limit
        reasons = [entry.dead for entry in batch.entries]
        if too_large and reasons and all(reasons):
            raise Refusal(413, "eventTooLarge", str(reasons[0]))

    def _check_share(self, batch: Batch) -> None:
        """Refuse what would not fit into an empty spool either: sent again, it would be refused for ever."""
        for entry in batch.entries:
            size = len(entry.body or b"")
            if self._share and entry.dead is None and size > self._share:
                raise Refusal(
                    413,
                    "eventTooLarge",
                    f"The event takes {size:,} bytes in the spool, and the share of {entry.binding.name} has "
                    f"{self._share:,}. Raise spool_max_bytes.",
                )


def _in_words(findings: Sequence[Finding]) -> str:
    texts = list(dict.fromkeys(f"{finding.path}: {finding.message}" for finding in findings))
    more = f" And {len(texts) - _SHOWN} more." if len(texts) > _SHOWN else ""
    return " ".join(texts[:_SHOWN]) + more
