"""Projection: what TrueWatch makes of an event, as flat records.

T: "source identifies the original OpenLineage event type; lineage_record_type identifies the record TrueWatch
projected from that event. … one RunEvent can produce multiple records, all with source=run_event." Start reading at
``records.py``; ``fields.py`` is the table of what each field holds.
"""

from truewatch_lineage.receiver.projection.memory import Projector
from truewatch_lineage.receiver.projection.records import (
    MAX_RECORDS,
    RECORD_TYPES,
    SOURCES,
    Projection,
    ingest_error,
    project,
)

__all__ = ["MAX_RECORDS", "RECORD_TYPES", "SOURCES", "Projection", "Projector", "ingest_error", "project"]
