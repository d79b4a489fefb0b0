"""Findings: what a destination would say about an event."""

from __future__ import annotations

import pytest
from support.events import RUN_ID, parsed, recorded, tree

from truewatch_lineage import protocol
from truewatch_lineage.events.serialise import to_tree
from truewatch_lineage.events.validate import refusals, validate, validate_many

ALL = ("dataway", "datakit", "portal", "openlineage")
E, W = "error", "warning"
FACET = {"_producer": "https://x", "_schemaURL": "https://x/y"}

# event, path, what dataway, portal and openlineage each say (None: nothing)
ROWS = [
    (tree(eventTime=...), "$.eventTime", E, E, E),
    (tree(eventTime=5), "$.eventTime", E, E, E),
    (tree(eventTime="yesterday"), "$.eventTime", E, E, E),
    (tree(eventTime="2026-11-03"), "$.eventTime", E, E, E),
    (tree(eventTime="2026-13-03T10:00:00Z"), "$.eventTime", E, E, E),
    (tree(eventTime="2026-11-03T10:53:52.427343"), "$.eventTime", W, E, W),
    (tree(eventTime="2026-W10-2T10:00"), "$.eventTime", W, E, W),
    (tree(producer=...), "$.producer", E, E, E),
    (tree(producer=""), "$.producer", W, W, W),
    (tree(producer="me"), "$.producer", W, W, W),
    (tree(schemaURL=...), "$.schemaURL", W, W, W),
    (tree(schemaURL=None), "$.schemaURL", W, W, W),
    (tree(schemaURL=5), "$.schemaURL", E, W, E),
    (tree(eventType=...), "$.eventType", W, E, W),
    (tree(eventType="complete"), "$.eventType", W, W, W),
    (tree(eventType="DONE"), "$.eventType", W, E, W),
    (tree(eventType=5), "$.eventType", E, E, E),
    (tree(run=...), "$.run", None, None, None),
    (tree(run={}), "$.run.runId", E, E, E),
    (tree(run={"runId": RUN_ID.replace("-", "")}), "$.run.runId", W, W, W),
    (tree(run={"runId": RUN_ID.upper()}), "$.run.runId", None, None, None),
    (tree(job=...), "$", E, E, E),
    (tree(job={"namespace": "n"}), "$.job.name", E, E, E),
    (tree(job={"namespace": "", "name": "j"}), "$.job.namespace", W, W, W),
    (tree(inputs=None), "$.inputs", W, W, W),
    (tree(inputs={}), "$.inputs", E, W, E),
    (tree(inputs=["x"]), "$.inputs[0]", E, W, E),
    (tree(outputs=[{"namespace": "n", "name": None}]), "$.outputs[0].name", W, W, E),
    (tree(run={"runId": RUN_ID, "facets": None}), "$.run.facets", W, W, W),
    (tree(run={"runId": RUN_ID, "facets": []}), "$.run.facets", E, W, E),
    (tree(run={"runId": RUN_ID, "facets": {"a b": None}}), "$.run.facets['a b']", W, W, W),
    (tree(run={"runId": RUN_ID, "facets": {"x": {}}}), "$.run.facets.x", W, W, W),
    (tree(inputs=[{"namespace": "n", "name": "i", "inputFacets": {"x": 3}}]), "$.inputs[0].inputFacets.x", W, W, W),
    (tree(run={"runId": RUN_ID, "facets": {"x": {**FACET, "t": "x" * 8_500_000}}}), "$", W, None, None),
    (tree(producer="https://x/" + "x" * 8_500_000), "$", E, None, None),
    (tree(run=..., job=..., eventType=..., dataset={"name": "t"}), "$.dataset.namespace", E, None, E),
    (tree(run=..., eventType=..., job={"name": "t"}), "$.job.namespace", E, None, E),
    (tree(big=10**4300), "$.big", E, E, E),
]


@pytest.mark.parametrize(("event", "path", "dataway", "portal", "openlineage"), ROWS)
def test_fault_is_an_error_only_where_a_rule_is_broken(event, path, dataway, portal, openlineage):
    """Each fault is named by path, as an error or a warning by the destination's own rules."""
    for kind, severity in zip(ALL, (dataway, dataway, portal, openlineage), strict=True):
        found = {finding.severity for finding in validate(event, kind) if finding.path == path}
        assert found == ({severity} if severity else set()), kind


@pytest.mark.parametrize(("oversize", "severity"), [("trim", W), ("reject", E)])
def test_what_is_too_large_is_an_error_where_it_will_not_be_trimmed(oversize, severity):
    """The size is told as in all messages."""
    event = tree(run={"runId": RUN_ID, "facets": {"x": {**FACET, "t": "x" * 8_500_000}}})

    (finding,) = validate(event, "dataway", oversize)

    assert finding.severity == severity
    assert ("will be trimmed" in finding.message) == (oversize == "trim")
    assert "bytes, above 8,388,608" in finding.message


@pytest.mark.parametrize("kind", ["dataway", "datakit", "openlineage"])
def test_the_seeds_example_has_no_finding(kind):
    """A valid event has neither errors nor warnings."""
    assert validate(tree(), kind) == []


def test_portals_own_schema():
    """Portal's page asks for one schemaURL; another is replaced on the way, which is a warning."""
    assert validate(tree(schemaURL=protocol.PORTAL_SCHEMA_URL), "portal") == []
    assert [finding.severity for finding in validate(tree(), "portal")] == ["warning"]


@pytest.mark.parametrize("event", [[], "x", None, 5])
@pytest.mark.parametrize("kind", ALL)
def test_what_is_no_object_is_one_error(event, kind):
    """An array or scalar is refused with the page's sentence."""
    (finding,) = validate(event, kind)
    assert (finding.severity, finding.path) == ("error", "$")
    assert "JSON arrays" in finding.rule


@pytest.mark.parametrize("event", [tree(run=...), tree(run=..., job=..., dataset={"namespace": "n", "name": "t"})])
def test_portal_skips_other_kinds(event):
    """Portal takes run events only; others are one warning, whatever else they lack."""
    (finding,) = validate({**event, "producer": None}, "portal")
    assert finding.severity == "warning"
    assert finding.message.startswith("Skipped")


def test_every_finding_quotes_its_rule():
    """A finding tells which sentence it comes from, and shows no value of the event."""
    for event, *_ in ROWS:
        for kind in ALL:
            for finding in validate(event, kind):
                assert finding.rule.startswith(("TrueWatch:", "Portal:", "OpenLineage specification", "RFC"))
                assert finding.message.endswith(".")


def test_recorded_events_have_no_error():
    """Every event of the recorded runs is one that TrueWatch takes as it is."""
    for where, line in recorded():
        for kind in ALL:
            errors = [finding for finding in validate(to_tree(line), kind) if finding.severity == "error"]
            assert errors == [], where


def test_recorded_runs_keep_one_job():
    """No recorded run changes its job."""
    assert validate_many(parsed(line) for _, line in recorded()) == []


def test_run_with_two_jobs_is_named():
    """T: "Events for the same run must keep the same runId, job.namespace, and job.name"."""
    other = tree(job={"namespace": "ns", "name": "other"})
    (finding,) = validate_many([tree(), [], tree(), other, {"job": {}}])
    assert (finding.severity, finding.path) == ("warning", "$[3].job")
    assert "ns/other here, ns/job before" in finding.message


def test_unknown_kind_is_a_programming_error():
    """A kind that does not exist is not silently taken for another."""
    with pytest.raises(KeyError):
        validate({}, "nowhere")


@pytest.mark.parametrize("kind", ["dataway", "datakit", "portal", "openlineage"])
def test_refusals_are_the_errors_alone(kind):
    """What stands at the gateway's door asks for no warnings, and finds the same errors."""
    broken = [tree(), {}, {**tree(), "inputs": 1}, {**tree(), "eventTime": "now"}, {**tree(), "run": {"facets": 3}}]
    for event in [*broken, *(to_tree(data) for _, data in recorded())]:
        errors = [finding for finding in validate(event, kind) if finding.severity == "error"]
        assert refusals(event, kind) == errors
