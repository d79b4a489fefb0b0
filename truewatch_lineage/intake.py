"""From what ``emit()`` is given to what the spool stores: redact, then for each destination match, map, serialise."""

from __future__ import annotations

import gzip
import logging
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from truewatch_lineage.config import DestinationSettings, Settings
from truewatch_lineage.destinations.known_tokens import KnownTokens
from truewatch_lineage.errors import EventError
from truewatch_lineage.events.model import Identity, identify, without_lone_surrogates
from truewatch_lineage.events.redact import Redactor
from truewatch_lineage.events.serialise import dumps, normalise, to_tree
from truewatch_lineage.notices import Notices
from truewatch_lineage.spool import Binding, Entry
from truewatch_lineage.words import printable

log = logging.getLogger(__name__)

_GZIP_LEVEL: Final = 1
_LONGEST_REASON: Final = 1000


@dataclass(slots=True)
class Batch:
    """An event's way to each of its destinations.

    Attributes:
        entries: What is to be stored, dead letters among them.
        skipped: Destinations that take no events of its kind.
        data: Its JSON, mended and masked, before any destination's own changes; None if it could not be read.
    """

    entries: list[Entry] = field(default_factory=list)
    skipped: list[Binding] = field(default_factory=list)
    data: bytes | None = None
    _packed: bytes | None = None

    def packed(self) -> bytes:
        """Return `data` gzipped, made once for all destinations that take it as it is."""
        if self._packed is None:
            self._packed = compress(self.data or b"")
        return self._packed


class Intake:
    """Prepares events for the spool.

    Args:
        settings: The settings; the order of destinations is kept.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._notices = Notices(log)
        sources = (destination.token_source for destination in settings.destinations)
        self._tokens = KnownTokens([source for source in sources if source is not None])
        # Who leaves delivery to a courier needs no token, and may not be able to have one.
        self._patience = None if settings.delivery == "spool" else settings.delivery_budget
        self._redactor = Redactor(settings.redact, lambda: self._tokens)

    def accept(self, event: object, bindings: list[Binding], secrets: Iterable[str] = ()) -> Batch:
        """Prepare one event.

        Args:
            event: An OpenLineage event object, a mapping, or JSON as text or bytes.
            bindings: The bindings of the settings' destinations, in their order.
            secrets: Texts to be masked in this event, besides those that are always.

        Returns:
            What is to be stored; an event that can't be sent is a dead letter with the reason, not an error.
        """
        try:
            batch = self.prepare(self.read(event), bindings, secrets)
        except Exception as error:  # noqa: BLE001 - an outermost guard: whatever is wrong, the event is to be counted
            reason = self.reason(error, secrets)
            self._notices.warning("event", "An event can't be sent and is kept as a dead letter: %s", reason)
            return Batch([_dead(binding, Identity(), None, reason) for binding in bindings])
        self.tell_dead(batch)
        return batch

    def read(self, event: object) -> dict[str, Any]:
        """Return an event as a tree, mended as far as is allowed.

        Args:
            event: As `accept` takes it.

        Raises:
            EventError: It is none of these, or no strict JSON.
        """
        self._tokens.learn(self._patience)  # before anything can fail: the reason is masked too
        return normalise(to_tree(event))

    def prepare(self, tree: dict[str, Any], bindings: list[Binding], secrets: Iterable[str] = ()) -> Batch:
        """Prepare an event that `read` returned; nothing is logged, since whoever asks may refuse it yet.

        Args:
            tree: The event.
            bindings: As of `accept`.
            secrets: As of `accept`.

        Raises:
            EventError: It can't be written as JSON; for what only one destination can't take there is a dead letter.
        """
        data = dumps(tree)
        masked = self._redactor.apply(tree, data, secrets)
        batch = Batch(data=data if masked is tree else dumps(masked))
        identity = identify(masked)
        for destination, binding in zip(self._settings.destinations, bindings, strict=True):
            self._prepare(batch, destination, binding, identity, masked)
        return batch

    def tell_dead(self, batch: Batch) -> None:
        """Log what of an event is kept as a dead letter."""
        text = "An event for %s (%s) can't be sent and is kept as a dead letter: %s"
        for entry in batch.entries:
            if entry.dead is not None:
                name, about = entry.binding.name, ", ".join(printable(one) for one in (entry.job, entry.lane) if one)
                self._notices.warning(f"event {name}", text, name, about, entry.dead)

    def _prepare(
        self,
        batch: Batch,
        destination: DestinationSettings,
        binding: Binding,
        identity: Identity,
        tree: dict[str, Any],
    ) -> None:
        data = batch.data or b""
        try:
            if destination.match is not None and not destination.match.wants(identity, tree):
                return
            if identity.kind is not None and identity.kind not in destination.profile.accepts:
                batch.skipped.append(binding)
                return
            body = _fit(destination, tree, data)
        except Exception as error:  # noqa: BLE001 - an outermost guard: the other destinations still get the event
            batch.entries.append(_dead(binding, identity, batch.packed(), self.reason(error)))
            return
        packed = batch.packed() if body is data else compress(body)
        batch.entries.append(
            Entry(binding, identity.lane, packed, identity.event_type, _about(identity), identity.run_id)
        )

    def mask(self, data: bytes) -> bytes:
        """Mask in bytes that are no event what would be masked in one's text."""
        try:
            return self._redactor.value(data.decode("utf-8")).encode("utf-8")
        except UnicodeDecodeError:  # latin-1 takes every byte and gives each back
            return self._redactor.value(data.decode("latin-1")).encode("latin-1")

    def reason(self, error: Exception, secrets: Iterable[str] = ()) -> str:
        """Say why an event can't be sent; the event's own keys stand in an error's path, so it is masked as the event.

        Another error's text may quote anything, so only its class is told.
        """
        if not isinstance(error, EventError):
            return f"A fault of truewatch-lineage or of the event's own code: {type(error).__name__}."
        reason = without_lone_surrogates(self._redactor.text(str(error), secrets))
        return reason if len(reason) <= _LONGEST_REASON else f"{reason[:_LONGEST_REASON]}…"


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


def _dead(binding: Binding, identity: Identity, body: bytes | None, reason: str) -> Entry:
    return Entry(binding, identity.lane, body, identity.event_type, _about(identity), identity.run_id, dead=reason)


def _about(identity: Identity) -> str | None:
    return identity.job or identity.dataset
