"""``truewatch-dbt send-events``, whatever it finds in the target folder."""

from __future__ import annotations

import json

import pytest
from support.dbt_stand_in import StandIn

RUN = {"invocation_id": "0192aaaa-0000-7000-8000-000000000001", "generated_at": "2026-11-29T12:00:05Z"}
TIMING = [{"name": "execute", "started_at": "2026-11-29T12:00:00Z", "completed_at": "2026-11-29T12:00:01Z"}]
NODE = {"unique_id": "model.demo.a", "resource_type": "model", "name": "a", "database": "d", "schema": "s"}
RESULT = {"unique_id": "model.demo.a", "status": "success", "timing": TIMING}
OF_RUN = ["START", "COMPLETE"]
OF_NODE = ["START", "START", "COMPLETE", "COMPLETE"]

ROWS = {
    "a run": ([RESULT], RUN, OF_NODE),
    "a node that broke off": ([{**RESULT, "timing": [{"name": "compile", "started_at": None}]}], RUN, OF_NODE),
    "a node without times": ([{**RESULT, "timing": None}], RUN, OF_NODE),
    "a run of nothing": ([], RUN, OF_RUN),
    "a node of another project": ([{**RESULT, "unique_id": "model.other.b"}], RUN, OF_RUN),
    "times that are none": ([{**RESULT, "timing": 3}], RUN, OF_NODE),
    "results that are none": (5, RUN, OF_RUN),
    "a result that is none": ([7, None], RUN, OF_RUN),
    "no id of the run": ([RESULT], 7, []),
}
"""Results and metadata of ``run_results.json``, and the states that are told of."""


@pytest.mark.parametrize(("results", "metadata", "states"), ROWS.values(), ids=ROWS)
def test_what_is_found_is_sent_and_nothing_of_it_is_a_crash(tmp_path, results, metadata, states) -> None:
    """It ends by a code of its own and one line, also where the files are not dbt's."""
    dbt = StandIn(tmp_path)
    dbt.install("sys.exit(9)  # it is not to be run")
    manifest = {"nodes": {"model.demo.a": NODE}, "metadata": {"adapter_type": "postgres"}}
    target = dbt.project / "target"
    target.joinpath("manifest.json").write_text(json.dumps(manifest))
    target.joinpath("run_results.json").write_text(json.dumps({"results": results, "metadata": metadata}))
    ran = dbt.run("send-events")
    assert (ran.code, ran.out, len(ran.err.splitlines())) == (0 if states else 1, "", 1), ran.err
    assert [event["eventType"] for event in dbt.events()] == states
