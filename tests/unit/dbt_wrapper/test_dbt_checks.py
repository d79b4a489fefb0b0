"""``check`` says of a dbt project here what will keep its lineage from being whole, and nothing where there is none."""

from __future__ import annotations

import importlib.metadata

import pytest
from support.cli import run

from truewatch_lineage_dbt.checks import steps

PROJECT = "name: harbour\nprofile: harbour\n"
PROFILES = "harbour: {target: dev, outputs: {dev: {type: duckdb, path: h.duckdb, password: hidden-word}}}\n"
UNKNOWN = "harbour: {target: dev, outputs: {dev: {type: oddbase, password: hidden-word}}}\n"
VERSIONS = {"dbt-core": "1.11.16", "sqlglot": "30.0", "openlineage-integration-common": "1.54.0"}
QUIET = {"OPENLINEAGE_NAMESPACE": "production-dbt"}

ROWS = {
    "all is well": (VERSIONS, PROFILES, QUIET, None),
    "an old dbt": ({**VERSIONS, "dbt-core": "1.7.9"}, PROFILES, QUIET, "dbt-core 1.7.9 is not among the releases"),
    "a new dbt": ({**VERSIONS, "dbt-core": "1.12.0b1"}, PROFILES, QUIET, "dbt-core 1.12.0b1 is not among the releases"),
    "no dbt": ({**VERSIONS, "dbt-core": None}, PROFILES, QUIET, "There is a dbt project here, but no dbt."),
    "no parser": ({**VERSIONS, "sqlglot": None}, PROFILES, QUIET, "sqlglot missing"),
    "no profile": (VERSIONS, "{}", QUIET, "profile harbour, target default is not found here."),
    "another target": (VERSIONS, PROFILES, {**QUIET, "DBT_TARGET": "prod"}, "target prod is not found here."),
    "an unknown adapter": (VERSIONS, UNKNOWN, QUIET, "namespace oddbase, which is the adapter's name only."),
    "no namespace": (VERSIONS, PROFILES, {}, "OPENLINEAGE_NAMESPACE is not set."),
    "a broken parent": (VERSIONS, PROFILES, {**QUIET, "OPENLINEAGE_PARENT_ID": "nonsense"}, "can't be read"),
}


@pytest.fixture
def installed(monkeypatch):
    """Let the distributions that are named be installed, or not where their version is None."""
    real = importlib.metadata.version

    def let(versions):
        def version(name):
            if versions.get(name, "") is None:
                raise importlib.metadata.PackageNotFoundError(name)
            return versions.get(name) or real(name)

        monkeypatch.setattr(importlib.metadata, "version", version)

    return let


@pytest.mark.parametrize(("versions", "profiles", "environ", "warned"), ROWS.values(), ids=ROWS)
def test_what_is_wrong_is_warned_of_with_its_fix(
    installed, monkeypatch, tmp_path, versions, profiles, environ, warned
) -> None:
    """One warning, or none, and never a field of the profile that may be secret."""
    (tmp_path / "dbt_project.yml").write_text(PROJECT)
    (tmp_path / "profiles.yml").write_text(profiles)
    installed(versions)
    monkeypatch.setenv("PATH", str(tmp_path))
    folders = {"DBT_PROJECT_DIR": str(tmp_path), "DBT_PROFILES_DIR": str(tmp_path)}
    found = list(steps({**folders, **environ}))

    wrong = [step for step in found if step.status != "ok"]
    assert len(wrong) == (warned is not None)
    assert all(warned in step.detail for step in wrong)
    assert all(step.status == "WARN" and step.fix for step in wrong)
    assert "hidden-word" not in str(found)


def test_a_folder_without_a_project_is_passed_over(tmp_path) -> None:
    """Nothing is said of dbt."""
    assert not list(steps({"DBT_PROJECT_DIR": str(tmp_path)}))


def test_check_shows_the_steps(tmp_path, monkeypatch) -> None:
    """In a project's folder the command says how dbt would run."""
    (tmp_path / "dbt_project.yml").write_text(PROJECT)
    (tmp_path / "profiles.yml").write_text(PROFILES)
    monkeypatch.chdir(tmp_path)
    ran = run("check", "--no-send", "--json", env={"destination": "datakit", "spool_dir": tmp_path / "spool"})

    assert any(step["name"] == "dbt" and "project harbour" in step["detail"] for step in ran.json["steps"])
