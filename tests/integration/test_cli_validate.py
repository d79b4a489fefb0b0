"""``validate``: findings by file, line and JSON path, for each destination."""

from __future__ import annotations

import json

import pytest
from support.cli import ndjson, run
from support.events import RECORDED, tree


def test_good_events_have_no_findings() -> None:
    """The recorded runs are right for TrueWatch, and nothing is printed as a result."""
    ran = run("validate", RECORDED)

    assert (ran.code, ran.out) == (0, "")
    assert "553 events for dataway: 0 errors, " in ran.err


def test_a_finding_names_file_line_path_and_rule(tmp_path) -> None:
    """An error exits 1."""
    file = ndjson(tmp_path / "e.ndjson", tree(), tree(eventTime="yesterday"))

    ran = run("validate", file)

    assert ran.code == 1
    assert ran.out.startswith(f"{file}:2: error $.eventTime: Not an ISO 8601 timestamp. [TrueWatch: ")


def test_warnings_alone_exit_0(tmp_path) -> None:
    """What real events break without harm is no error."""
    ran = run("validate", ndjson(tmp_path / "e.ndjson", tree(schemaURL=...)))

    assert ran.code == 0
    assert "warning $.schemaURL" in ran.out


@pytest.mark.parametrize(
    ("options", "env", "kinds"),
    [
        ([], {}, {"dataway"}),
        (["--destination", "portal"], {}, {"portal"}),
        (["--destination", "portal", "--destination", "datakit"], {}, {"portal", "datakit"}),
        ([], {"destination": "portal"}, {"portal"}),
        ([], {"url": "https://x.example/api/v1/lineage"}, {"openlineage"}),
        (
            [],
            {"destinations": json.dumps({"a": {"url": "https://a.example"}, "b": {"destination": "portal"}})},
            {"dataway", "portal"},
        ),
        (["--destination", "datakit"], {"destination": "portal"}, {"datakit"}),
    ],
)
def test_the_destinations_are_those_named_or_those_of_the_settings(tmp_path, options, env, kinds) -> None:
    """Without any setting it is dataway; neither url nor token is needed."""
    ran = run("validate", "--json", *options, ndjson(tmp_path / "e.ndjson", {}), env=env)

    assert {finding["destination"] for finding in ran.json["findings"]} == kinds


def test_a_run_with_two_jobs_is_a_warning(tmp_path) -> None:
    """The later event is named."""
    file = ndjson(tmp_path / "e.ndjson", tree(), tree(job={"namespace": "ns", "name": "another"}))

    ran = run("validate", "--json", file)

    (finding,) = ran.json["findings"]
    assert (finding["line"], finding["severity"], finding["path"]) == (2, "warning", "$.job")
    assert ran.code == 0


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (b"{bad", "not JSON"),
        (b"[[1]]", "Not one event but an array"),
        (b'{"a":1,"a":2}', "'a' stands twice"),
        (b'{"a":NaN}', "NaN is no JSON value"),
    ],
)
def test_what_is_no_json_object_is_an_error_with_its_line(tmp_path, line, words) -> None:
    """The others are still checked."""
    ran = run("validate", "--json", ndjson(tmp_path / "e.ndjson", tree(), line, tree()))

    assert ran.code == 1
    assert ran.json["events"] == 2
    assert [(one["line"], words in one["message"]) for one in ran.json["findings"]] == [(2, True)]


def test_an_element_of_an_array_is_named_by_its_index(tmp_path) -> None:
    """In text as ``file:line[index]``."""
    file = tmp_path / "b.json"
    file.write_text(json.dumps([tree(), tree(eventTime="yesterday")]), encoding="utf-8")

    assert run("validate", file).out.startswith(f"{file}:1[1]: error $.eventTime")
    (finding,) = run("validate", "--json", file).json["findings"]
    assert (finding["line"], finding["index"]) == (1, 1)


@pytest.mark.parametrize(
    ("options", "env", "code"),
    [
        ([], {}, 0),
        (["--oversize", "reject"], {}, 1),
        (["--oversize", "reject", "--destination", "datakit"], {}, 1),
        (["--oversize", "reject", "--destination", "portal"], {}, 0),
        ([], {"destinations": json.dumps({"a": {"oversize": "reject"}, "b": {"destination": "portal"}})}, 1),
    ],
)
def test_what_will_be_trimmed_is_a_warning(tmp_path, options, env, code) -> None:
    """As ``send`` delivers it, unless oversize is reject."""
    facet = {"_producer": "https://example.com", "_schemaURL": "https://example.com/s", "pad": "x" * 9 * 1024 * 1024}
    file = ndjson(tmp_path / "large.ndjson", tree(run={"runId": tree()["run"]["runId"], "facets": {"own": facet}}))

    assert run("validate", *options, file, env=env).code == code


def test_a_missing_file_is_an_error(tmp_path) -> None:
    """It has no line."""
    (finding,) = run("validate", "--json", tmp_path / "none.json").json["findings"]

    assert (finding["file"], finding["line"]) == (str(tmp_path / "none.json"), None)
