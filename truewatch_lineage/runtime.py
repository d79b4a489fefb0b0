"""What one process needs to store and deliver events, and how it delivers them."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from truewatch_lineage.config import Settings
from truewatch_lineage.courier import Courier
from truewatch_lineage.direct import Direct
from truewatch_lineage.errors import SpoolBusyError, SpoolError
from truewatch_lineage.notices import Notices
from truewatch_lineage.program import runs_in_airflow
from truewatch_lineage.spool import Binding, Store
from truewatch_lineage.spool.opening import open_spool

CONNECTIONS: Final = 8
"""Attempts in flight at most in a job, for a destination that sets no ``concurrency``."""

POLL_SECONDS: Final = 1.0
REOPEN_SECONDS: Final = 5.0
"""After how long a process whose spool could not be opened tries again."""

_IMPORTED_IN: Final = os.getpid()


@dataclass(frozen=True, slots=True)
class Runtime:
    """The open parts of one process; a forked child makes its own.

    Attributes:
        pid: The process.
        store: The spool, or None where it can't be used.
        courier: Delivers from the spool; None where that is left to another process, or there is no spool.
        direct: Delivers without the spool.
        background: Whether the courier runs in threads of its own.
        made: When it was made, by ``time.monotonic()``.
    """

    pid: int
    store: Store | None
    courier: Courier | None
    direct: Direct
    background: bool
    made: float

    def is_current(self) -> bool:
        """Tell whether it belongs to this process, and is not one without a spool that is due for another try."""
        lacks_spool = self.store is None and time.monotonic() - self.made > REOPEN_SECONDS
        return self.pid == os.getpid() and not lacks_spool


def start(
    settings: Settings, bindings: Sequence[Binding], notices: Notices, *, inline: bool, last: Runtime | None
) -> Runtime:
    """Open the spool and begin to deliver.

    Args:
        settings: The settings.
        bindings: Of the settings' destinations, in their order.
        notices: Where a spool that can't be used is told.
        inline: Start no threads, whatever the settings say.
        last: This process's, which had no spool; what it knows of destinations that do not answer is kept.
    """
    store = _open(settings, bindings, notices)
    courier, background = None, False
    if store is not None and settings.delivery != "spool":
        wanted = settings.delivery == "background" or (settings.delivery == "auto" and not ends_abruptly())
        # Threads get a connection of their own, so that they read and settle while an emit waits for the disk.
        own = _open(settings, bindings, notices) if wanted and not inline else None
        courier = Courier(own or store, settings.destinations, connections=CONNECTIONS)
        background = own is not None and _started(courier)
    direct = last.direct if last else Direct(dict(zip(bindings, settings.destinations, strict=True)))
    return Runtime(os.getpid(), store, courier, direct, background, time.monotonic())


def ends_abruptly() -> bool:
    """Tell whether this process may end without running exit handlers, so that a thread of ours would not be awaited.

    A forked child, a child of multiprocessing, and Airflow's tasks end by ``os._exit``.
    """
    processes = sys.modules.get("multiprocessing.process")
    spawned = processes is not None and processes.parent_process() is not None
    return spawned or os.getpid() != _IMPORTED_IN or runs_in_airflow()


def _open(settings: Settings, bindings: Sequence[Binding], notices: Notices) -> Store | None:
    try:
        store = open_spool(settings)
        with contextlib.suppress(SpoolBusyError):  # a spool that is locked now is one all the same
            for binding in bindings:
                store.register(binding)
    except SpoolError as error:
        notices.warning("spool", "Lineage is sent directly, without a spool: %s", error)
        return None
    return store


def _started(courier: Courier) -> bool:
    try:
        courier.start(poll=POLL_SECONDS)
    except RuntimeError:  # at interpreter exit no thread can be started
        return False
    return True
