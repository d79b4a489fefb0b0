"""How pipelines end: at interpreter exit, in a forked child, and when nobody holds them any more."""

from __future__ import annotations

import atexit
import os
import time
import weakref
from typing import Any, Protocol

from truewatch_lineage.config import Settings
from truewatch_lineage.courier import Courier


class Ending(Protocol):
    """What ends."""

    settings: Settings

    def close(self, timeout: float) -> bool:
        """Deliver what is due for at most so many seconds."""

    def after_fork(self) -> None:
        """Forget in a child what belongs to the parent."""


_watched: weakref.WeakSet[Any] = weakref.WeakSet()
_orphans: list[Courier] = []
"""Couriers whose pipelines were dropped without a close and that still deliver for a while."""


def watch(pipeline: Ending) -> None:
    """Close a pipeline at exit, all of them within one ``exit_budget``, and tell it in a child that it was forked."""
    _watched.add(pipeline)


def adopt_when_dropped(pipeline: Ending, courier: Courier, budget: float) -> None:
    """Let a pipeline's threads deliver for ``budget`` seconds once it is dropped, and then end, so that none leaks."""
    _orphans[:] = [orphan for orphan in _orphans if not orphan.has_ended()]
    weakref.finalize(pipeline, _adopt, courier, budget).atexit = False


def _adopt(courier: Courier, budget: float) -> None:
    # Called by the garbage collector, in the middle of anything: nothing here takes a lock.
    courier.finish(budget)
    _orphans.append(courier)


def _close_all() -> None:
    pipelines = list(_watched)
    deadline = time.monotonic() + max((one.settings.exit_budget for one in pipelines), default=0.0)
    for pipeline in pipelines:
        pipeline.close(max(0.0, deadline - time.monotonic()))
    for courier in _orphans:
        courier.stop()


def _after_fork() -> None:
    _orphans.clear()
    for pipeline in list(_watched):
        pipeline.after_fork()


atexit.register(_close_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
