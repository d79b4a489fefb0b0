"""Events from the files that dbt leaves in its target folder."""

from __future__ import annotations

from support.dbt_manifest import manifest, node, run

from truewatch_lineage_dbt.lineage import EventBuilder
from truewatch_lineage_dbt.lineage.artifacts import events

WRITTEN = "2026-03-01T12:01:00Z"
NODES = manifest(
    node("source.shop.raw.orders", schema="raw"),
    node("model.shop.orders", "select id from db.raw.orders", "source.shop.raw.orders"),
    node("model.shop.later", "select id from db.main.orders", "model.shop.orders"),
    node("test.shop.check", "select 1 from db.main.orders", "model.shop.orders"),
)


def result(unique_id, status, *times, **more):
    """Return a result as ``run_results.json`` has it."""
    names = ("compile", "execute")
    timing = [{"name": name, "started_at": a, "completed_at": b} for name, (a, b) in zip(names, times, strict=False)]
    return {"unique_id": unique_id, "status": status, "timing": timing, "adapter_response": {}, **more}


def told(*results):
    """Return type, time and job of the events of some results."""
    made = EventBuilder(run(), NODES)
    file = {"metadata": {"generated_at": WRITTEN}, "results": list(results)}
    return [(event["eventType"], event["eventTime"], event["job"]["name"]) for event in events(made, file)]


def test_node_that_ran():
    """Start a node where its compilation started, and end it where its execution ended."""
    compiled = ("2026-03-01T12:00:00Z", "2026-03-01T12:00:01Z")
    executed = ("2026-03-01T12:00:01Z", "2026-03-01T12:00:05Z")
    assert told(result("model.shop.orders", "success", compiled, executed)) == [
        ("START", "2026-03-01T12:00:00Z", "db.main.shop.orders"),
        ("COMPLETE", "2026-03-01T12:00:05Z", "db.main.shop.orders"),
    ]


def test_node_that_was_skipped():
    """Abort what was skipped, when the file was written, since it has no times."""
    assert told(result("model.shop.later", "skipped")) == [
        ("START", WRITTEN, "db.main.shop.later"),
        ("ABORT", WRITTEN, "db.main.shop.later"),
    ]


def test_step_that_broke_off():
    """Bear a step without times."""
    broken = result("model.shop.orders", "error", (None, None), message="Database Error")
    assert [event for event, *_ in told(broken)] == ["START", "FAIL"]


def test_freshness_file():
    """Read a ``sources.json``, in which a result has an age or an error."""
    made = EventBuilder(run(), NODES)
    times = ("2026-03-01T12:00:00Z", "2026-03-01T12:00:01Z")
    fresh = result(
        "source.shop.raw.orders", "pass", times, max_loaded_at=WRITTEN, max_loaded_at_time_ago_in_s=5.2, criteria={}
    )
    broken = {"unique_id": "source.shop.raw.orders", "error": "no such table", "status": "runtime error"}
    _, passed, _, failed = events(made, {"metadata": {"generated_at": WRITTEN}, "results": [fresh, broken]})
    (assertion,) = passed["inputs"][0]["inputFacets"]["dataQualityAssertions"]["assertions"]
    assert (assertion["success"], assertion["actual"]) == (True, "5 s")
    assert failed["eventType"] == "FAIL"
    assert failed["run"]["facets"]["errorMessage"]["message"] == "no such table"


def test_file_without_results():
    """Make nothing of an empty file, and of nodes that the manifest does not know."""
    assert told() == []
    assert told(result("model.shop.gone", "success")) == []
    assert list(events(EventBuilder(run(), NODES), {})) == []
