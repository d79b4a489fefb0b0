"""Serialisation, ours against upstream's Serde, in one run: ``python benchmarks/serialise.py``.

Prints, for each size, the medians of a call, how many times faster ours is, and the spread of that ratio. Only
the ratios mean anything on a shared machine, so both are timed in turn within each round.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

from openlineage.client.serde import Serde
from samples import SAMPLES

from truewatch_lineage.events.redact import Redactor
from truewatch_lineage.events.serialise import dumps, to_tree

ROUNDS = 11
SECONDS_A_ROUND = 0.1


def seconds(call: Callable[[], object]) -> float:
    """Return the median seconds of a call, over as many as fit a round; garbage collection runs as usual."""
    times = []
    end = time.perf_counter() + SECONDS_A_ROUND
    while not times or time.perf_counter() < end:
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def main() -> None:
    """Measure and print."""
    redactor = Redactor(secrets=lambda: ["not-a-real-token-0123456789"])
    print(f"{'event':8}{'bytes':>8}{'Serde':>12}{'ours':>12}{'ratio':>8}  spread{'':9}{'redact':>10}")
    for name, make in SAMPLES.items():
        event = make()
        tree = to_tree(event)
        rounds = [
            (
                seconds(lambda event=event: Serde.to_json(event).encode()),
                seconds(lambda event=event: dumps(to_tree(event))),
                seconds(lambda tree=tree: redactor.apply(tree)),
            )
            for _ in range(ROUNDS)
        ]
        serde, ours, redact = (statistics.median(column) * 1e6 for column in zip(*rounds, strict=True))
        ratios = sorted(row[0] / row[1] for row in rounds)
        print(
            f"{name:8}{len(dumps(tree)):8}{serde:10.1f}µs{ours:10.1f}µs{statistics.median(ratios):7.1f}x"
            f"  {ratios[0]:.1f}-{ratios[-1]:.1f}x{redact:15.1f}µs"
        )


if __name__ == "__main__":
    main()
