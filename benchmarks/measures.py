"""What is measured of one client, in a process of its own: ``python benchmarks/measures.py MEASURE CLIENT URL …``.

Prints one JSON object. Clients: ``power`` and ``process`` are ours with that durability; ``http`` and ``async_http``
are upstream's, with gzip like ours.
"""

from __future__ import annotations

import json
import resource
import statistics
import sys
import tempfile
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

from openlineage.client import OpenLineageClient
from samples import SAMPLES, medium
from sink import seen

OURS = ("power", "process")
TOKEN = "not-a-real-token-0123456789"
EMITS = {"small": 200, "medium": 200, "large": 30}


def client(kind: str, url: str, folder: str, **more: Any) -> OpenLineageClient:
    """Build a client whose transport is of a kind."""
    if kind in OURS:
        config = {
            "type": "truewatch_lineage.TrueWatchTransport",
            "destination": "openlineage",
            "url": url,
            "token": TOKEN,
            "spool_dir": folder,
            "durability": kind,
            "delivery": "background",
            "exit_budget": 60,
            **more,
        }
    else:
        config = {"type": kind, "url": url, "compression": "gzip", "auth": {"type": "api_key", "apiKey": TOKEN}}
    return OpenLineageClient(config={"transport": config})


def latency(kind: str, url: str, folder: str) -> dict[str, Any]:
    """Return the microseconds of an ``emit()``, p50 and p99, for each size, with the receiver up."""
    found: dict[str, Any] = {}
    for size, make in SAMPLES.items():
        one = client(kind, url, f"{folder}/{size}")
        one.emit(make())
        times = []
        for event in [make() for _ in range(EMITS[size])]:
            start = time.perf_counter()
            one.emit(event)
            times.append((time.perf_counter() - start) * 1e6)
        one.close(60)
        cuts = statistics.quantiles(times, n=100, method="inclusive")
        found |= {f"{size}_p50": cuts[49], f"{size}_p99": cuts[98]}
    return found


def delivery(kind: str, url: str, folder: str, number: str, concurrency: str) -> dict[str, Any]:
    """Return how many medium events arrive in a second, and the milliseconds of CPU that each costs."""
    more = {"concurrency": int(concurrency)} if kind in OURS else {}
    one = client(kind, url, folder, **more)
    _warm(one, url)
    events = [medium() for _ in range(int(number))]
    cpu, start = time.process_time(), time.monotonic()
    for event in events:
        one.emit(event)
    one.close(60)
    counts = _arrived(url, len(events))
    cpu = time.process_time() - cpu
    return {
        "events_per_s": counts["requests"] / (counts["last"] - start),
        "cpu_ms": cpu / len(events) * 1e3,
        "peak": counts["peak"],
    }


def _warm(one: OpenLineageClient, url: str) -> None:
    """Send a first event, which opens what there is to open, with counts that begin with it."""
    seen(url)
    one.emit(medium())
    _arrived(url, 1)


def _arrived(url: str, number: int) -> dict[str, Any]:
    """Wait until so many requests have arrived, and return the counts of the sink."""
    total = {"requests": 0, "last": 0.0, "peak": 0}
    deadline = time.monotonic() + 60
    while total["requests"] < number and time.monotonic() < deadline:
        counts = seen(url)
        total = {
            "requests": total["requests"] + counts["requests"],
            "last": max(total["last"], counts["last"]),
            "peak": max(total["peak"], counts["peak"]),
        }
        if total["requests"] < number:
            time.sleep(0.02)
    return total


def idle(kind: str, url: str, folder: str) -> dict[str, Any]:
    """Return the milliseconds from an ``emit()`` after a pause to the complete request at the receiver."""
    one = client(kind, url, folder)
    _warm(one, url)
    waits = []
    for _ in range(7):
        time.sleep(0.15)
        event, start = medium(), time.monotonic()
        one.emit(event)
        waits.append((_arrived(url, 1)["last"] - start) * 1e3)
    one.close(10)
    return {"idle_ms": statistics.median(waits)}


def memory(kind: str, url: str, folder: str, number: str) -> dict[str, Any]:
    """Return the MB that so many medium events add while nobody listens, and the slowest ``emit()`` in ms."""
    one = client(kind, url, folder, spool_max_bytes=2 << 30)
    event, slowest = medium(), 0.0
    for _ in range(200):
        one.emit(event)
    before, start = _rss(), time.monotonic()
    for _ in range(int(number)):
        event.run.runId = str(uuid.uuid4())
        emit = time.perf_counter()
        one.emit(event)
        slowest = max(slowest, time.perf_counter() - emit)
    seconds = time.monotonic() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"added_mb": max(_rss(), peak) - before, "slowest_ms": slowest * 1e3, "emits_per_s": int(number) / seconds}


def _rss() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 2**20


MEASURES: dict[str, Callable[..., dict[str, Any]]] = {
    "latency": latency,
    "delivery": delivery,
    "idle": idle,
    "memory": memory,
}


def main() -> None:
    """Make one measure."""
    measure, kind, url, *more = sys.argv[1:]
    with tempfile.TemporaryDirectory(prefix="bench-spool-") as folder:
        print(json.dumps(MEASURES[measure](kind, url, folder, *more)))


if __name__ == "__main__":
    main()
