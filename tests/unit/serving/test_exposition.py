"""Metrics as Prometheus reads them."""

from __future__ import annotations

from truewatch_lineage.serving.exposition import Metric, as_text


def test_a_metric_has_its_help_its_type_and_a_line_each_sample():
    """The three kinds of lines stand in the order that the format asks for."""
    text = as_text([Metric("requests_total", "counter", "Requests.", [({"path": "/a", "status": "200"}, 3)])])
    assert text == (
        '# HELP requests_total Requests.\n# TYPE requests_total counter\nrequests_total{path="/a",status="200"} 3\n'
    )


def test_what_would_end_a_label_or_a_line_is_escaped():
    """A destination's name may be anything."""
    text = as_text([Metric("state", "gauge", "One\nline \\ .", [({"destination": 'a"b\\c\nd'}, 1)])])
    assert text.splitlines() == [
        "# HELP state One\\nline \\\\ .",
        "# TYPE state gauge",
        'state{destination="a\\"b\\\\c\\nd"} 1',
    ]


def test_a_metric_without_labels_has_no_braces():
    """The usual form of a single value."""
    assert as_text([Metric.single("up", "gauge", "Runs.", 1)]).splitlines()[-1] == "up 1"
