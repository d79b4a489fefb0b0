"""What Spark's lineage amounts to and costs, by profile: ``python benchmarks/spark.py > docs/spark-measured.md``.

Prints a page. The job is tests/spark/jobs/harbour.py, run by a real Spark without the listener and with the settings
that ``truewatch-lineage spark conf`` writes; all take turns within each round, since only differences of one run mean
anything on a shared machine.
"""

from __future__ import annotations

import argparse
import gzip
import os
import platform
import resource
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

TESTS = Path(__file__).resolve().parents[1] / "tests"
sys.path.insert(0, str(TESTS))

from support.requests_log import RecordingReceiver  # noqa: E402 - found by the path above
from support.spark import AS_LOCAL, Spark, environment  # noqa: E402 - as above
from support.spark_flavours import FLAVOURS, Scene, written  # noqa: E402 - as above

from truewatch_lineage_spark.versions import VERSION  # noqa: E402 - as above

WITHOUT_COLUMNS = "lean, no columns"
MORE = {WITHOUT_COLUMNS: "spark.openlineage.facets.columnLineage.disabled=true\n"}
MODES = ("full", "lean", WITHOUT_COLUMNS)
RECORDS = ("event", "dataset_edge", "field_edge", "schema_version")
PAGE = 1000
HEAD = """\
# Spark, measured

Printed by `python benchmarks/spark.py`. The job is `tests/spark/jobs/harbour.py`: it reads two files, joins them and
writes the result, creates a table by a query, copies a file by RDD, and fails once. Records are those that the local
receiver makes of the events, as TrueWatch does. Times are a whole `spark-submit`, beside the same without the listener:
medians of {rounds} pairs (lowest to highest).

{machine}; listener {listener}; the receiver answers at once.{busy}
"""
BUSY = " The machine was busy with other work, so that the differences in elapsed time say little."


@dataclass
class Sample:
    """What the runs of a mode came to; counts are those of the last run."""

    elapsed: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    counts: Mapping[str, str] = field(default_factory=dict)


def measure(spark: Spark, mode: str | None) -> tuple[float, float, dict[str, str]]:
    """Run the job once and return elapsed seconds, seconds of processors, and what arrived."""
    with tempfile.TemporaryDirectory(prefix="bench-spark-") as name, RecordingReceiver() as receiver:
        home = Path(name)
        text = properties(spark, mode, home, receiver.url) if mode else AS_LOCAL
        start, before = time.monotonic(), _cpu()
        ran = FLAVOURS["properties"](Scene(spark, home), text)
        elapsed, cpu = time.monotonic() - start, _cpu() - before
        if not ran.ready:
            sys.exit(f"the job failed:\n{ran.log}")
        return elapsed, cpu, counts(receiver) if mode else {}


def properties(spark: Spark, mode: str, home: Path, url: str) -> str:
    """Write the ``spark-defaults.conf`` of a mode."""
    (home / "base.conf").write_text(AS_LOCAL + MORE.get(mode, ""), encoding="utf-8")
    (home / "token").write_text("a-token-of-the-benchmark", encoding="utf-8")
    (home / "token").chmod(0o600)
    options = ("--base", home / "base.conf", "--profile", mode.partition(",")[0])
    return written("properties", spark, {"url": url, "token_file": home / "token"}, *options)


def counts(receiver: RecordingReceiver) -> dict[str, str]:
    """Say what arrived: events, bytes, and the records that they become."""
    seen = receiver.seen()
    bodies = [one.text.encode() for one in seen]
    types = Counter(one.event["eventType"] for one in seen)
    kept = Counter(record["lineage_record_type"] for record in records(receiver))
    return {
        "events": f"{len(seen)} ({', '.join(f'{count} {kind}' for kind, count in sorted(types.items()))})",
        "bytes decoded": f"{sum(map(len, bodies)):,}",
        "bytes by gzip": f"{sum(len(gzip.compress(body, mtime=0)) for body in bodies):,}",
        "records": f"{sum(kept.values())} ({', '.join(f'{kept[kind]} {kind}' for kind in RECORDS)})",
        "runs without an end": str(len(_open(seen))),
    }


def records(receiver: RecordingReceiver) -> list[dict[str, Any]]:
    """Return all records of a receiver."""
    found: list[dict[str, Any]] = []
    query: dict[str, object] = {"limit": PAGE}
    while True:
        page = receiver.request("GET", f"/api/records?{urlencode(query)}").json
        found += page["records"]
        if page["next"] is None:
            return found
        query["after"] = page["next"]


def _open(seen: list[Any]) -> set[str]:
    ended = {one.event["run"]["runId"] for one in seen if one.event["eventType"] in {"COMPLETE", "FAIL", "ABORT"}}
    return {one.event["run"]["runId"] for one in seen} - ended


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def table(spark: Spark, rounds: int) -> list[str]:
    """Measure one Spark and return its part of the page."""
    samples: dict[str | None, Sample] = {mode: Sample() for mode in (None, *MODES)}
    for number in range(rounds):
        for mode, sample in samples.items():
            elapsed, cpu, sample.counts = measure(spark, mode)
            sample.elapsed.append(elapsed)
            sample.cpu.append(cpu)
        sys.stderr.write(f"Spark {spark.version}: round {number + 1} of {rounds}\n")
    plain = samples.pop(None)
    rows = {name: [sample.counts[name] for sample in samples.values()] for name in samples["full"].counts}
    rows["elapsed, beside none"] = [_spread(one.elapsed, plain.elapsed) for one in samples.values()]
    rows["processor, beside none"] = [_spread(one.cpu, plain.cpu) for one in samples.values()]
    without = f"{statistics.median(plain.elapsed):.1f} s, {statistics.median(plain.cpu):.1f} s of processors"
    lines = [f"## Spark {spark.version}", "", f"Without the listener: {without}.", ""]
    lines += [f"| | {' | '.join(MODES)} |", f"| --- |{' --- |' * len(MODES)}"]
    return [*lines, *(f"| {name} | {' | '.join(cells)} |" for name, cells in rows.items()), ""]


def _spread(ours: list[float], plain: list[float]) -> str:
    values = sorted(a - b for a, b in zip(ours, plain, strict=True))
    return f"{statistics.median(values):+.1f} s ({values[0]:+.1f} to {values[-1]:+.1f})"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--busy", action="store_true", help="say that the machine had other work")
    options = parser.parse_args()
    machine = f"Python {platform.python_version()}, {os.cpu_count()} CPUs, {platform.system()}"
    head = HEAD.format(rounds=options.rounds, machine=machine, listener=VERSION, busy=BUSY if options.busy else "")
    parts = [table(environment(version), options.rounds) for version in ("3.5", "4.0")]
    print("\n".join([*head.splitlines(), "", *(line for part in parts for line in part)]).rstrip())


if __name__ == "__main__":
    main()
