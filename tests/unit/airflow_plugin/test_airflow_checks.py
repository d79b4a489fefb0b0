"""The Airflow part of ``check``: one row a fault, each with its fix, and nothing said where all is well."""

from __future__ import annotations

import json

import pytest

from truewatch_lineage.config import load
from truewatch_lineage_airflow import checks
from truewatch_lineage_airflow.in_force import InForce
from truewatch_lineage_airflow.late_default import VALUE
from truewatch_lineage_airflow.surroundings import PROVIDER, Surroundings

SECRET = "a-secret-token"
URL = {"url": "https://x.example", "token_file": "/etc/truewatch/token"}
VERSIONS = {"apache-airflow": "3.3.2", PROVIDER: "2.20.3"}
ROOT = "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw"
HTTP = {"type": "http", "url": "http://x.example"}
OURS = {"type": "truewatch_lineage.TrueWatchTransport"}


def _steps(tmp_path, *, params=None, options=None, transport=None, versions=VERSIONS, mount=""):
    """Run the checks in an Airflow that differs from a good one by what is given."""
    options = {
        ("core", "dags_folder"): str(tmp_path / "dags"),
        ("core", "executor"): "LocalExecutor",
        **(options or {}),
    }
    settings = load({**URL, "spool_dir": str(tmp_path / "spool"), **(params or {})}, environ={}, layers=())
    airflow = Surroundings(
        read=lambda section, option: options.get((section, option), ""),
        transport=InForce(transport, "option", "[openlineage] transport") if transport else None,
        versions=versions,
        mountinfo=f"{ROOT}\n{mount.format(tmp_path)}",
    )
    return list(checks.steps(settings, airflow))


def _composite(*children):
    return {"type": "composite", "transports": {f"t{number}": child for number, child in enumerate(children)}}


def test_a_good_airflow_gets_no_warning(tmp_path) -> None:
    """It is told by versions, executor and the way that lineage goes."""
    found = _steps(tmp_path)

    assert {step.status for step in found} == {"ok"}
    assert found[0].detail == f"Airflow 3.3.2, {PROVIDER} 2.20.3, LocalExecutor"
    assert "goes by this package" in found[1].detail
    assert _steps(tmp_path, transport=json.loads(VALUE))[1] == found[1]


OPTIONS = {
    "disabled": (("openlineage", "disabled"), "True", "Airflow emits no lineage", "Set it to False"),
    "thread": (("openlineage", "execute_in_thread"), "true", "execute_in_thread is on", "Set it to False"),
    "full info": (("openlineage", "include_full_task_info"), "t", "megabytes", "Set it to False"),
    "policy": (
        ("openlineage", "emission_policy"),
        json.dumps([{"scope": {}, "controls": {"include_full_task_info": True}}]),
        "megabytes",
        "Set it to False",
    ),
    "user": (("core", "default_impersonation"), "etl", "Tasks run as etl", "spool_dir begin with ~"),
    "timeout": (("openlineage", "execution_timeout"), "2", "(2 s) ends an emit", "a few seconds more"),
    "spark": (("openlineage", "spark_inject_transport_info"), "True", "not injected", "Set spark_inject too"),
}


@pytest.mark.parametrize(("option", "value", "detail", "fix"), OPTIONS.values(), ids=OPTIONS)
def test_an_option_that_harms_is_told_with_its_fix(tmp_path, option, value, detail, fix) -> None:
    """One warning, and it says what happens."""
    (step,) = [step for step in _steps(tmp_path, options={option: value}) if step.status != "ok"]

    assert step.status == "WARN"
    assert detail in step.detail
    assert fix in step.fix


@pytest.mark.parametrize("value", ["False", "", "[]", '[{"controls": null}]', '["odd"]', "{", "10"])
@pytest.mark.parametrize("option", [row[0] for row in OPTIONS.values() if row[0][0] == "openlineage"])
def test_options_that_do_no_harm_are_not_told(tmp_path, option, value) -> None:
    """Nor do malformed ones break the checks: Airflow itself says what is wrong with them."""
    assert {step.status for step in _steps(tmp_path, options={option: value})} == {"ok"}


TRANSPORTS = {
    "another": (HTTP, {"another transport, of type http (from [openlineage] transport)"}),
    "beside": (_composite(HTTP, OURS), set()),
    "ours": (OURS, set()),
    "alias": ({"type": "truewatch"}, set()),
    "async": (_composite({"type": "async_http"}, OURS), {"2 of 14"}),
    "async, by its path": (
        _composite({"type": "openlineage.client.transport.async_http.AsyncHttpTransport"}, OURS),
        {"2 of 14"},
    ),
    "async, by rule": (
        _composite({"type": "datadog", "async_transport_rules": {"airflow": {"*": True}}}, OURS),
        {"2 of 14"},
    ),
    "async for dbt alone": (
        _composite({"type": "datadog", "async_transport_rules": {"dbt": {"*": True}}}, OURS),
        set(),
    ),
    "token": (
        _composite({**HTTP, "auth": {"type": "api_key", "apiKey": SECRET}}, OURS),
        {"list Airflow's configuration"},
    ),
    "token of ours": ({**OURS, "token": SECRET}, {"list Airflow's configuration"}),
    "token in a connection": (
        _composite({**HTTP, "auth": {"type": "airflow_connection_api_key", "conn_id": "x"}}, OURS),
        set(),
    ),
    "header": (_composite({**HTTP, "custom_headers": {"X-Api-Key": SECRET}}, OURS), {"level DEBUG"}),
    "header by value": (_composite({**HTTP, "custom_headers": {"X-A": f"Bearer {SECRET}"}}, OURS), {"level DEBUG"}),
    "harmless header": (_composite({**HTTP, "custom_headers": {"X-Team": "data"}}, OURS), set()),
    "malformed": ({"type": "composite", "transports": 5}, {"another transport, of type composite"}),
    "a list": ({"type": "composite", "transports": [OURS, "odd", {"type": "async_http"}]}, {"2 of 14"}),
    "inside a transform": (
        {"type": "transform", "transport": {**HTTP, "auth": {"apiKey": SECRET}}},
        {"another transport", "list Airflow's configuration"},
    ),
}


@pytest.mark.parametrize(("transport", "expected"), TRANSPORTS.values(), ids=TRANSPORTS)
def test_the_transport_in_force_is_looked_at_to_its_leaves(tmp_path, transport, expected) -> None:
    """Children of a composite too; no token is repeated."""
    warned = [step for step in _steps(tmp_path, transport=transport) if step.status != "ok"]

    assert len(warned) == len(expected)
    assert all(any(part in step.detail for step in warned) for part in expected)
    assert SECRET not in repr(warned)


def test_the_default_opted_out_of_is_told_where_nothing_else_is_configured(tmp_path) -> None:
    """With a transport of ours named, the opt-out changes nothing."""
    off = {"enabled": False}

    assert "Airflow emits no lineage" in _steps(tmp_path, params=off)[1].detail
    assert {step.status for step in _steps(tmp_path, params=off, transport=OURS)} == {"ok"}


def test_a_token_written_in_the_settings_is_told_by_its_place(tmp_path) -> None:
    """And not repeated."""
    settings = {"token_file": None, "token": SECRET}

    step = _steps(tmp_path, params=settings)[-1]

    assert "`token` (from the transport's settings)" in step.detail
    assert "connection" in step.fix
    assert SECRET not in repr(step)


@pytest.mark.parametrize(
    ("versions", "status"),
    [({"apache-airflow": "2.11.2", PROVIDER: "0.9.1"}, "WARN"), ({"apache-airflow": "3.3.2"}, "FAIL"), ({}, "FAIL")],
)
def test_a_provider_that_is_missing_or_too_old_is_told(tmp_path, versions, status) -> None:
    """The lowest is the one that our own extra asks for."""
    assert _steps(tmp_path, versions=versions)[0].status == status


MOUNTS = {
    "container": ("36 22 0:50 / / rw - overlay overlay rw", "on overlay"),
    "memory": ("36 22 0:50 / {} rw - tmpfs tmpfs rw", "on tmpfs"),
    "emptyDir": (
        "36 22 8:1 /var/lib/kubelet/pods/1/volumes/kubernetes.io~empty-dir/spool {}/spool rw - ext4 /dev/sda1 rw",
        "on an emptyDir",
    ),
    "network": ("36 22 0:50 / {} rw - nfs4 server:/x rw", "a network file system"),
    "hostPath": ("36 22 8:1 /var/lib/truewatch-lineage {}/spool rw - ext4 /dev/sda1 rw", None),
    "none known": ("", None),
}


@pytest.mark.parametrize(("mount", "detail"), MOUNTS.values(), ids=MOUNTS)
def test_a_volume_that_goes_away_is_told_though_the_spool_is_not_there_yet(tmp_path, mount, detail) -> None:
    """By the mount that holds the folder, or would."""
    told = [step.detail for step in _steps(tmp_path, mount=mount) if step.status == "WARN"]

    assert len(told) == (1 if detail else 0)
    assert all(detail in one for one in told)


def test_dag_files_that_change_the_user_are_named(tmp_path) -> None:
    """The first, and how many more; unreadable ones are passed over."""
    folder = tmp_path / "dags" / "team"
    folder.mkdir(parents=True)
    for name in ("a.py", "b.py"):
        (folder / name).write_text("x = dict(run_as_user='etl')\n", encoding="utf-8")
    (folder / "gone.py").symlink_to(tmp_path / "nowhere.py")

    assert "run_as_user stands in team/a.py and 1 more" in _steps(tmp_path)[-1].detail


def test_spark_injection_is_told(tmp_path) -> None:
    """Spark's properties then hold the token."""
    assert "hold the token" in _steps(tmp_path, params={"spark_inject": True})[-1].detail
