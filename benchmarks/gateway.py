"""The gateway, measured from outside: ``python benchmarks/gateway.py > docs/gateway-measured.md``.

``python benchmarks/gateway.py http kafka`` prints those parts alone; the other is ``backlog``. The gateway is one
process with a spool that is power-safe; the load generator, the destination and Kafka are others beside it.
"""

from __future__ import annotations

import argparse
import gzip
import itertools
import os
import platform
import re
import socket
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib import metadata
from pathlib import Path

from load import SLICES, request, slices
from openlineage.client.serde import Serde
from samples import SAMPLES
from sink import seen, sink
from sizing import paper
from usage import processor, resident

from truewatch_lineage.config import load
from truewatch_lineage.courier import binding_of
from truewatch_lineage.intake import compress
from truewatch_lineage.spool import Entry, Store

TESTS = Path(__file__).resolve().parents[1] / "tests"
NOWHERE = "http://127.0.0.1:9"
TOKEN = "not-a-real-token-0123456789"
SPOOL_BYTES = 16 << 30
MAIN = "from truewatch_lineage.cli import main; main()"
PARTITIONS = 8
KEYS = 1000
PATIENCE = 120.0
BACKLOG = 1_000_000
FILLING = 1000
RATES: dict[str, list[float]] = {"http": [], "kafka": []}
"""Medium events a second of each round, for what is reckoned from them."""
OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))
HEAD = """\
# The gateway, measured

Printed by `python benchmarks/gateway.py`: one gateway, its spool power-safe, and beside it on the same {cpus} CPUs the
load generator, the destination (which answers at once) and Kafka. Events as JSON: {sizes}. Medians of {rounds} rounds
(lowest to highest).

{versions}; {machine}.
"""


@dataclass(frozen=True)
class Event:
    """An event of which any number can be made: its runId is another one each time."""

    data: bytes
    run_id: bytes

    @classmethod
    def of(cls, size: str) -> Event:
        """Build one of a size of ``SAMPLES``."""
        event = SAMPLES[size]()
        return cls(Serde.to_json(event).encode(), str(event.run.runId).encode())

    def one(self, number: int) -> bytes:
        """Return the JSON of the event of a number."""
        return self.data.replace(self.run_id, run_id(number).encode())


def run_id(number: int) -> str:
    """Return the runId of a number."""
    return str(uuid.UUID(int=number + (4 << 76) + (8 << 60)))


def requests(size: str, coding: str, count: int) -> Callable[[int], bytes]:
    """Return what makes the request of a number; gzip is made before, since clients do it on machines of their own."""
    event = Event.of(size)
    if coding == "plain":
        return lambda number: request(event.one(number))
    made = [request(gzip.compress(event.one(number), 1), "Content-Encoding: gzip") for number in range(count)]
    return made.__getitem__


def settings(folder: Path, url: str) -> dict[str, str]:
    """Return the settings of a gateway that delivers to ``url``."""
    spool = {"spool_dir": str(folder / "spool"), "spool_max_bytes": str(SPOOL_BYTES)}
    return {"url": url, "token": TOKEN, "destination": "openlineage", **spool}


def command(folder: Path, url: str, *arguments: str) -> subprocess.Popen[str]:
    """Start one of our commands with these settings."""
    own = {f"TRUEWATCH_LINEAGE_{key.upper()}": value for key, value in settings(folder, url).items()}
    with (folder / "log").open("ab") as log:
        return subprocess.Popen(
            [sys.executable, "-c", MAIN, *arguments],
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            env={**os.environ, **own},
        )


@contextmanager
def gateway(folder: Path, url: str, *options: str) -> Iterator[tuple[int, int]]:
    """Run a gateway; gives its port and process id."""
    with command(folder, url, "gateway", "--port", "0", *options) as process:
        try:
            assert process.stdout is not None
            told = re.search(r":(\d+)", process.stdout.readline())
            assert told, (folder / "log").read_text()
            yield int(told[1]), process.pid
        finally:
            process.kill()


def http(rounds: int, count: int) -> Iterator[str]:
    """Measure the intake by HTTP: while the destination is away, and while events are delivered to it."""
    yield from (
        "| events | destination | committed a second | delivered a second | µs of processor an event |",
        "|" + " --- |" * 5,
    )
    for size, coding, is_up in itertools.product(("medium", "small"), ("plain", "gzip"), (False, True)):
        rates, delivered, costs = zip(*(_intake(size, coding, count, is_up=is_up) for _ in range(rounds)), strict=True)
        if (size, coding, is_up) == ("medium", "gzip", True):
            RATES["http"].extend(delivered)
        shown = "answers at once" if is_up else "away"
        yield row(f"{size}, {coding}", shown, spread(rates), spread(delivered) if is_up else "-", spread(costs))


def _intake(size: str, coding: str, count: int, *, is_up: bool) -> tuple[float, float, float]:
    with (
        sink() as url,
        tempfile.TemporaryDirectory(prefix="bench-gateway-") as name,
        gateway(Path(name), url if is_up else NOWHERE) as (port, pid),
    ):
        used = processor(pid)
        seconds = sum(slices(port, partial(requests, size, coding, count), count))
        start, waiting = time.monotonic(), count - seen(url)["requests"]
        if is_up:
            arrive(url, waiting)
        behind = time.monotonic() - start
        return count / seconds, count / (seconds + behind), (processor(pid) - used) / count * 1e6


def kafka(rounds: int, count: int) -> Iterator[str]:
    """Measure what goes from Kafka to the destination."""
    sys.path.insert(0, str(TESTS))
    from support.kafka import Broker  # noqa: PLC0415 - found by the path above

    yield from ("| events | delivered a second | µs of processor an event | MiB at the end |", "|" + " --- |" * 4)
    with tempfile.TemporaryDirectory(prefix="bench-kafka-") as name, Broker(Path(name) / "kafka") as broker:
        broker.create_topic("dead")
        for size in ("medium", "small"):
            broker.create_topic(size, partitions=PARTITIONS)
            one = Event.of(size).one
            broker.produce(size, [(b"run:example/%d" % (number % KEYS), one(number)) for number in range(count)])
            flows = [_flow(broker.address, size, f"round-{number}", count) for number in range(rounds)]
            if size == "medium":
                RATES["kafka"].extend(rate for rate, _, _ in flows)
            yield row(size, *map(spread, zip(*flows, strict=True)))


def _flow(bootstrap: str, topic: str, group: str, count: int) -> tuple[float, float, float]:
    options = ("--kafka-bootstrap", bootstrap, "--topic", topic, "--group", group, "--dead-letter-topic", "dead")
    with (
        sink() as url,
        tempfile.TemporaryDirectory(prefix="bench-gateway-") as name,
        gateway(Path(name), url, *options) as (_, pid),
    ):
        first, used, start = arrive(url, 1), processor(pid), time.monotonic()
        arrive(url, count - first)
        return (
            (count - first) / (time.monotonic() - start),
            (processor(pid) - used) / (count - first) * 1e6,
            resident(pid),
        )


def arrive(url: str, number: int) -> int:
    """Wait until at least so many requests have arrived since the last look, and return how many have."""
    arrived, deadline = 0, time.monotonic() + PATIENCE
    while arrived < number:
        assert time.monotonic() < deadline, f"only {arrived} of {number} events have arrived"
        time.sleep(0.02)
        arrived += seen(url)["requests"]
    return arrived


def backlog(_rounds: int, count: int) -> Iterator[str]:
    """Measure beside waiting small events, once: while the destination is away, and once it is back."""
    yield from ("| waiting | MiB | committed a second | ms of /metrics | delivered a second |", "|" + " --- |" * 5)
    for waiting in (0, BACKLOG):
        with tempfile.TemporaryDirectory(prefix="bench-gateway-") as name:
            folder, port = Path(name), _free_port()
            url = f"http://127.0.0.1:{port}"
            _fill(folder, url, waiting)
            sizes, rates, scrapes = zip(*_away(folder, url, count), strict=True)
            command(folder, url, "spool", "resume").communicate()
            with sink(port=port):
                more, delivered = _back(folder, url, count)
            yield row(f"{waiting:,}", spread([*sizes, *more]), spread(rates), spread(scrapes), f"{delivered:.0f}")


def _away(folder: Path, url: str, count: int) -> Iterator[tuple[float, float, float]]:
    """Yield MiB, events a second and the milliseconds of a scrape, ten times along ``count`` events."""
    with gateway(folder, url) as (port, pid):
        for seconds in slices(port, partial(requests, "small", "gzip", count), count):
            start = time.perf_counter()
            OPENER.open(f"http://127.0.0.1:{port}/metrics", timeout=PATIENCE).read()
            yield resident(pid), count / SLICES / seconds, (time.perf_counter() - start) * 1e3


def _back(folder: Path, url: str, count: int) -> tuple[list[float], float]:
    """Return MiB along the delivery of ``count`` waiting events, and how many are delivered in a second."""
    with gateway(folder, url) as (_, pid):
        arrive(url, 1)
        arrived, sizes, start = 0, [], time.monotonic()
        while arrived < count * 9 // 10:
            arrived += arrive(url, 1)
            sizes.append(resident(pid))
        return sizes, arrived / (time.monotonic() - start)


def _fill(folder: Path, url: str, number: int) -> None:
    """Put small events into the spool, each of a run of its own, as the gateway does."""
    read = load(settings(folder, url))
    store, binding, event = (
        Store(read.spool_dir, max_bytes=SPOOL_BYTES),
        binding_of(read.destinations[0]),
        Event.of("small"),
    )
    for first in range(SPOOL_BYTES, SPOOL_BYTES + number, FILLING):
        store.put(
            [
                Entry(binding, f"run:{run_id(one)}", compress(event.one(one)), "COMPLETE", "example/job", run_id(one))
                for one in range(first, first + FILLING)
            ]
        )
    store.close()


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port


def row(*cells: str) -> str:
    """Write a row of a table, and tell it at once."""
    text = f"| {' | '.join(cells)} |"
    print(text, file=sys.stderr, flush=True)
    return text


def spread(values: Sequence[float]) -> str:
    """Show a median with its lowest and highest."""
    return f"{statistics.median(values):,.0f} ({min(values):,.0f} to {max(values):,.0f})"


PARTS: Mapping[str, tuple[str, Callable[[int, int], Iterator[str]]]] = {
    "http": ("HTTP in (goal: 2,000 medium events a second committed)", http),
    "kafka": ("Kafka in (goal: 3,000 a second)", kafka),
    "backlog": ("Beside what waits (small events, gzip)", backlog),
}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", default=[*PARTS], metavar="part", help=" or ".join(PARTS))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--events", type=int, default=20_000)
    options = parser.parse_args()
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in ("truewatch-lineage", "confluent-kafka"))
    sizes = ", ".join(f"{size} {len(Event.of(size).data) / 1000:.1f} KB" for size in ("small", "medium"))
    machine = f"Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}, {platform.system()}"
    print(HEAD.format(cpus=os.cpu_count(), sizes=sizes, rounds=options.rounds, versions=versions, machine=machine))
    for name in options.parts:
        title, measure = PARTS[name]
        print(f"## {title}\n", *measure(options.rounds, options.events), "", sep="\n", flush=True)
    if all(RATES.values()):
        event = Event.of("medium").one(0)
        print("## On paper\n", *paper(*map(statistics.median, RATES.values()), event), sep="\n")


if __name__ == "__main__":
    main()
