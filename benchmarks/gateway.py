"""The gateway, measured from outside: ``python benchmarks/gateway.py > docs/gateway-measured.md``.

``python benchmarks/gateway.py http kafka`` prints those parts alone; the other is ``backlog``. The gateway is one
process with a spool that is power-safe; the load generator, the destination and Kafka are others beside it.
"""

from __future__ import annotations

import argparse
import itertools
import os
import platform
import socket
import sqlite3
import statistics
import sys
import tempfile
import textwrap
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from importlib import metadata
from pathlib import Path

from gateways import NOWHERE, SPOOL_BYTES, Event, command, courier, gateway, requests, run_id, settings
from load import SLICES, slices
from sink import seen, sink
from sizing import paper
from usage import processor, resident

from truewatch_lineage.config import load
from truewatch_lineage.courier import binding_of
from truewatch_lineage.intake import compress
from truewatch_lineage.spool import Entry, Store

TESTS = Path(__file__).resolve().parents[1] / "tests"
PARTITIONS = 8
KEYS = 1000
PATIENCE = 120.0
BACKLOG = 1_000_000
FILLING = 1000
FIRST_WAITING = 1 << 34
"""The number of the first run that waits, above those of all that is sent."""

RATES: dict[str, list[float]] = {"http": [], "beside": [], "kafka": []}
"""Medium events a second of each round, for what is reckoned from them: by HTTP, with a courier beside, from Kafka."""

AWAY, HERE, BESIDE = "away", "answers at once", "answers at once, to a courier beside"
OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))
HEAD = """\
# The gateway, measured

Printed by `python benchmarks/gateway.py` and `python benchmarks/spark_gateway.py`: one gateway, its spool power-safe,
and beside it on the same {cpus} CPUs the load generator, the destination (which answers at once) and Kafka. Events as
JSON: {sizes}. Medians of {rounds} rounds (lowest to highest).{busy}

{versions}, {system}.
"""
BUSY = " The machine had other work meanwhile, so that a quiet one does more."


def http(rounds: int, count: int) -> Iterator[str]:
    """Measure the intake by HTTP: while the destination is away, and while events are delivered to it.

    The processor's time is that of gateway and courier together.
    """
    yield from (
        "| events | destination | committed a second | delivered a second | µs of processor an event |",
        "|" + " --- |" * 5,
    )
    for size, coding, where in itertools.product(("medium", "small"), ("plain", "gzip"), (AWAY, HERE, BESIDE)):
        rates, delivered, costs = zip(*(_intake(size, coding, count, where) for _ in range(rounds)), strict=True)
        if (size, coding) == ("medium", "gzip") and where != AWAY:
            RATES["http" if where == HERE else "beside"].extend(delivered)
        yield row(f"{size}, {coding}", where, spread(rates), "-" if where == AWAY else spread(delivered), spread(costs))


def _intake(size: str, coding: str, count: int, where: str) -> tuple[float, float, float]:
    with sink() as url, tempfile.TemporaryDirectory(prefix="bench-gateway-") as name, ExitStack() as running:
        options = ("--delivery", "spool") if where == BESIDE else ()
        port, pid = running.enter_context(gateway(Path(name), NOWHERE if where == AWAY else url, *options))
        pids = [pid, running.enter_context(courier(Path(name), url))] if where == BESIDE else [pid]
        used = sum(map(processor, pids))
        seconds = sum(slices(port, partial(requests, size, coding, count), count))
        start, waiting = time.monotonic(), count - seen(url)["requests"]
        if where != AWAY:
            arrive(url, waiting)
        behind = time.monotonic() - start
        return count / seconds, count / (seconds + behind), (sum(map(processor, pids)) - used) / count * 1e6


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
    for first in range(FIRST_WAITING, FIRST_WAITING + number, FILLING):
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


def head(rounds: int, *, busy: bool) -> str:
    """Write the page's beginning: what was measured, and on what."""
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in ("truewatch-lineage", "confluent-kafka"))
    text = HEAD.format(
        cpus=os.cpu_count(),
        sizes=", ".join(f"{size} {len(Event.of(size).data) / 1000:.1f} KB" for size in ("small", "medium")),
        rounds=rounds,
        busy=BUSY if busy else "",
        versions=f"{versions}, Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}",
        system=platform.system(),
    )
    return "\n\n".join(textwrap.fill(part, 120) for part in text.split("\n\n"))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", default=[*PARTS], metavar="part", help=" or ".join(PARTS))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--events", type=int, default=20_000)
    parser.add_argument("--busy", action="store_true", help="say that the machine had other work")
    options = parser.parse_args()
    print(head(options.rounds, busy=options.busy), end="\n\n")
    for name in options.parts:
        title, measure = PARTS[name]
        print(f"## {title}\n", *measure(options.rounds, options.events), "", sep="\n", flush=True)
    if all(RATES.values()):
        rates = map(statistics.median, RATES.values())
        print("## On paper\n", *paper(*rates, Event.of("medium").one(0)), "", sep="\n")


if __name__ == "__main__":
    main()
