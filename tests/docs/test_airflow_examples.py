"""The manifests in examples/airflow fit together, and the options and settings that Airflow's pages name exist."""

from __future__ import annotations

import configparser
import re

import pytest
import yaml
from support.repository import ROOT, code_blocks, table_rows

from truewatch_lineage.cli.courier import command
from truewatch_lineage.config import KEYS, load

EXAMPLES = ROOT / "examples" / "airflow"
PAGES = [ROOT / "docs" / name for name in ("airflow.md", "airflow-deployment.md")]
OWN = {"token_cmd", "token_secret", "lineage_url", "destinations"}
"""Options of ``[truewatch]`` that are no keys of their own."""


def _manifest(name):
    return yaml.safe_load((EXAMPLES / name).read_text(encoding="utf-8"))


def _courier():
    pod = _manifest("courier-daemonset.yaml")["spec"]["template"]["spec"]
    return pod, pod["containers"][0]


def _variables(rows):
    """Give the settings that a manifest's ``env`` holds."""
    return {row["name"]: row["value"] for row in rows}


def _host_path(volumes, mounts):
    """Give the node's folder behind the one hostPath, where it is mounted, and its kind."""
    (volume,) = (one for one in volumes if "hostPath" in one)
    (mount,) = (one["mountPath"] for one in mounts if one["name"] == volume["name"])
    return volume["hostPath"]["path"], mount, volume["hostPath"]["type"]


def test_the_daemonset_runs_a_courier_with_settings_that_are_right() -> None:
    """Its command parses, its settings load, and the token is a file of a secret."""
    pod, container = _courier()
    program, name, *arguments = container["command"]
    settings = load(environ=_variables(container["env"]), layers=())

    assert (program, name) == ("truewatch-lineage", command.name)
    assert command.make_context(name, list(arguments)).params["metrics_port"] == 9464
    (destination,) = settings.destinations
    assert destination.token_source.describe() == "file /etc/truewatch/token"
    (secret,) = (one for one in pod["volumes"] if "secret" in one)
    assert {"name": secret["name"], "mountPath": "/etc/truewatch", "readOnly": True} in container["volumeMounts"]
    assert secret["secret"]["defaultMode"] & 0o022 == 0


def test_both_sides_share_the_spool_and_the_destination() -> None:
    """The same folder of the node, user, url and kind; tasks need no token and wait for the courier's folder."""
    pod, container = _courier()
    values = _manifest("helm-values.yaml")
    courier, tasks = _variables(container["env"]), _variables(values["env"])
    settings = load(environ={name: text for name, text in tasks.items() if name.startswith("TRUEWATCH")}, layers=())

    path, mount, kind = _host_path(pod["volumes"], container["volumeMounts"])
    assert (path, mount, kind) == (mount, courier["TRUEWATCH_LINEAGE_SPOOL_DIR"], "DirectoryOrCreate")
    for part in ("workers", "scheduler", "apiServer"):
        assert _host_path(values[part]["extraVolumes"], values[part]["extraVolumeMounts"]) == (path, mount, "Directory")
    assert settings.delivery == "spool"
    assert tasks["TRUEWATCH_LINEAGE_SPOOL_DIR"] == mount
    assert tasks["TRUEWATCH_LINEAGE_URL"] == courier["TRUEWATCH_LINEAGE_URL"]


def test_the_folder_is_made_its_users_own() -> None:
    """By an init container that is root; the courier is the image's user, and may do nothing else."""
    pod, container = _courier()
    (init,) = pod["initContainers"]

    assert init["command"][:5] == ["install", "-d", "-m", "0700", "-o"]
    assert int(init["command"][5]) == pod["securityContext"]["runAsUser"]
    assert container["securityContext"] == {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
    assert init["image"] == container["image"]
    image = _manifest("helm-values.yaml")["images"]["airflow"]
    assert f"{image['repository']}:{image['tag']}" == container["image"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_part_of_airflow_cfg_that_a_page_shows_names_options_that_exist(page) -> None:
    """And those of ``[truewatch]`` load as settings."""
    for block in code_blocks(page.read_text(encoding="utf-8"), "ini"):
        parser = configparser.ConfigParser(strict=True, interpolation=None)
        parser.optionxform = str
        parser.read_string(block)
        if parser.has_section("truewatch"):
            assert set(parser["truewatch"]) <= {*KEYS, *OWN}


def test_the_table_of_options_names_only_what_exists() -> None:
    """Each option of ``[truewatch]`` that has a row."""
    page = PAGES[0].read_text(encoding="utf-8")
    start = page.index("| option of `[truewatch]` |")
    rows = table_rows(page[start : page.index("### The connection")])

    named = {option for row in rows[2:] for option in re.findall(r"`([a-z_]+)`", row[0])}
    assert named <= {*KEYS, *OWN}
    assert {"enabled", "spark_inject", "lineage_url", "airflow_conn_id"} <= named


def test_the_check_dags_name_is_the_one_that_is_documented() -> None:
    """The page says what to trigger."""
    source = (ROOT / "airflow_plugin/truewatch_lineage_airflow/check_dag.py").read_text(encoding="utf-8")
    dag_id = re.search(r'^DAG_ID: Final = "(\w+)"', source, re.MULTILINE)[1]

    assert f"trigger `{dag_id}`" in PAGES[0].read_text(encoding="utf-8")
