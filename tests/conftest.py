"""What holds for every test: a clean environment, nothing left running, no skip where NO_SKIPS is set."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterator
from pathlib import Path

import pytest
from hypothesis import settings
from support.kafka import Broker

FOREIGN_PREFIXES = ("TRUEWATCH_LINEAGE_", "OPENLINEAGE_", "AIRFLOW_", "DBT_", "HYPOTHESIS_")
FOREIGN_NAMES = {
    "CI",
    "NO_PROXY",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "NETRC",
    "FORCE_COLOR",
    "NO_COLOR",
}
GRACE_S = 2.0

settings.register_profile("default", deadline=None, print_blob=True)
settings.register_profile("quick", settings.get_profile("default"), max_examples=20)
settings.register_profile("full", settings.get_profile("default"), max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


@pytest.fixture(autouse=True)
def clean_environment(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give the test and its children an empty home and none of the developer's or CI's settings."""
    for name in list(os.environ):
        if name.upper() in FOREIGN_NAMES or name.startswith(FOREIGN_PREFIXES):
            monkeypatch.delenv(name)
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_STATE_HOME", str(home / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "config"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / "cache"))


@pytest.fixture(autouse=True)
def nothing_left_running() -> Iterator[None]:
    """Fail a test that leaves a child process or a thread that would keep the interpreter alive."""
    # Twice, since the kernel may leave out some where another ends meanwhile (proc(5), /proc/pid/task/tid/children).
    children, threads = _children() | _children(), _threads()
    yield
    left = _wait_for_none(lambda: sorted((_threads() - threads) | (_children() - children)))
    assert not left, f"the test left running: {', '.join(left)}"


@pytest.fixture(scope="session")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    """Give a Kafka broker that runs until the last test; each test takes topics of its own, and leaves it running."""
    with Broker(tmp_path_factory.mktemp("kafka")) as broker:
        yield broker


def _wait_for_none(look: Callable[[], list[str]]) -> list[str]:
    """Look until nothing is found or the grace is over; return what is left."""
    deadline = time.monotonic() + GRACE_S
    while (left := look()) and time.monotonic() < deadline:
        time.sleep(0.02)
    return left


def _threads() -> set[str]:
    return {f"thread {t.name} ({t.ident})" for t in threading.enumerate() if not t.daemon}


def _children() -> set[str]:
    """Name this process's children, zombies included; multiprocessing's own helpers live as long as we do."""
    if sys.platform != "linux":
        return set()
    pids = [pid for listing in Path("/proc/self/task").glob("*/children") for pid in _read(listing).split()]
    commands = {pid: _read(Path(f"/proc/{pid}/cmdline")).replace("\0", " ").strip() for pid in pids}
    return {f"process {pid} {command}" for pid, command in commands.items() if "multiprocessing." not in command}


def _read(path: Path) -> str:
    """Read a file of /proc, or nothing where its thread or process has just ended."""
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
    call: pytest.CallInfo[None],
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Turn a skip into a failure where NO_SKIPS is set, so that CI can't be green by leaving things out."""
    report = yield
    if report.skipped and not hasattr(report, "wasxfail"):
        _fail_where_nothing_may_be_skipped(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Do the same for a module that skips itself while it is collected."""
    report = yield
    if report.skipped:
        _fail_where_nothing_may_be_skipped(report)
    return report


def _fail_where_nothing_may_be_skipped(report: pytest.TestReport | pytest.CollectReport) -> None:
    if os.environ.get("NO_SKIPS"):
        report.outcome = "failed"
        report.longrepr = f"skipped though NO_SKIPS is set: {report.longrepr}"
