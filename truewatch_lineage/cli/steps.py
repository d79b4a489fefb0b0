"""The steps of ``check`` that send nothing: settings, spool, name, TCP, TLS, token."""

from __future__ import annotations

import math
import os
import shutil
import ssl
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal
from urllib.parse import urlsplit

from truewatch_lineage.cli import logs
from truewatch_lineage.cli.opening import user
from truewatch_lineage.config import KEYS, DestinationSettings, Settings
from truewatch_lineage.courier import binding_of
from truewatch_lineage.delivery.fault import explain
from truewatch_lineage.delivery.resolve import RESOLVER
from truewatch_lineage.delivery.route import Route
from truewatch_lineage.delivery.senders import sender_of
from truewatch_lineage.delivery.sockets import open_socket, until
from truewatch_lineage.destinations.tokens import FileToken
from truewatch_lineage.errors import ConfigError, SpoolError, TokenError
from truewatch_lineage.spool import Store, report
from truewatch_lineage.spool.folder import inspect
from truewatch_lineage.words import counted, span

Status = Literal["ok", "WARN", "FAIL"]

_DAY: Final = 86_400
_EXPIRES_SOON_DAYS: Final = 14
_SPOOL_NEEDS_BYTES: Final = 64 * 1024 * 1024
_HIDDEN: Final = frozenset({"headers", "proxy", "redact", "match", "map_namespaces", "map_names"})
"""Settings that may hold what nobody should read over a shoulder, or are long: only that they are set is shown."""


@dataclass(frozen=True, slots=True)
class Step:
    """One step and what came of it.

    Attributes:
        name: What was looked at.
        status: ``ok``, ``WARN`` or ``FAIL``.
        detail: What was found.
        fix: What to do about it, where it is not ok.
        destination: Of which destination, or None for the whole.
    """

    name: str
    status: Status
    detail: str
    fix: str | None = None
    destination: str | None = None


def shown_settings(settings: Settings) -> list[dict[str, str]]:
    """Return each setting that was written somewhere, and where; no token, and what may be secret without its value."""
    destinations = {destination.name: destination for destination in settings.destinations}
    rows = []
    for full_name, source in settings.origins.items():
        name, _, key = full_name.rpartition(".")
        if source != "default" and not key.startswith(("token", "auth", "airflow_conn")):
            holder: Any = destinations[name] if name else settings
            rows.append({"key": full_name, "value": _shown(holder, key), "source": source})
    return rows


def settings_steps(settings: Settings) -> Iterator[Step]:
    """Look at the settings."""
    if settings.disabled:
        fix = "Set it to false, or unset OPENLINEAGE_DISABLED."
        yield Step("settings", "WARN", "Lineage is disabled: nothing is sent.", fix)
    else:
        names = ", ".join(f"{one.name} ({one.profile.label}, {one.url})" for one in settings.destinations)
        yield Step("settings", "ok", names)
    for notice in settings.notices:
        problem, _, meant = notice.partition(". ")
        yield Step("settings", "WARN", f"{problem.removesuffix('.')}.", meant or "Take it out.")


def spool_steps(settings: Settings) -> Iterator[Step]:
    """Look at the spool's folder: whose it is, what it holds, and whether others use it for another workspace."""
    folder = settings.spool_dir
    if not os.path.exists(folder):  # noqa: PTH110 - never raises, whatever is forbidden
        yield _absent(folder)
        return
    try:
        inspect(folder)
        if not report.exists(folder):
            yield Step("spool", "ok", f"{folder}, empty, of {user()}")
            return
        store = Store(folder)
        found = report.status(store)
    except SpoolError as error:
        yield Step("spool", "FAIL", error.problem, error.fix)
        return
    size = sum(file.stat().st_size for file in folder.iterdir() if file.is_file())
    held = f"{found['pending']:,} waiting, {counted(found['dead'], 'dead letter')}"
    detail = f"{folder}, of {user()}, {counted(size, 'byte')}: {held}"
    yield Step("spool", "ok", detail)
    free = shutil.disk_usage(folder).free
    if free < _SPOOL_NEEDS_BYTES:
        yield Step("spool", "WARN", f"The disk has only {counted(free, 'byte')} left.", "Free some, or move spool_dir.")
    for destination in settings.destinations:
        yield from _other_workspace(store, destination)
    store.close()


def way_steps(destination: DestinationSettings, environ: Mapping[str, str]) -> Iterator[Step]:
    """Go the way to a destination: name, TCP, TLS; ends with the first that fails."""
    name = destination.name
    try:
        route = Route.to(destination, environ)
    except ConfigError as error:
        yield Step("way", "FAIL", error.problem, error.fix, name)
        return
    host, port = (route.proxy.host, route.proxy.port) if route.proxy else (route.host, route.port)
    by = f" (the proxy to {route.host})" if route.proxy else ""
    deadline = time.monotonic() + destination.timeout
    for step in server_steps(destination, host, port, deadline, by=by):
        yield step
        if step.status == "FAIL":
            return
    yield _tls(route, destination, deadline)


def server_steps(
    destination: DestinationSettings, host: str, port: int, deadline: float, *, by: str = ""
) -> Iterator[Step]:
    """Find a server by its name and open a connection; ends with the first that fails.

    Args:
        destination: Whose server it is.
        host: Its name or address.
        port: Its port.
        deadline: Of ``time.monotonic()``.
        by: What to say of it besides.
    """
    name = destination.name
    try:
        addresses = RESOLVER.resolve(host, port, deadline)
        shown = ", ".join(dict.fromkeys(str(info[4][0]) for info in addresses))
        yield Step("name", "ok", f"{host}{by}: {shown}", None, name)
    except OSError as error:
        yield _failed("name", error, f"{host}:{port}", destination, "Check the url, and this machine's DNS.")
        return
    try:
        started = time.monotonic()
        with until(deadline):
            open_socket(host, port).close()
        yield Step("tcp", "ok", f"{host}:{port}{by} in {(time.monotonic() - started) * 1000:.0f} ms", None, name)
    except OSError as error:
        fix = "Check the url and its port, and whether a firewall or a proxy is in between."
        yield _failed("tcp", error, f"{host}:{port}", destination, fix)


def token_step(destination: DestinationSettings) -> Step:
    """Read the token, and tell its source and age alone."""
    name, source = destination.name, destination.token_source
    if not destination.profile.sends_token:
        return Step("token", "ok", f"{destination.profile.label} is sent none", None, name)
    if source is None:
        if destination.profile.needs_token:
            fix = "Run check where the courier runs, with its settings."
            return Step("token", "WARN", "none is set here: delivery is left to a courier", fix, name)
        return Step("token", "ok", "none is set; this kind may need none", None, name)
    with logs.kept():  # the warning of a file is a part of the step
        try:
            source.get()
        except TokenError as error:
            return Step("token", "FAIL", error.problem, error.fix, name)
    age = source.age()
    verb = "changed" if isinstance(source, FileToken) else "fetched"
    detail = source.describe() + (f", {verb} {span(age)} ago" if age is not None else "")
    weakness = source.weakness() if isinstance(source, FileToken) else None
    if weakness:
        return Step("token", "WARN", f"{detail}: {weakness}.", "Run chmod 600 on it.", name)
    return Step("token", "ok", detail, None, name)


def _shown(holder: Any, key: str) -> str:
    if key in _HIDDEN:
        return "(set)"
    if key == "destination":
        return str(holder.profile.kind)
    if key == "endpoint":
        return urlsplit(str(holder.url)).path
    value = getattr(holder, key, "(set)")
    return ", ".join(value) if KEYS[key].kind == "names" else str(value)


def _absent(folder: Path) -> Step:
    parent = next(one for one in folder.parents if os.path.exists(one))  # noqa: PTH110 - as above
    if os.access(parent, os.W_OK | os.X_OK):
        return Step("spool", "ok", f"{folder}: will be made by {user()} with the first event")
    fix = "Set spool_dir to a folder of your own on a local disk."
    return Step("spool", "FAIL", f"{user()} can neither see {folder} nor make it in {parent}.", fix)


def _other_workspace(store: Store, destination: DestinationSettings) -> Iterator[Step]:
    """Warn where the same name and url were used with another token: that may be another workspace."""
    sender = sender_of(destination, connections=1)
    try:
        standing = store.standing(binding_of(destination))
        ours = sender.fingerprint(store.fingerprint_key())
    finally:
        sender.close()
    theirs = {standing.passed_with, standing.parked_with} - {None}
    if ours is not None and theirs and ours not in theirs:
        yield Step(
            "spool",
            "WARN",
            "This spool was used for the same name and url with another token or other settings.",
            "If that is another workspace, give the two different names or another spool_dir: what waits here would "
            "go to yours. If the token was rotated, all is well.",
            destination.name,
        )


def _tls(route: Route, destination: DestinationSettings, deadline: float) -> Step:
    if route.context is None:
        safe = destination.token_source is None or not destination.allow_insecure_http
        detail = "not used: the url starts with http://"
        return Step("tls", "ok" if safe else "WARN", detail, None if safe else "Use https.", destination.name)
    connection = route.connection()
    try:
        with until(deadline):
            connection.connect()
        sock: Any = connection.sock
        days = math.floor((ssl.cert_time_to_seconds(sock.getpeercert()["notAfter"]) - time.time()) / _DAY)
        detail = f"{sock.version()}, the certificate expires in {counted(days, 'day')}"
    except Exception as error:  # noqa: BLE001 - whatever a library raises is a finding here, as in delivery.http
        return _failed("tls", error, route.peer(connection), destination, "Check ca_file, and this machine's clock.")
    finally:
        connection.close()
    if days < _EXPIRES_SOON_DAYS:
        return Step("tls", "WARN", detail, "Tell whoever runs the destination.", destination.name)
    return Step("tls", "ok", detail, None, destination.name)


def _failed(name: str, error: Exception, peer: str, destination: DestinationSettings, fix: str) -> Step:
    return Step(name, "FAIL", explain(error, peer, destination.timeout)[2], fix, destination.name)
