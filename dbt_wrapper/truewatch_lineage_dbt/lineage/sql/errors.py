"""Why the lineage of a query is not known."""

from __future__ import annotations

from truewatch_lineage.errors import TruewatchLineageError


class UnreadableSqlError(TruewatchLineageError):
    """A query is in words that the parser does not know; its lineage stays that of tables."""
