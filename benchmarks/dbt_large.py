"""A dbt project of many models under truewatch-dbt and plain dbt: ``python benchmarks/dbt_large.py [--models 2000]``.

Prints for each pair of runs the seconds of both, and what ours takes more; the goal is a tenth at most.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from pathlib import Path

import dbt as beside  # puts the tests' helpers on the path
from support.dbt import SMALL, Dbt, copy_of, environment
from support.receiver import Receiver

GOAL = 0.10
FIRST = "select boat as name, length, length * 2 as twice from {{ ref('boats') }}\n"
NEXT = """\
with source as (select * from {{{{ ref('m{parent}') }}}}),

final as (
    select name, length + {number} as length, coalesce(twice, 0) as twice,
        case when length > 10 then 'long' else 'short' end as size_{number}
    from source
)

select * from final
"""


def make(folder: Path, models: int) -> Path:
    """Write a project whose models form a tree, each reading one before it by ``select *``."""
    texts = {f"models/m{number}.sql": NEXT.format(number=number, parent=number // 2) for number in range(1, models)}
    return copy_of(SMALL, folder, {"models/m0.sql": FIRST, **texts})


def seconds(dbt: Dbt, mode: beside.Mode, url: str, models: int) -> float:
    """Run a new project once, and return the seconds that it took."""
    with tempfile.TemporaryDirectory(prefix="bench-dbt-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        project = make(folder, models)
        start = time.monotonic()
        ran = dbt.run(mode.command, "build", project=project, env=mode.variables(url, folder), timeout=3600)
        took = time.monotonic() - start
        assert ran.code == 0, ran.out[-2000:]
    return took


def main() -> None:
    """Measure pairs, and print what ours takes more."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    dbt, more = environment(), []
    with Receiver() as receiver:
        for _ in range(options.rounds):
            plain, ours = (seconds(dbt, mode, receiver.url, options.models) for mode in (beside.PLAIN, beside.OURS))
            more.append(ours / plain - 1)
            print(f"dbt {plain:.1f} s, truewatch-dbt {ours:.1f} s: {more[-1]:+.1%}", flush=True)
    met = "met" if statistics.median(more) <= GOAL else "MISSED"
    print(f"{options.models} models: {statistics.median(more):+.1%} (goal {GOAL:.0%}, {met})")


if __name__ == "__main__":
    main()
