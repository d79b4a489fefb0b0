"""Events that arrive and what tasks wait, beside upstream's http and async_http in real Airflows.

``python benchmarks/airflow.py`` prints a Markdown table; it takes about 8 minutes, both Airflows side by side. Each
transport gets an Airflow of its own (scheduler, LocalExecutor) and runs the same DAGs while the receiver is well, while
nobody listens, and while it hangs. After each trouble the receiver is well again, ours with a courier beside it, and
what arrives then counts too.
"""

from __future__ import annotations

import contextlib
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from support.airflow import Airflow, environment
from support.airflow_processes import free_port
from support.airflow_scene import TOKEN, Scene, expected, told
from support.receiver import DATAWAY, Receiver

AIRFLOWS = ("3", "2")
OURS = "truewatch"
TRANSPORTS = (OURS, "http", "async_http")
DAGS = ("succeeds", "maps", "sql")
RUN_SECONDS = 300
RECOVERY_SECONDS = 60
QUIET_SECONDS = 15
VERSIONS = """
import platform
from importlib.metadata import version
names = ("apache-airflow", "apache-airflow-providers-openlineage", "openlineage-python", "truewatch-lineage")
print(", ".join([f"Python {platform.python_version()}", *(f"{name} {version(name)}" for name in names)]))
"""


@dataclass(frozen=True)
class Row:
    """One transport in one state of the receiver: events that arrived, and the seconds of each try of a task."""

    airflow: str
    transport: str
    receiver: str
    arrived: int
    seconds: list[float]

    def __str__(self) -> str:
        """Show it as a row of Markdown."""
        wanted = expected(*DAGS).total()
        cells = (
            f"{self.airflow} | {self.transport} | {self.receiver} | {self.arrived} of {wanted}",
            f"{statistics.median(self.seconds):.1f} s | {max(self.seconds):.1f} s",
        )
        return f"| {' | '.join(cells)} |"


@contextmanager
def scene_with(name: str, transport: str) -> Iterator[Scene]:
    """Run an Airflow whose lineage goes by a transport: ours by its connection alone, as the README says."""
    port = free_port()
    stock = {
        "type": transport,
        "url": f"http://127.0.0.1:{port}",
        "endpoint": DATAWAY.lstrip("/"),
        "auth": {"type": "api_key", "apiKey": TOKEN},
    }
    env = {} if transport == OURS else {"AIRFLOW__OPENLINEAGE__TRANSPORT": json.dumps(stock)}
    with tempfile.TemporaryDirectory() as folder, Airflow(environment(name), Path(folder), env) as airflow:
        yield Scene(airflow, port)


def while_well(scene: Scene) -> tuple[int, dict[str, str]]:
    """Run the DAGs while the receiver answers; return the events that arrived, and the runs."""
    with scene.receiver() as receiver:
        runs = scene.run(*DAGS, timeout=RUN_SECONDS)
        return arrived(receiver, QUIET_SECONDS), runs


def while_refused(scene: Scene) -> tuple[int, dict[str, str]]:
    """Run them while nobody listens."""
    runs = scene.run(*DAGS, timeout=RUN_SECONDS)
    with scene.receiver() as receiver, recovering(scene):
        return arrived(receiver, patience(scene)), runs


def while_hanging(scene: Scene) -> tuple[int, dict[str, str]]:
    """Run them while the receiver takes each request and does not answer."""
    with scene.receiver() as receiver:
        receiver.faults([{"delay": 600, "times": None}])
        runs = scene.run(*DAGS, timeout=RUN_SECONDS)
        receiver.faults([])
        with recovering(scene):
            return arrived(receiver, patience(scene)), runs


STATES: dict[str, Callable[[Scene], tuple[int, dict[str, str]]]] = {
    "well": while_well,
    "refused": while_refused,
    "hanging": while_hanging,
}


def has_spool(scene: Scene) -> bool:
    """Tell whether the transport keeps what it could not deliver; upstream's keep nothing."""
    return (scene.spool / "spool.db").exists()


def patience(scene: Scene) -> float:
    """Return the seconds to wait for what was not delivered at once."""
    return RECOVERY_SECONDS if has_spool(scene) else QUIET_SECONDS


def recovering(scene: Scene) -> contextlib.AbstractContextManager[None]:
    """Run a courier where there is a spool."""
    return scene.courier() if has_spool(scene) else contextlib.nullcontext()


def arrived(receiver: Receiver, seconds: float) -> int:
    """Count the expected events that arrive within so many seconds, each once."""
    wanted = expected(*DAGS)
    end = time.monotonic() + seconds
    while (found := (told(receiver.events()) & wanted).total()) < wanted.total() and time.monotonic() < end:
        time.sleep(0.5)
    return found


def measure(name: str) -> list[Row]:
    """Measure all transports in one Airflow after the other; each is warm before it is measured."""
    rows = []
    for transport in TRANSPORTS:
        with scene_with(name, transport) as scene:
            with scene.receiver():
                scene.run(*DAGS)
            for receiver, trouble in STATES.items():
                count, runs = trouble(scene)
                rows.append(Row(name, transport, receiver, count, scene.seconds(runs)))
                print(rows[-1], file=sys.stderr)
    return rows


def main() -> None:
    """Print versions and table."""
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor() as pool:
        for name in AIRFLOWS:
            print(f"- Airflow {name}:", environment(name).run(VERSIONS, home=Path(folder)).stdout.strip())
        print("\n| Airflow | transport | receiver | events | a task, median | slowest task |")
        print("| --- | --- | --- | --- | --- | --- |")
        for rows in pool.map(measure, AIRFLOWS):
            print(*rows, sep="\n")


if __name__ == "__main__":
    main()
