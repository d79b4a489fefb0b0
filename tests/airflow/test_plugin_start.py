"""What the plugin costs each of Airflow's processes at its start, and how Airflow takes its description."""

from __future__ import annotations

import json

import pytest
from support.airflow import VERSIONS, environment

ALLOWED_S = 0.060
TIMED = """
import gc, importlib, json, sys, time
import airflow.plugins_manager
gc.disable()  # a collection of all that Airflow has made takes longer than what is measured
times = {}

def timed(name, action):
    started = time.process_time()
    action()
    times[name] = time.process_time() - started

provider = "airflow.providers.openlineage.plugins."
timed("provider", lambda: [importlib.import_module(provider + name) for name in ("openlineage", "listener", "macros")])
before = set(sys.modules)
timed("import", lambda: importlib.import_module("truewatch_lineage_airflow.plugin"))
imported = sorted({name.partition(".")[0] for name in set(sys.modules) - before})
plugin = sys.modules["truewatch_lineage_airflow.plugin"].TrueWatchLineagePlugin
timed("load", plugin.on_load)
timed("again", plugin.on_load)
print(json.dumps({"times": times, "imported": imported}))
"""
DESCRIBED = """
import json, pathlib, sys
import airflow, jsonschema
from airflow.configuration import conf
from airflow.providers_manager import ProvidersManager
from truewatch_lineage_airflow.provider_info import get_provider_info

schema = json.loads((pathlib.Path(airflow.__file__).parent / "provider_info.schema.json").read_text())
jsonschema.validate(get_provider_info(), schema)
manager = ProvidersManager()
manager.initialize_providers_configuration()
conf.load_providers_configuration()
options = get_provider_info()["config"]["truewatch"]["options"]
print(json.dumps({
    "provider": "truewatch-lineage" in manager.providers,
    "sensitive": sorted(key for section, key in conf.sensitive_config_values if section == "truewatch"),
    "set": [name for name in options if conf.get("truewatch", name, fallback=None)],
}))
"""


def _answer(version, home, code, **env):
    ended = environment(version).run(code, home=home, env=env)
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout.splitlines()[-1])


@pytest.mark.serial
@pytest.mark.timeout(180)
@pytest.mark.parametrize("version", VERSIONS)
def test_the_plugin_adds_little_to_a_start(version, tmp_path) -> None:
    """Import and ``on_load`` take at most 60 ms of CPU, and a fraction of what the provider's own listener takes."""
    runs = [_answer(version, tmp_path, TIMED) for _ in range(3)]
    times = sorted((run["times"] for run in runs), key=lambda one: one["import"] + one["load"])[1]

    assert times["import"] + times["load"] <= min(ALLOWED_S, times["provider"] / 4), times
    assert times["again"] <= times["import"] + times["load"] + 0.005, times


@pytest.mark.timeout(180)
@pytest.mark.parametrize("version", VERSIONS)
def test_importing_the_plugin_brings_nothing_but_this_package(version, tmp_path) -> None:
    """Neither a database handle, a web framework nor an HTTP client comes with it."""
    imported = _answer(version, tmp_path, TIMED, OPENLINEAGE_DISABLED="true")["imported"]

    assert not {"sqlite3", "urllib3", "fastapi", "flask", "openlineage", "orjson", "click", "rich"} & set(imported)


@pytest.mark.timeout(180)
@pytest.mark.parametrize("version", VERSIONS)
def test_airflow_takes_the_provider_s_description(version, tmp_path) -> None:
    """It is valid, its token is sensitive, and no option has a value that nobody wrote."""
    found = _answer(version, tmp_path, DESCRIBED)

    assert found == {"provider": True, "sensitive": ["auth", "token"], "set": []}
