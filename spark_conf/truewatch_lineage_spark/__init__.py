"""Spark integration: settings that make OpenLineage's listener send to TrueWatch or Spotify Portal, without the token.

On the command line: ``truewatch-lineage spark conf`` and ``spark check``. In a program: `configure`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from truewatch_lineage_spark.session import configure

__all__ = ["configure"]


def __getattr__(name: str) -> Any:
    """Import what is asked for: the command line needs none of it."""
    if name != "configure":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415 - as above

    return import_module(f"{__name__}.session").configure
