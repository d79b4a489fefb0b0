"""``truewatch-lineage spark``: write Spark's settings, and check those that are there."""

from __future__ import annotations

from typing import Final

import click

from truewatch_lineage.cli.lazy import LazyGroup, Place

EPILOG: Final = """\b
Examples:
  truewatch-lineage spark conf --url https://openway.truewatch.com --token-file /etc/truewatch/token
  truewatch-lineage spark check spark-defaults.conf
"""
_HERE: Final = "truewatch_lineage_spark"
_PLACES: Final = {
    "conf": Place(f"{_HERE}.conf", "Write Spark's settings in the form that you need, never the token."),
    "check": Place(f"{_HERE}.lint.command", "Name what Spark or its listener would get wrong, by line, with the fix."),
}


@click.group("spark", cls=LazyGroup, places=_PLACES, epilog=EPILOG)
def command() -> None:
    """Write Spark's settings for OpenLineage's listener, and check those that are there."""
