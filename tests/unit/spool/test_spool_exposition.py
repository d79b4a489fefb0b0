"""A spool's status as metrics."""

from __future__ import annotations

from truewatch_lineage.serving.exposition import as_text
from truewatch_lineage.spool import Binding, Entry, Store
from truewatch_lineage.spool.exposition import metrics
from truewatch_lineage.spool.report import status

ONE = Binding('o"ne', "dataway", "http://127.0.0.1:9/v1")


def test_every_destination_has_its_counts_and_one_state(tmp_path):
    """Names of destinations are the user's, so that they may hold what ends a label."""
    store = Store(tmp_path / "spool", durability="process")
    store.put([Entry(ONE, "run:1", b"x"), Entry(ONE, "run:2", None, dead="no")])
    text = as_text(metrics(status(store)))
    store.close()
    assert "truewatch_lineage_pending 1\n" in text
    assert 'truewatch_lineage_destination_dead{destination="o\\"ne"} 1\n' in text
    assert 'truewatch_lineage_destination_state{destination="o\\"ne",state="ready"} 1\n' in text
    assert 'truewatch_lineage_destination_state{destination="o\\"ne",state="parked"} 0\n' in text
