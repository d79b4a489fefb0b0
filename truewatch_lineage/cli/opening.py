"""How commands open the spool: to deliver, or only to look."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from truewatch_lineage.cli.settings import load_settings
from truewatch_lineage.config import Settings
from truewatch_lineage.courier import binding_of, log
from truewatch_lineage.errors import SpoolError, TruewatchLineageError
from truewatch_lineage.spool import Binding, Store
from truewatch_lineage.spool.admin import names, unclaimed
from truewatch_lineage.spool.folder import owner_name
from truewatch_lineage.spool.opening import open_spool
from truewatch_lineage.spool.report import exists


def open_store(settings: Settings) -> Store:
    """Open the spool, made if it is missing, and note that its destinations have these settings now.

    Raises:
        SpoolError: It can't be used.
    """
    store = open_spool(settings)
    for destination in settings.destinations:
        store.register(binding_of(destination))
    return store


def tell_destinations(store: Store, settings: Settings) -> LeftAlone:
    """Log where events go, and warn of those that are left alone.

    Returns:
        What warns of those that come later.

    Raises:
        SpoolError: The spool can't be read.
    """
    for destination in settings.destinations:
        binding = binding_of(destination)
        log.info("Delivering from %s to %s (%s).", store.folder, binding.name, binding.url)
    left_alone = LeftAlone(store, settings)
    left_alone.tell()
    return left_alone


class LeftAlone:
    """Warns of events that nobody delivers by some settings: they are bound to another url, or another name.

    Args:
        store: The spool.
        settings: Those by which events are delivered.
    """

    def __init__(self, store: Store, settings: Settings) -> None:
        self._store = store
        self._bindings = [binding_of(destination) for destination in settings.destinations]
        self._told: set[Binding] = set()

    def tell(self) -> None:
        """Warn of each binding that holds such events, once.

        Raises:
            SpoolError: The spool can't be read.
        """
        for other in unclaimed(self._store, [*self._bindings, *self._told]):
            waiting = self._store.pending(other)
            if waiting:
                self._told.add(other)
                self._warn(other, waiting)

    def _warn(self, other: Binding, waiting: int) -> None:
        if other.name in {binding.name for binding in self._bindings}:
            fix = f"`truewatch-lineage spool rebind {other.name}` gives them to this one."
            log.warning("Events of %s bound to %s are left alone: %d. %s", other.name, other.url, waiting, fix)
        else:
            text = "Events of %s (%s) are left alone: %d. These settings have no destination of that name."
            log.warning(text, other.name, other.url, waiting)


def existing_store() -> AbstractContextManager[Store]:
    """Open the spool of the settings without any of a destination, for a ``with`` block; nothing is made.

    Raises:
        SpoolError: There is none, or it can't be used.
    """
    return existing_store_of(load_settings(need_destination=False))


@contextmanager
def existing_store_of(settings: Settings) -> Iterator[Store]:
    """As `existing_store`, of settings that are known.

    Raises:
        SpoolError: There is none, or it can't be used.
    """
    if not exists(settings.spool_dir):
        raise missing(settings.spool_dir)
    store = Store(settings.spool_dir, receipts_days=settings.receipts_days)
    try:
        yield store
    finally:
        store.close()


def known_destination(store: Store, name: str | None) -> None:
    """Check that the spool knows a destination, where one is named.

    Raises:
        TruewatchLineageError: It has none of that name; the known ones are named.
    """
    known = names(store)
    if name is not None and name not in known:
        raise unknown_destination("The spool has", name, known)


def unknown_destination(whose: str, name: str, known: Iterable[str]) -> TruewatchLineageError:
    """Make the error that says that a name is no destination's, and which names are.

    Args:
        whose: Who would have it, with its verb, such as ``The spool has``.
        name: What was given.
        known: What there is.
    """
    return TruewatchLineageError(
        f"{whose} no destination named {name}.", fix=f"Known are: {', '.join(known) or 'none'}."
    )


def missing(folder: Path) -> SpoolError:
    """Make the error that says that a folder holds no spool, and for whom."""
    what = "There is no spool: the folder holds none yet" if folder.exists() else "There is no spool: no such folder"
    return SpoolError(
        f"{what} (you are {user()}).",
        path=str(folder),
        fix="Nothing was emitted there yet, or another user emits, or with another spool_dir.",
    )


def user() -> str:
    """Name the user of this process."""
    return owner_name(os.geteuid()) if hasattr(os, "geteuid") else os.environ.get("USERNAME", "unknown")
