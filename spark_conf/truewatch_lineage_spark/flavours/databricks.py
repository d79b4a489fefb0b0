"""A Databricks cluster, with the init script that puts the jar where the driver looks for it when it starts.

The token is one of Databricks' own secrets, which it fills into a property; notebooks of that cluster can read it, as
they could the variable.
"""

from __future__ import annotations

from shlex import quote
from typing import Any, Final

from truewatch_lineage.errors import ConfigError
from truewatch_lineage_spark import merge
from truewatch_lineage_spark.flavours import Extras, Rendered
from truewatch_lineage_spark.flavours.texts import place
from truewatch_lineage_spark.flavours.trees import as_json, branch, extend, started
from truewatch_lineage_spark.plan import Plan
from truewatch_lineage_spark.versions import Jar

OWN_LISTENER: Final = "com.databricks.backend.daemon.driver.DBCEventLoggingListener"
"""Databricks sets it itself, and its Spark UI is empty without it: a list of ours would replace it."""

SECRET: Final = "truewatch-lineage"  # noqa: S105 - a scope's name
SCRIPT: Final = "openlineage.init.sh"
MODES: Final = {"dedicated": "SINGLE_USER", "standard": "USER_ISOLATION", "no-isolation": "NONE"}
"""What Databricks' interface calls an access mode, and its REST API."""

_FOLDERS: Final = {
    "USER_ISOLATION": ("volumes", "/Volumes/main/default/truewatch-lineage"),
}
_ELSEWHERE: Final = ("workspace", "/Shared/truewatch-lineage")
_ALLOW: Final = (
    "Standard access mode runs only init scripts that a metastore admin has put on the allowlist, from a volume; "
    "Databricks Runtime 13.3 or later."
)
_SCRIPT: Final = """\
#!/bin/bash
# Puts OpenLineage's listener where Databricks' driver finds it when it starts: spark.jars.packages comes too late.
set -euo pipefail
[[ "${{DB_IS_DRIVER:-TRUE}}" == TRUE ]] || exit 0 # executors need no listener
folder=/mnt/driver-daemon/jars
mkdir -p "$folder"
{fetch}
# What was fetched must be what Maven Central has.
echo {checksum} | sha256sum --check --quiet || {{ rm -f "$folder"/{name}; exit 1; }}
"""


def render(plan: Plan, extras: Extras) -> Rendered:
    """Write the cluster as Databricks' REST API takes it, and its init script.

    Raises:
        ConfigError: The access mode gives no way to add a listener, or the base's runtime is for another Scala.
    """
    mode = _mode(extras.access_mode)
    tree = started(extras.base, {})
    _check_runtime(tree, plan.jar)
    properties = _without_jar(plan)
    properties["spark.extraListeners"] = _with_own(properties["spark.extraListeners"])
    for secret in plan.secrets:
        properties[secret.key] = f"{{{{secrets/{place(plan, secret, extras.secret or SECRET, '/')}}}}}"
    tree["data_security_mode"] = mode
    extend(branch(tree, "spark_conf"), properties, plan, extras.base)
    kind, folder = _FOLDERS.get(mode, _ELSEWHERE)
    script = {kind: {"destination": f"{folder}/{SCRIPT}"}}
    tree["init_scripts"] = [*(one for one in tree.get("init_scripts", []) if one != script), script]
    return Rendered(as_json(tree), {f".{SCRIPT}": _script(plan.jar)}, tuple(_notes(plan, extras, mode, folder)))


def _mode(name: str) -> str:
    if name not in MODES:
        raise ConfigError(
            "Serverless compute takes neither init scripts nor spark.extraListeners, so no listener can run there.",
            key="access_mode",
            fix="Use classic compute, best with --access-mode dedicated.",
        )
    return MODES[name]


def _check_runtime(tree: dict[str, Any], jar: Jar) -> None:
    runtime = str(tree.get("spark_version", ""))
    if "-scala" in runtime and not runtime.endswith(f"-scala{jar.scala}"):
        raise ConfigError(
            f"The runtime of --base, {runtime}, is for another Scala than {jar.scala}: the driver would not start.",
            key="scala",
            fix=f"Use --scala {runtime.rpartition('-scala')[2]}.",
        )


def _without_jar(plan: Plan) -> dict[str, str]:
    """Return the properties without our jar, which the init script brings, but with others that are set already."""
    properties = plan.as_properties()
    for key in ("spark.jars", "spark.jars.packages"):
        left = merge.others(properties.pop(key, None), plan.jar.path or plan.jar.coordinates)
        properties |= {key: left} if left else {}
    return properties


def _with_own(listeners: str) -> str:
    names = listeners.split(",")
    return listeners if OWN_LISTENER in names else ",".join([OWN_LISTENER, *names])


def _script(jar: Jar) -> str:
    target = f'"$folder"/{jar.file_name}'
    fetch = f"cp {quote(jar.path)} {target}" if jar.path else f"curl -fsSL --retry 3 -o {target} {quote(jar.url)}"
    checksum = f'"{jar.sha256}  $folder/{jar.file_name}"'
    return _SCRIPT.format(fetch=fetch, checksum=checksum, name=jar.file_name)


def _notes(plan: Plan, extras: Extras, mode: str, folder: str) -> list[str]:
    notes = [*plan.notes, f"Upload the init script as {folder}/{SCRIPT}."]
    if mode == MODES["standard"]:
        notes.append(_ALLOW)
    for secret in plan.secrets:
        scope, _, key = place(plan, secret, extras.secret or SECRET, "/").partition("/")
        give = f'printf %s "{secret.source}" | databricks secrets put-secret {scope} {key}'
        notes.append(f"Give Databricks the token once: {give}")
    return notes
