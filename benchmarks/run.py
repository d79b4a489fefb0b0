"""The whole path beside upstream's http and async_http, in one run: ``python benchmarks/run.py [--rounds 3] [--full]``.

Prints ratios as median (lowest to highest of the rounds), and which of the goals they meet. All clients take turns
within each round, since only ratios of one run mean anything on a shared machine.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from importlib import metadata
from pathlib import Path

from sink import sink

CLIENTS = ("power", "process", "http", "async_http")
DELAYS = {0.0: (800, 64), 0.02: (800, 64), 0.1: (800, 128)}
"""Seconds that the receiver takes, and with each: events to deliver, and our connections."""

IMPORTS = "import time, openlineage.client; t = time.perf_counter(); import {}; print(time.perf_counter() - t)"

Samples = dict[tuple[str, ...], list[float]]


def measure(*arguments: object) -> dict[str, float]:
    """Make one measure in a process of its own."""
    command = [sys.executable, str(Path(__file__).with_name("measures.py")), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{done.stderr}")
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def one_round(samples: Samples) -> None:
    """Measure each client once."""
    for delay, (number, connections) in DELAYS.items():
        with sink(delay) as url:
            for client in CLIENTS:
                if client == "http" and delay:
                    continue  # one event after the other: the receiver's delay is all it would show
                found = measure("delivery", client, url, number, connections)
                for name, value in found.items():
                    samples[client, name, f"{delay * 1000:g} ms"].append(value)
    with sink() as url:
        for client in CLIENTS:
            for name, value in (measure("latency", client, url) | measure("idle", client, url)).items():
                samples[client, name].append(value)


def added_import_seconds() -> float:
    """Return what importing our transport adds to importing the OpenLineage client, byte code at hand."""
    command = [sys.executable, "-c", IMPORTS.format("truewatch_lineage.transport")]
    with tempfile.TemporaryDirectory() as folder:
        environ = {**os.environ, "PYTHONPYCACHEPREFIX": folder}
        environ.pop("PYTHONDONTWRITEBYTECODE", None)
        return statistics.median([float(subprocess.check_output(command, env=environ)) for _ in range(8)][1:])


def ratio(samples: Samples, over: tuple[str, ...], under: tuple[str, ...]) -> list[float]:
    """Return the ratios of two measures, round by round, in order of size."""
    return sorted(a / b for a, b in zip(samples[over], samples[under], strict=True))


def spread(ratios: list[float]) -> str:
    """Show a median with its lowest and highest."""
    return f"{statistics.median(ratios):6.2f}x ({ratios[0]:.2f} to {ratios[-1]:.2f})"


def print_goals(samples: Samples) -> None:
    """Compare with the goals: for times upstream's over ours, for rates ours over upstream's."""
    emits = ("power", "async_http", 2), ("power", "http", 4), ("process", "async_http", 6), ("process", "http", 12)
    goals = [(f"emit p50 medium, {a}, {b}", (b, "medium_p50"), (a, "medium_p50"), goal) for a, b, goal in emits]
    for client, by_delay in (("process", (6, 5, 2)), ("power", (3, 3, 2))):
        for delay, goal in zip(("0 ms", "20 ms", "100 ms"), by_delay, strict=True):
            rates = [(one, "events_per_s", delay) for one in (client, "async_http")]
            goals.append((f"delivered/s, {client}, receiver takes {delay}", *rates, goal))
        goals.append((f"CPU per event, {client}", ("async_http", "cpu_ms", "0 ms"), (client, "cpu_ms", "0 ms"), 6))
    print(f"\n{'against upstream':42}{'goal':>8}  median (lowest to highest)")
    for name, over, under, goal in goals:
        ratios = ratio(samples, over, under)
        print(f"{name:42}{goal:>7}x {spread(ratios)}  {'met' if statistics.median(ratios) >= goal else 'MISSED'}")


def print_figures(samples: Samples) -> None:
    """Show the medians themselves, which mean something on this machine only."""
    names = sorted({name[1:] for name in samples})
    print(f"\n{'medians of this machine':34}" + "".join(f"{client:>12}" for client in CLIENTS))
    for name in names:
        values = [samples.get((client, *name)) for client in CLIENTS]
        shown = "".join(f"{statistics.median(value):12.2f}" if value else f"{'-':>12}" for value in values)
        print(f"{' '.join(name):34}{shown}")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--full", action="store_true", help="100,000 events with the receiver down, and not 10,000")
    options = parser.parse_args()
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in ("truewatch-lineage", "openlineage-python"))
    print(f"{versions}, Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}, {platform.platform()}")

    samples: Samples = defaultdict(list)
    start = time.monotonic()
    for number in range(options.rounds):
        one_round(samples)
        print(f"round {number + 1} of {options.rounds}, {time.monotonic() - start:.0f} s", file=sys.stderr, flush=True)
    print_goals(samples)
    print_figures(samples)

    events = 100_000 if options.full else 10_000
    down = measure("memory", "process", "http://127.0.0.1:9", events)
    peaks = [max(samples["process", "peak", f"{delay * 1000:g} ms"]) for delay in DELAYS]
    allowed = [connections for _, connections in DELAYS.values()]
    print(f"\nreceiver down, {events:,} medium events: {down['added_mb']:.1f} MB added (goal 20), slowest emit "
          f"{down['slowest_ms']:.0f} ms, {down['emits_per_s']:.0f} emits/s")  # fmt: skip
    print(f"connections at most: {peaks} of {allowed} (goal: no more)")
    print(f"import: {added_import_seconds() * 1e3:.0f} ms added (goal 40)")
    print(f"idle emit to the wire: {statistics.median(samples['power', 'idle_ms']):.1f} ms (goal 20)")


if __name__ == "__main__":
    main()
