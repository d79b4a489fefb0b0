"""From what ``emit()`` is given to what the spool stores: redact, then for each destination match, map, serialise."""

from __future__ import annotations

import gzip
import logging
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from truewatch_lineage.config import DestinationSettings, Settings
from truewatch_lineage.errors import EventError, TokenError
from truewatch_lineage.events.model import Identity, identify, without_lone_surrogates
from truewatch_lineage.events.redact import Redactor
from truewatch_lineage.events.serialise import dumps, normalise, to_tree
from truewatch_lineage.spool import Binding, Entry

log = logging.getLogger(__name__)

_GZIP_LEVEL: Final = 1


@dataclass(slots=True)
class Batch:
    """An event's way to each of its destinations.

    Attributes:
        entries: What is to be stored, dead letters among them.
        skipped: Destinations that take no events of its kind.
    """

    entries: list[Entry] = field(default_factory=list)
    skipped: list[Binding] = field(default_factory=list)


class Intake:
    """Prepares events for the spool.

    Args:
        settings: The settings; the order of destinations is kept.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._redactor = Redactor(settings.redact, self._secrets)

    def accept(self, event: object, bindings: list[Binding]) -> Batch:
        """Prepare one event.

        Args:
            event: An OpenLineage event object, a mapping, or JSON as text or bytes.
            bindings: The bindings of the settings' destinations, in their order.

        Returns:
            What is to be stored; an event that can't be sent is a dead letter with the reason, not an error.
        """
        batch = Batch()
        try:
            tree = normalise(to_tree(event))
            data = dumps(tree)
            masked = self._redactor.apply(tree, data)
        except EventError as error:
            log.warning("An event can't be sent and is kept as a dead letter: %s", error)
            batch.entries = [_dead(binding, Identity(), None, error) for binding in bindings]
            return batch
        identity = identify(masked)
        data = data if masked is tree else dumps(masked)
        for destination, binding in zip(self._settings.destinations, bindings, strict=True):
            self._prepare(batch, destination, binding, identity, masked, data)
        return batch

    def _prepare(
        self,
        batch: Batch,
        destination: DestinationSettings,
        binding: Binding,
        identity: Identity,
        tree: dict[str, Any],
        data: bytes,
    ) -> None:
        if destination.match is not None and not destination.match.wants(identity, tree):
            return
        if identity.kind is not None and identity.kind not in destination.profile.accepts:
            batch.skipped.append(binding)
            return
        try:
            body = _fit(destination, tree, data)
        except EventError as error:
            log.warning("An event for %s can't be sent and is kept as a dead letter: %s", destination.name, error)
            batch.entries.append(_dead(binding, identity, compress(data), error))
            return
        batch.entries.append(
            Entry(binding, identity.lane, compress(body), identity.event_type, _about(identity), identity.run_id)
        )

    def _secrets(self) -> Iterator[str]:
        for destination in self._settings.destinations:
            if destination.token_source is None:
                continue
            try:
                token = destination.token_source.known()
            except TokenError:  # the sender will say so when it needs it
                continue
            if token is not None:
                yield token.reveal()


def compress(data: bytes) -> bytes:
    """Return gzip without a time stamp, so that equal events are equal bytes."""
    return gzip.compress(data, _GZIP_LEVEL, mtime=0)


def _fit(destination: DestinationSettings, tree: dict[str, Any], data: bytes) -> bytes:
    """Change names, facets and schemaURL as the destination wants them, and keep its limit.

    Raises:
        EventError: If the event is above the limit and may not or can't be trimmed.
    """
    changed, profile = tree, destination.profile
    if destination.mapper is not None:
        changed = destination.mapper.apply(changed)
    if destination.exclude_facets:
        from truewatch_lineage.events.trim import exclude  # noqa: PLC0415 - 3 ms that few destinations need

        changed = exclude(changed, destination.exclude_facets)
    if profile.schema_url is not None:
        changed = {**changed, "schemaURL": profile.schema_url}
    if changed is not tree:
        data = dumps(changed)
    if profile.max_decoded is None or len(data) <= profile.max_decoded:
        return data
    if destination.oversize == "reject":
        raise EventError(
            f"The event has {len(data):,} bytes, and {profile.label} takes {profile.max_decoded:,} at most.",
            fix="Leave out large facets by exclude_facets, or set oversize to trim.",
        )
    from truewatch_lineage.events.trim import trim  # noqa: PLC0415 - 3 ms that few events need

    return dumps(trim(changed, profile.max_decoded, len(data)))


def _dead(binding: Binding, identity: Identity, body: bytes | None, error: EventError) -> Entry:
    reason = without_lone_surrogates(str(error))  # its path may hold a key of the event
    return Entry(binding, identity.lane, body, identity.event_type, _about(identity), identity.run_id, dead=reason)


def _about(identity: Identity) -> str | None:
    return identity.job or identity.dataset
