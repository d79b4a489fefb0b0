"""What ``demo`` does: a receiver in its own process, real events through the real transport, and the comparison."""

from __future__ import annotations

import gzip
import hashlib
import http.client
import json
import os
import secrets
import signal
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any, Final

from truewatch_lineage.errors import TruewatchLineageError
from truewatch_lineage.events.model import identify
from truewatch_lineage.events.serialise import dumps, normalise, to_tree

RECORDING: Final = "dbt-build.jsonl.gz"
"""The OpenLineage events of one `dbt build` of the jaffle shop, as openlineage-dbt 1.54 emitted them."""

_PAGE: Final = 1000
_START_SECONDS: Final = 30.0
_STOP_SECONDS: Final = 5.0
_OURS: Final = ("TRUEWATCH_LINEAGE_", "OPENLINEAGE_")


@dataclass(slots=True)
class Figures:
    """What came of it.

    Attributes:
        events: How many were emitted.
        delivered: How many of them the receiver has, byte for byte.
        duplicates: How often one arrived again, since its answer was lost when the receiver died.
        out_of_order: How many arrived behind a later one of their run.
        outage: Seconds without a receiver.
        waiting: How many waited in the spool when it came back.
        latencies: Seconds of each ``emit()``.
        in_outage: Of those, the ones without a receiver.
    """

    events: int = 0
    delivered: int = 0
    duplicates: int = 0
    out_of_order: int = 0
    outage: float = 0.0
    waiting: int = 0
    latencies: list[float] = field(default_factory=list)
    in_outage: list[float] = field(default_factory=list)

    @property
    def is_good(self) -> bool:
        """Whether nothing was lost, and nothing is out of order."""
        return self.delivered == self.events and not self.out_of_order


def recorded_events() -> list[dict[str, Any]]:
    """Return the events of the recording, in the order in which they were emitted."""
    packed = resources.files("truewatch_lineage.cli").joinpath("data").joinpath(RECORDING).read_bytes()
    return [json.loads(line) for line in gzip.decompress(packed).splitlines()]


def percentile(values: Sequence[float], part: float) -> float:
    """Return the value below which ``part`` (0 to 1) of the values are, 0 where there are none."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * part))] if ordered else 0.0


@contextmanager
def no_settings() -> Iterator[None]:
    """Take the settings of the environment away for a ``with`` block, so that nothing goes to a real destination."""
    kept = {name: value for name, value in os.environ.items() if name.startswith(_OURS)}
    for name in kept:
        del os.environ[name]
    try:
        yield
    finally:
        os.environ.update(kept)


class LocalReceiver:
    """``truewatch-lineage receive`` in a process of its own, on a free port that it keeps over restarts.

    It ends with this process, however that ends.

    Args:
        folder: Where its events, its log and its token are.
    """

    def __init__(self, folder: Path) -> None:
        self.token_file = folder / "token"
        self.token_file.touch(0o600)
        self.token_file.write_text(secrets.token_urlsafe(24), encoding="utf-8")
        self.url = ""
        self._folder = folder
        self._port = 0
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it, and wait until it accepts connections.

        Raises:
            TruewatchLineageError: It does not start; its own words are in the message.
        """
        command = [sys.executable, "-m", "truewatch_lineage.cli.leash", "--port", str(self._port)]
        command += ["--data", str(self._folder / "events.sqlite"), "--token-file", str(self.token_file)]
        log = self._folder / "receiver.log"
        with log.open("ab") as stream:
            self._process = subprocess.Popen(  # noqa: S603 - our own command
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stream, start_new_session=True
            )
        assert self._process.stdout is not None  # noqa: S101 - asked for above
        self.url = self._process.stdout.readline().decode().strip()
        if not self.url:
            self.stop()
            said = log.read_text(encoding="utf-8", errors="replace").strip()
            raise TruewatchLineageError(f"The receiver did not start: {said}")
        self._port = int(self.url.rpartition(":")[2])

    def kill(self) -> None:
        """End it with SIGKILL, as a power failure would."""
        self._end(signal.SIGKILL if hasattr(signal, "SIGKILL") else signal.SIGTERM)

    def stop(self) -> None:
        """End it."""
        self._end(signal.SIGTERM)

    def wait(self) -> None:
        """Wait until it ends."""
        if self._process is not None:
            self._process.wait()

    def arrived(self) -> Iterator[dict[str, Any]]:
        """Yield what it has, in the order of arrival: ``{"event_id", "seq", "duplicates", …}``."""
        after: int | None = 0
        while after is not None:
            page = self._get(f"/api/events?limit={_PAGE}&after={after}")
            yield from page["events"]
            after = page["next"]

    def count(self) -> int:
        """Return how many events it has stored."""
        return int(self._get("/api/stats")["stored"])

    def _get(self, path: str) -> Any:
        headers = {"Authorization": f"Bearer {self.token_file.read_text(encoding='utf-8')}"}
        with closing(http.client.HTTPConnection("127.0.0.1", self._port, timeout=_START_SECONDS)) as connection:
            connection.request("GET", path, headers=headers)
            return json.loads(connection.getresponse().read())

    def _end(self, number: int) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        with process, suppress(ProcessLookupError):
            process.send_signal(number)
            try:
                process.wait(_STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()


def compare(figures: Figures, events: Sequence[Mapping[str, Any]], arrived: Iterator[Mapping[str, Any]]) -> None:
    """Count what arrived, how often, and in which order, by the sha256 of each event's bytes."""
    rows = {row["event_id"]: row for row in arrived}
    lanes: dict[str, list[int]] = defaultdict(list)
    for event in events:
        tree = normalise(to_tree(event))
        row = rows.get(hashlib.sha256(dumps(tree)).hexdigest())
        if row is not None:
            figures.delivered += 1
            figures.duplicates += row["duplicates"]
            lanes[identify(tree).lane].append(row["seq"])
    for places in lanes.values():
        figures.out_of_order += sum(place < max(places[:index], default=0) for index, place in enumerate(places))


def timed(emit: Any, event: Mapping[str, Any]) -> float:
    """Emit an event; returns the seconds it took."""
    started = time.perf_counter()
    emit(event)
    return time.perf_counter() - started
