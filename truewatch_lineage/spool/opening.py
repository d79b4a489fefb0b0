"""The spool that settings describe."""

from __future__ import annotations

from truewatch_lineage.config import Settings
from truewatch_lineage.spool.store import Store


def open_spool(settings: Settings) -> Store:
    """Open the spool folder of some settings, made if it is missing.

    Args:
        settings: Its folder, size and durability, and the destinations that share it.

    Raises:
        SpoolUnusableError: If the folder can't hold a spool.
    """
    return Store(
        settings.spool_dir,
        durability=settings.durability,
        max_bytes=settings.spool_max_bytes,
        shares=len(settings.destinations),
        receipts_days=settings.receipts_days,
    )
