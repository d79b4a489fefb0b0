"""What dbt's plugin manager finds by its name: records each run of dbt, if ``TRUEWATCH_LINEAGE_DBT_PLUGIN=1``.

dbt imports every top-level module whose name begins with ``dbt_`` and asks it for ``plugins``, in each invocation; so
nothing is imported here, and nothing is answered, unless the variable says so.
"""

from __future__ import annotations

import os
from typing import Any


def __getattr__(name: str) -> Any:
    """Answer ``plugins`` where the plugin is switched on, at the time dbt asks."""
    if name == "plugins" and os.environ.get("TRUEWATCH_LINEAGE_DBT_PLUGIN", "").strip().lower() in {"1", "true", "yes"}:
        from truewatch_lineage_dbt.dbt_plugin import TrueWatchLineagePlugin  # noqa: PLC0415 - see the module

        return [TrueWatchLineagePlugin]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
