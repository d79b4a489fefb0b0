"""What dbt's own files say: project, target folder, profile; and which artefacts are this run's."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from truewatch_lineage_dbt.artefacts import read_artefacts
from truewatch_lineage_dbt.project import Project, project_folder, read_project, read_target, target_folder

PROFILES = """\
port:
  target: "{{ env_var('WHICH', 'dev') }}"
  outputs:
    dev: {type: postgres, host: localhost, port: "{{ env_var('PORT', '5432') | as_number }}", dbname: d, schema: s}
    prod: {type: postgres, host: "{{ broken", port: 5432, dbname: p, schema: s}
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A project's folder, below the working folder's parent."""
    tmp_path.joinpath("dbt_project.yml").write_text("name: harbour\nprofile: port\ntarget-path: built\n")
    tmp_path.joinpath("profiles.yml").write_text(PROFILES)
    tmp_path.joinpath("models").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "environ", "where"),
    [
        ([], {}, "."),
        (["--project-dir", "models"], {}, "models"),
        (["--project-dir=models"], {"DBT_PROJECT_DIR": "elsewhere"}, "models"),
        ([], {"DBT_PROJECT_DIR": "elsewhere"}, "elsewhere"),
        ([], {"DBT_PROJECT_DIR": "elsewhere", "DBT_ENGINE_PROJECT_DIR": "newer"}, "newer"),
    ],
)
def test_the_project_is_where_dbt_looks_for_it(folder, arguments, environ, where) -> None:
    """Option, variable, working folder, in this order."""
    assert project_folder(arguments, environ) == (folder / where).absolute()


def test_the_project_may_be_above_the_working_folder(folder, monkeypatch) -> None:
    """The nearest parent that holds one, as dbt has it."""
    monkeypatch.chdir(folder / "models")
    assert project_folder([], {}) == folder


@pytest.mark.parametrize("text", [None, "{", "- a list", "name: [1]", ""])
def test_a_project_that_cannot_be_read_is_named_by_its_folder(tmp_path, text) -> None:
    """Dbt says what is wrong with it; the run's START needs a name all the same."""
    if text is not None:
        tmp_path.joinpath("dbt_project.yml").write_text(text)
    assert read_project(tmp_path).name == tmp_path.name


@pytest.mark.parametrize(
    ("arguments", "environ", "where"),
    [
        ([], {}, "built"),
        ([], {"DBT_TARGET_PATH": "by_variable"}, "by_variable"),
        (["--target-path", "/by/option"], {"DBT_TARGET_PATH": "by_variable"}, "/by/option"),
    ],
)
def test_the_target_folder_is_where_dbt_writes(folder, arguments, environ, where) -> None:
    """Option, variable, project, default, in this order."""
    assert target_folder(read_project(folder), arguments, environ) == folder / where
    assert target_folder(Project(folder), [], {}) == folder / "target"


@pytest.mark.parametrize(
    ("arguments", "environ", "expected"),
    [
        ([], {}, ("port", "dev", "5432", "localhost")),
        ([], {"PORT": "6543"}, ("port", "dev", "6543", "localhost")),
        ([], {"WHICH": "prod"}, ("port", "prod", 5432, None)),
        (["-t", "prod"], {"DBT_TARGET": "dev"}, ("port", "prod", 5432, None)),
        ([], {"DBT_TARGET": "prod"}, ("port", "prod", 5432, None)),
        (["--profile", "other"], {}, ("other", "default", None, None)),
        (["--profiles-dir", "nowhere"], {}, ("port", "default", None, None)),
    ],
)
def test_the_target_is_read_as_far_as_it_can_be(folder, arguments, environ, expected) -> None:
    """Variables are rendered; what can't be is left out, and nothing raises."""
    profile, target, fields = read_target(read_project(folder), arguments, environ)
    assert (profile, target, fields.get("port"), fields.get("host")) == expected


def _write(path: Path, tree, age=0.0) -> None:
    path.write_text(tree if isinstance(tree, str) else json.dumps(tree))
    moment = time.time() - age
    os.utime(path, (moment, moment))


def test_artefacts_of_an_earlier_run_are_not_taken(tmp_path) -> None:
    """Only files written since dbt was started are its own."""
    _write(tmp_path / "manifest.json", {"nodes": {"a": {}}, "macros": {"m": {}}, "metadata": {"dbt_version": "1"}})
    _write(tmp_path / "run_results.json", {"results": [], "args": {"which": "run"}}, age=60)
    found = read_artefacts(tmp_path, since=time.time() - 10)
    assert (set(found.manifest), found.results) == ({"nodes", "metadata"}, {})
    assert read_artefacts(tmp_path, since=0).arguments == {"which": "run"}


@pytest.mark.parametrize("text", ["{broken", "[]", "null", ""])
def test_artefacts_that_are_broken_are_as_good_as_none(tmp_path, text) -> None:
    """Dbt may have been killed in the middle of them."""
    for name in ("manifest.json", "run_results.json", "catalog.json"):
        _write(tmp_path / name, text)
    found = read_artefacts(tmp_path, since=0)
    assert (found.manifest, found.results, found.catalog, found.metadata, found.invocation_id) == ({}, {}, {}, {}, None)


def test_the_newer_of_results_and_freshness_counts(tmp_path) -> None:
    """`source freshness` writes sources.json and leaves the run_results.json of another command."""
    _write(tmp_path / "run_results.json", {"results": [1]}, age=60)
    _write(tmp_path / "sources.json", {"results": [2], "metadata": {"invocation_id": "i"}})
    found = read_artefacts(tmp_path, since=0)
    assert (found.results["results"], found.invocation_id) == ([2], "i")
