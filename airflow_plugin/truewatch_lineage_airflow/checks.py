"""The steps of ``check`` that concern Airflow, each with its fix; they look at its configuration and send nothing."""

from __future__ import annotations

import importlib.metadata
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from truewatch_lineage.cli.steps import Step
from truewatch_lineage.config import Settings
from truewatch_lineage.destinations.tokens import StaticToken
from truewatch_lineage.spool.folder import NETWORK_FILE_SYSTEMS
from truewatch_lineage.spool.mounts import mount_of
from truewatch_lineage_airflow import late_default
from truewatch_lineage_airflow.in_force import is_ours, masked, nodes
from truewatch_lineage_airflow.surroundings import PROVIDER, Surroundings, look

NAME: Final = "airflow"
"""What these steps are called."""

_LATE_DEFAULT: Final = json.loads(late_default.VALUE)
_BESIDE: Final = "truewatch-lineage env airflow --beside"
_HEADERS: Final = ("custom_headers", "headers")
_APART: Final = (*_HEADERS, "transport", "transports")
_ASYNC: Final = re.compile(r"async_?http(transport)?$", re.IGNORECASE)
_NOT_KEPT: Final = frozenset({"overlay", "aufs", "fuse.fuse-overlayfs", "tmpfs", "ramfs"})
"""File systems that a container or a reboot takes along."""

_EMPTY_DIR: Final = "/volumes/kubernetes.io~empty-dir/"
"""How the kubelet's folder of an ``emptyDir`` is called on the node."""

_DAG_FILES: Final = 2000
_DAG_BYTES: Final = 1024 * 1024

Check = Callable[[Settings, Surroundings], Iterator[Step]]


def steps(settings: Settings, airflow: Surroundings | None = None) -> Iterator[Step]:
    """Look at what in Airflow keeps lineage from arriving, or shows a token.

    Args:
        settings: The settings.
        airflow: Airflow as it is set up; looked at if None.
    """
    seen = airflow or look()
    for check in _CHECKS:
        yield from check(settings, seen)


def _versions(_: Settings, airflow: Surroundings) -> Iterator[Step]:
    provider, lowest = airflow.versions.get(PROVIDER), _lowest_provider()
    if provider is None:
        fix = "Install truewatch-lineage[airflow] where Airflow runs, under its constraint file."
        yield Step(NAME, "FAIL", f"{PROVIDER} is not installed: Airflow emits no lineage.", fix)
        return
    executor = airflow.read("core", "executor").rpartition(".")[2]
    found = f"Airflow {airflow.versions.get('apache-airflow', 'of unknown version')}, {PROVIDER} {provider}, {executor}"
    if _numbers(provider) < _numbers(lowest):
        yield Step(NAME, "WARN", found, f"Install {PROVIDER}>={lowest}: older ones were never tested with this.")
    else:
        yield Step(NAME, "ok", found)


def _transport(settings: Settings, airflow: Surroundings) -> Iterator[Step]:
    found = airflow.transport
    if airflow.is_on("openlineage", "disabled"):
        yield _warn("[openlineage] disabled is on: Airflow emits no lineage.", "Set it to False, or take it out.")
    elif (found is None and settings.enabled) or (found and found.settings == _LATE_DEFAULT):
        yield Step(NAME, "ok", "lineage goes by this package, since no other transport is configured")
    elif found is None:
        yield _warn(
            "enabled is off and no transport is configured: Airflow emits no lineage.",
            "Take enabled = False out of [truewatch], or name the transport: truewatch-lineage env airflow.",
        )
    elif any(map(is_ours, nodes(found.settings))):
        yield Step(NAME, "ok", f"lineage goes by the transport of type {found.type} (from {found.source})")
    else:
        yield _warn(
            f"Airflow's lineage goes to another transport, of type {found.type} (from {found.source}).",
            f"Have both: `{_BESIDE}` prints how. Or take that one out.",
        )


def _async_transport(_: Settings, airflow: Surroundings) -> Iterator[Step]:
    for node in _nodes(airflow):
        if _is_async(node):
            yield _warn(
                f"The transport of type {node.get('type')} sends in a thread, which the forks that Airflow emits in do "
                "not wait for: most events are lost (2 of 14 arrived where it was measured).",
                "Let it be of type http, or have lineage go by this package alone.",
            )


def _token_in_transport(_: Settings, airflow: Surroundings) -> Iterator[Step]:
    if airflow.transport and any(map(_holds_token, _nodes(airflow))) and airflow.transport.place != "connection":
        yield _warn(
            f"A token stands in the transport's own text (from {airflow.transport.source}), which tasks, and all who "
            "may list Airflow's configuration, can read.",
            "Put it into a connection, and name that: auth: {type: airflow_connection_api_key, conn_id: …}.",
        )


def _token_in_headers(_: Settings, airflow: Surroundings) -> Iterator[Step]:
    for node in _nodes(airflow):
        headers = {name: node[name] for name in _HEADERS if name in node}
        if masked(headers) != headers:
            yield _warn(
                f"A credential stands among the headers of the transport of type {node.get('type')}, which logs at "
                "level DEBUG show.",
                "Give it as auth, or as the token of this package.",
            )


def _token_in_settings(settings: Settings, _: Surroundings) -> Iterator[Step]:
    for destination in settings.destinations:
        if isinstance(destination.token_source, StaticToken):
            yield _warn(
                f"A token is written as plain text: {destination.token_source.describe()}; tasks can read it.",
                "Use a connection, token_file, or token_cmd or token_secret of [truewatch].",
            )


def _full_task_info(_: Settings, airflow: Surroundings) -> Iterator[Step]:
    policy = airflow.tree("openlineage", "emission_policy")
    rules = [rule for rule in policy if isinstance(rule, dict)] if isinstance(policy, list) else []
    in_policy = any((rule.get("controls") or {}).get("include_full_task_info") is True for rule in rules)
    if in_policy or airflow.is_on("openlineage", "include_full_task_info"):
        yield _warn(
            "include_full_task_info is on: events hold all that operators were given, which may be megabytes, or "
            "secret.",
            "Set it to False.",
        )


def _in_thread(_: Settings, airflow: Surroundings) -> Iterator[Step]:
    if airflow.is_on("openlineage", "execute_in_thread"):
        yield _warn(
            "[openlineage] execute_in_thread is on: what the thread has not stored when the task ends is lost.",
            "Set it to False.",
        )


def _timeout(settings: Settings, airflow: Surroundings) -> Iterator[Step]:
    limit = airflow.read("openlineage", "execution_timeout")
    if limit.isdigit() and int(limit) <= settings.delivery_budget:
        yield _warn(
            f"[openlineage] execution_timeout ({limit} s) ends an emit before delivery_budget "
            f"({settings.delivery_budget:g} s) is over: tries are cut off and repeated.",
            "Let execution_timeout be a few seconds more than delivery_budget.",
        )


def _other_users(settings: Settings, airflow: Surroundings) -> Iterator[Step]:
    reason = None
    if user := airflow.read("core", "default_impersonation"):
        reason = f"Tasks run as {user} ([core] default_impersonation)"
    elif files := list(_impersonating(Path(airflow.read("core", "dags_folder") or "."))):
        reason = f"run_as_user stands in {files[0]}" + (f" and {len(files) - 1} more" if files[1:] else "")
    if reason:
        yield _warn(
            f"{reason}: another user can't open the spool {settings.spool_dir}, and such tasks send directly.",
            "Let spool_dir begin with ~, so that each user has his own, and run a courier as each of them.",
        )


def _volume(settings: Settings, airflow: Surroundings) -> Iterator[Step]:
    mount = mount_of(settings.spool_dir, airflow.mountinfo)
    if mount is None:
        return
    on = f"The spool {settings.spool_dir} is on {mount.kind}"
    if mount.kind in NETWORK_FILE_SYSTEMS:
        fix = "Set spool_dir to a folder on a local disk."
        yield _warn(f"{on}, a network file system: events are sent directly, and lost in an outage.", fix)
    elif mount.kind in _NOT_KEPT or _EMPTY_DIR in mount.root:
        kind = "an emptyDir" if _EMPTY_DIR in mount.root else mount.kind
        yield _warn(
            f"The spool {settings.spool_dir} is on {kind}, which goes when the container or the machine does: what "
            "waits then is lost.",
            "Mount a volume that stays, or a hostPath that a courier drains: docs/airflow-deployment.md.",
        )


def _spark(settings: Settings, airflow: Surroundings) -> Iterator[Step]:
    if settings.spark_inject:
        fix = "Take spark_inject out where Spark's jobs can be told their settings otherwise."
        yield _warn("spark_inject is on: the properties of Spark's jobs hold the token.", fix)
    elif airflow.is_on("openlineage", "spark_inject_transport_info"):
        yield _warn(
            "[openlineage] spark_inject_transport_info is on, but this transport is not injected.",
            "Set spark_inject too, if Spark's properties may hold the token; else take it out.",
        )


_CHECKS: Final[tuple[Check, ...]] = (
    _versions,
    _transport,
    _async_transport,
    _token_in_transport,
    _token_in_headers,
    _token_in_settings,
    _full_task_info,
    _in_thread,
    _timeout,
    _other_users,
    _volume,
    _spark,
)


def _warn(detail: str, fix: str) -> Step:
    return Step(NAME, "WARN", detail, fix)


def _nodes(airflow: Surroundings) -> list[dict[str, Any]]:
    return list(nodes(airflow.transport.settings)) if airflow.transport else []


def _is_async(node: dict[str, Any]) -> bool:
    rules = node.get("async_transport_rules")
    rule = {**rules.get("*", {}), **rules.get("airflow", {})} if isinstance(rules, dict) else {}
    return bool(_ASYNC.search(str(node.get("type", "")))) or any(rule.values())


def _holds_token(node: dict[str, Any]) -> bool:
    """Tell whether a transport holds a token itself; headers and children apart."""
    own = {name: value for name, value in node.items() if name not in _APART}
    return bool(masked(own) != own)


def _impersonating(folder: Path) -> Iterator[str]:
    """Name the files of a folder of DAGs that speak of ``run_as_user``."""
    for number, file in enumerate(sorted(folder.rglob("*.py"))):
        if number >= _DAG_FILES:
            return
        try:
            if file.stat().st_size <= _DAG_BYTES and b"run_as_user" in file.read_bytes():
                yield str(file.relative_to(folder))
        except OSError:
            continue


def _lowest_provider() -> str:
    """Return the lowest provider that our own ``airflow`` extra asks for."""
    asked = " ".join(importlib.metadata.requires("truewatch-lineage") or ())
    found = re.search(rf"{PROVIDER}>=([\d.]+)", asked)
    return found[1] if found else "0"


def _numbers(version: str) -> list[int]:
    return [int(part) for part in re.findall(r"\d+", version)[:3]]
