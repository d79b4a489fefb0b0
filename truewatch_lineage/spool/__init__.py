"""The spool: where an event waits, durably, until it is delivered. Start at `store`."""

from truewatch_lineage.spool.records import Binding, Entry, Queued, Settlement, Standing
from truewatch_lineage.spool.store import Store

__all__ = ["Binding", "Entry", "Queued", "Settlement", "Standing", "Store"]
