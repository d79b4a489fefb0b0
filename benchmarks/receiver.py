"""The local receiver, measured from outside: ``python benchmarks/receiver.py [--events 20000]``.

The receiver is one process, the load generator another, so every event counted is committed and projected. Prints
events a second over slices of the run, the receiver's memory along the way, and a graph query at depth 20 over 80,000
edges. ``--events 200000`` shows that memory stays flat.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from load import SLICES, request, slices
from usage import processor, resident

from truewatch_lineage.receiver.arrival import Arrival
from truewatch_lineage.receiver.store import Store

JOBS = 200
EDGES = 80_000
WIDTH = 200
GOAL = 2000
RUN_ID = b"00000000-0000-4000-8000-000000000000"


def event(job: str, inputs: list[str], outputs: list[str], columns: int) -> dict[str, object]:
    """Build a COMPLETE event whose outputs come column by column from its inputs."""
    namespace = "postgresql://warehouse.example:5432"
    names = [f"column_number_{number}" for number in range(columns)]
    schema = {"fields": [{"name": name, "type": "VARCHAR(255)", "description": f"What {name} holds"} for name in names]}
    fields = {
        name: {
            "inputFields": [
                {
                    "namespace": namespace,
                    "name": inputs[index % len(inputs)],
                    "field": name,
                    "transformations": [{"type": "DIRECT", "subtype": "IDENTITY"}],
                }
            ]
        }
        for index, name in enumerate(names)
    }
    facets = {"schema": schema, "columnLineage": {"fields": fields}} if columns else {}
    return {
        "eventType": "COMPLETE",
        "eventTime": "2026-10-21T08:00:00.000Z",
        "run": {"runId": RUN_ID.decode(), "facets": {"nominalTime": {"nominalStartTime": "2026-10-21T08:00:00Z"}}},
        "job": {"namespace": "example", "name": job, "facets": {"sql": {"query": "SELECT * FROM orders " * 8}}},
        "inputs": [
            {"namespace": namespace, "name": name, "facets": {"schema": schema} if columns else {}} for name in inputs
        ],
        "outputs": [{"namespace": namespace, "name": name, "facets": facets} for name in outputs],
        "producer": "https://example.com/benchmark",
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json",
    }


def bodies() -> list[bytes]:
    """Return an event for each job, about 7.5 KB each."""
    made = []
    for number in range(JOBS):
        tree = event(f"job_{number}", [f"raw.{number}", f"raw.{number + 1}"], [f"daily.{number}"], 14)
        made.append(json.dumps(tree, separators=(",", ":")).encode())
    return made


def requests() -> Callable[[int], bytes]:
    """Return what makes the request of a number: the event of a job, with a runId of its own."""
    made = bodies()

    def one(number: int) -> bytes:
        run_id = str(uuid.UUID(int=number + (4 << 76) + (8 << 60))).encode()
        return request(made[number % JOBS].replace(RUN_ID, run_id, 1))

    return one


@contextmanager
def receiver(data: Path) -> Iterator[tuple[int, int]]:
    """Run the receiver on a file; gives its port and process id."""
    command = [sys.executable, "-m", "truewatch_lineage.cli.receive", "--port", "0", "--data", str(data)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        try:
            yield int(process.stdout.readline().rpartition(":")[2]), process.pid
        finally:
            process.terminate()


def throughput(folder: Path, count: int) -> None:
    """Measure and print the intake."""
    with receiver(folder / "events.sqlite") as (port, pid):
        used = processor(pid)
        seconds, memory = [], []
        for took in slices(port, requests, count):
            seconds.append(took)
            memory.append(resident(pid))
        used = processor(pid) - used
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/stats") as answer:
            stats = json.load(answer)
    assert stats["events"] + stats["evicted"] == count
    rates = [count / SLICES / took for took in seconds]
    size = len(bodies()[0])
    middle = statistics.median(rates)
    print(
        f"intake: {count} events of {size / 1000:.1f} KB committed and projected: {count / sum(seconds):.0f} a second;"
        f" slices {min(rates):.0f}-{max(rates):.0f}, median {middle:.0f}, {middle / GOAL:.2f}x the goal of {GOAL}"
    )
    print(f"processor: {used / count * 1e6:.0f} µs an event, {count / used:.0f} events a second of one core")
    print(f"memory: {' '.join(f'{value:.0f}' for value in memory)} MiB after each tenth; records {stats['records']}")


def graph(folder: Path) -> None:
    """Measure and print the graph query: jobs in layers, each with two inputs and two outputs."""
    path = folder / "graph.sqlite"
    store = Store(path)
    jobs = EDGES // 4
    for first in range(0, jobs, WIDTH):
        store.fill([_job(number) for number in range(first, first + WIDTH)])
    store.close()
    with receiver(path) as (port, _):
        for limit in (1000, 10_000):
            query = f"node=dataset:wh/t.0.1&depth=20&direction=downstream&limit={limit}"
            times, found = [], {}
            for _ in range(21):
                began = time.perf_counter()
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/graph?{query}") as answer:
                    body = answer.read()
                times.append((time.perf_counter() - began) * 1000)
                found = json.loads(body)
            print(
                f"graph: depth 20 of {EDGES} edges, limit {limit}: {len(found['nodes'])} nodes,"
                f" {len(found['edges'])} edges, truncated {found['truncated']}:"
                f" median {statistics.median(times):.1f} ms"
                f" ({min(times):.1f}-{max(times):.1f}) over HTTP"
            )


def _job(number: int) -> Arrival:
    layer, place = divmod(number, WIDTH)
    # Far apart, so that a few steps reach the whole width.
    inputs = [{"namespace": "wh", "name": f"t.{layer}.{(place * step) % WIDTH}"} for step in (1, 7)]
    outputs = [{"namespace": "wh", "name": f"t.{layer + 1}.{(place + step) % WIDTH}"} for step in (1, 97)]
    tree = {
        "eventTime": "2026-10-21T08:00:00Z",
        "job": {"namespace": "example", "name": f"job.{number}"},
        "inputs": inputs,
        "outputs": outputs,
    }
    return Arrival.of("file", json.dumps(tree).encode(), tree, [])


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--events", type=int, default=20_000)
    count = parser.parse_args().events
    with tempfile.TemporaryDirectory(prefix="bench-receiver-") as name:
        throughput(Path(name), count)
        graph(Path(name))


if __name__ == "__main__":
    main()
