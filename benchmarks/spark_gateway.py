"""A Spark job's time while its destination hangs, behind the gateway: ``python benchmarks/spark_gateway.py``.

Prints a section of docs/gateway-measured.md. The job is tests/spark/jobs/harbour.py, run by a real Spark; the listener
is pointed at the gateway, and the gateway at a destination that answers at once or never. Both take turns within each
round, since only ratios of one run mean anything on a shared machine; once the listener is pointed at the hanging
destination itself.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from pathlib import Path

from gateways import gateway
from sink import sink

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from support.receiver import Receiver
from support.spark import Spark, environment
from support.spark_flavours import FLAVOURS, Scene, written

NEVER = 3600.0
GOAL = 1.05


def through(spark: Spark, delay: float) -> float:
    """Run the job with the listener pointed at a gateway for the destination; returns its seconds."""
    with (
        sink(delay) as url,
        tempfile.TemporaryDirectory(prefix="bench-spark-") as name,
        gateway(Path(name), url) as (port, _),
    ):
        return run(spark, Path(name), f"http://127.0.0.1:{port}")


def straight(spark: Spark, delay: float) -> tuple[float, int]:
    """Run the job with the listener pointed at the destination; returns its seconds, and how many events arrived."""
    with Receiver() as receiver, tempfile.TemporaryDirectory(prefix="bench-spark-") as name:
        receiver.faults([{"delay": delay, "times": None}])
        seconds = run(spark, Path(name), receiver.url)
        return seconds, len(receiver.events())


def run(spark: Spark, home: Path, url: str) -> float:
    """Run the job once and return its seconds.

    Raises:
        AssertionError: It failed; with its log.
    """
    text = written("properties", spark, {"url": url, "destination": "openlineage"})
    start = time.monotonic()
    ran = FLAVOURS["properties"](Scene(spark, home), text)
    seconds = time.monotonic() - start
    assert ran.ready, ran.log
    return seconds


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--spark", default="3.5", help="3.5 or 4.0")
    options = parser.parse_args()
    spark = environment(options.spark)
    through(spark, 0)  # the first run of a machine reads the jars from its disk
    ratios, healthy, hanging = [], [], []
    for number in range(options.rounds):
        times = {delay: through(spark, delay) for delay in ((0.0, NEVER) if number % 2 else (NEVER, 0.0))}
        healthy.append(times[0.0])
        hanging.append(times[NEVER])
        ratios.append(times[NEVER] / times[0.0])
        print(f"round {number + 1}: {times}", file=sys.stderr, flush=True)
    ratio = statistics.median(ratios)
    print(f"## Spark {spark.version} (goal: a hanging destination costs the job 5 % at most)\n")
    print("| the listener points at | destination answers at once | never | ratio |\n| --- | --- | --- | --- |")
    shown = f"{ratio:.3f} ({min(ratios):.3f} to {max(ratios):.3f}), {'met' if ratio <= GOAL else 'MISSED'}"
    print(f"| the gateway, {options.rounds} pairs | {_spread(healthy)} | {_spread(hanging)} | {shown} |")
    (good, whole), (bad, part) = straight(spark, 0), straight(spark, NEVER)
    print(f"| the destination, once | {good:.1f} s, {whole} events | {bad:.1f} s, {part} events | {bad / good:.3f} |")


def _spread(seconds: list[float]) -> str:
    return f"{statistics.median(seconds):.1f} s ({min(seconds):.1f} to {max(seconds):.1f})"


if __name__ == "__main__":
    main()
