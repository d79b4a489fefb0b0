"""truewatch-dbt beside dbt-ol's two modes, on the tests' projects: ``python benchmarks/dbt.py > docs/dbt-measured.md``.

Prints a page. All commands take turns within each round, since only ratios of one run mean anything on a shared
machine; the lineage is compared with what was written by hand in tests/dbt/expected_graph.py.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from peak import Peak

TESTS = Path(__file__).resolve().parents[1] / "tests"
sys.path[:0] = [str(TESTS), str(TESTS / "dbt")]

import expected_graph as expected  # noqa: E402 - found by the path above
from support.dbt import HARBOUR, SMALL, Dbt, copy_of, environment  # noqa: E402 - as above
from support.dbt_events import names, runs_of  # noqa: E402 - as above
from support.receiver import OPENLINEAGE, Receiver  # noqa: E402 - as above
from tables.dbt_rows import ROWS, Row  # noqa: E402 - as above

COMMANDS = (
    "build",
    "a failing model",
    "a failing test",
    "a compile error",
    "bad --profiles-dir",
    "bad --target",
    "docs generate",
    "source freshness",
    "compile",
    "--version",
    "ls",
    "retry",
    "options before the command",
    "a duckdb profile without path",
    "DBT_PROJECT_DIR from another folder",
    "no dbt_project.yml",
    "a failing operation",
    "an unknown command",
)
"""Of the rows of the tests, those in which dbt-ol's exit codes were measured first, and a few more."""

HEAD = """\
# dbt, measured

Printed by `python benchmarks/dbt.py`. The project is `tests/dbt/project`, whose lineage was written by hand from its
SQL in `tests/dbt/expected_graph.py`; the commands are rows of `tests/tables/dbt_rows.py`. The receiver is up.

{versions}; {machine}. A run of one model by dbt itself takes {plain:.1f} s here; differences are medians of {rounds}
pairs (lowest to highest).

"""


@dataclass(frozen=True)
class Mode:
    """One way to run dbt.

    Attributes:
        name: As the page has it.
        command: What stands in the place of ``dbt``.
        last: Arguments after dbt's.
    """

    name: str
    command: str
    last: tuple[str, ...] = ()

    def variables(self, url: str, folder: Path) -> dict[str, str]:
        """Return what sends its lineage to a receiver that asks for no token."""
        if self.command == "dbt":
            return {}
        if self.command == "dbt-ol":
            prefix = "OPENLINEAGE__TRANSPORT__"
            return {f"{prefix}TYPE": "http", f"{prefix}URL": url, f"{prefix}ENDPOINT": OPENLINEAGE.lstrip("/")}
        return {
            "TRUEWATCH_LINEAGE_DESTINATION": "openlineage",
            "TRUEWATCH_LINEAGE_URL": url,
            "TRUEWATCH_LINEAGE_SPOOL_DIR": str(folder / "spool"),
        }


PLAIN = Mode("dbt", "dbt")
OURS = Mode("truewatch-dbt", "truewatch-dbt")
MODES = (
    OURS,
    Mode("dbt-ol", "dbt-ol"),
    Mode("dbt-ol, structured logs", "dbt-ol", ("--consume-structured-logs",)),
)


@dataclass
class Samples:
    """What was measured of one way to run dbt: seconds and peak bytes of one-model runs."""

    seconds: list[float] = field(default_factory=list)
    bytes: list[int] = field(default_factory=list)


def lineage(dbt: Dbt, mode: Mode) -> dict[str, str]:
    """Build the project once, and say how much of its lineage arrived right."""
    with Receiver() as receiver, _folder() as folder:
        project = copy_of(HARBOUR, folder)
        dbt.run(
            mode.command, "build", *mode.last, project=project, env=mode.variables(receiver.url, folder), timeout=300
        )
        events = [one["event"] for one in receiver.events()]
    runs = list(runs_of(events).values())
    models = {expected.dataset(node.output): node for node in expected.MODELS.values() if node.output}
    found = {name: _columns(events, name) for name in models}
    wanted = {name: _wanted(node) for name, node in models.items()}
    right = sum(found[name].get(column) == origins for name in models for column, origins in wanted[name].items())
    tables = sum(_inputs(events, name) == set(map(expected.dataset, node.inputs)) for name, node in models.items())
    return {
        "events of a build": f"{len(events)}",
        "runs with START and end, of all": f"{sum(run.is_whole() for run in runs)} of {len(runs)}",
        "START arrives before dbt has ended": "yes" if _is_live(events) else "no",
        f"models with the right input tables, of {len(models)}": f"{tables}",
        f"models with column lineage, of {len(models)}": f"{sum(map(bool, found.values()))}",
        f"columns with the right origins, of {sum(map(len, wanted.values()))}": f"{right}",
        "datasets written that do not exist": f"{len(_written(events) - _all_written())}",
    }


def _columns(events: list[dict[str, Any]], name: str) -> dict[str, set[tuple[str, str]]]:
    """Give the direct origins of a dataset's columns, by whichever event told them last."""
    found: dict[str, set[tuple[str, str]]] = {}
    for event in events:
        for output in event.get("outputs", ()):
            facet = output.get("facets", {}).get("columnLineage") if output["name"] == name else None
            for column, entry in (facet or {}).get("fields", {}).items():
                found[column] = {(one["name"], one["field"]) for one in entry["inputFields"] if _is_direct(one)}
    return found


def _is_direct(origin: Mapping[str, Any]) -> bool:
    kinds = {one["type"] for one in origin.get("transformations") or ()}
    return not kinds or "DIRECT" in kinds


def _wanted(node: expected.Node) -> dict[str, set[tuple[str, str]]]:
    columns = {column: expected.origins(text) for column, text in node.columns.items()}
    direct = {
        column: {(one[0], one[1]) for one in origins if one[2] == "DIRECT"} for column, origins in columns.items()
    }
    return {column: origins for column, origins in direct.items() if origins}


def _inputs(events: list[dict[str, Any]], name: str) -> set[str]:
    ends = [event for event in events if name in names(event.get("outputs", ())) and event["eventType"] == "COMPLETE"]
    return set(names(ends[-1].get("inputs", ()))) if ends else set()


def _written(events: list[dict[str, Any]]) -> set[str]:
    return {name for event in events for name in names(event.get("outputs", ()))}


def _all_written() -> set[str]:
    nodes = {**expected.SEEDS, **expected.SNAPSHOTS, **expected.MODELS}
    return {expected.dataset(node.output) for node in nodes.values() if node.output}


def _is_live(events: list[dict[str, Any]]) -> bool:
    """Tell whether a START came before the end of any other run, as it does while dbt is at work."""
    types = [event.get("eventType") for event in events]
    ends = [number for number, kind in enumerate(types) if kind == "COMPLETE"]
    starts = [number for number, kind in enumerate(types) if kind == "START"]
    return bool(ends and starts) and min(ends) < max(starts)


def wrong_codes(dbt: Dbt, modes: tuple[Mode, ...]) -> dict[Mode, list[str]]:
    """Run ``COMMANDS`` by each mode, and name those that end in another code than dbt's."""
    found: dict[Mode, list[str]] = {mode: [] for mode in modes}
    with Receiver() as receiver:
        for name in COMMANDS:
            for mode in modes:
                code = _code(dbt, mode, ROWS[name], receiver.url)
                if code != ROWS[name].code:
                    found[mode].append(f"{name}: {code}, dbt {ROWS[name].code}")
    return found


def _code(dbt: Dbt, mode: Mode, row: Row, url: str) -> int:
    with _folder() as folder:
        project = copy_of(SMALL, folder, row.files)
        where = folder / "elsewhere" if row.elsewhere else project
        where.mkdir(exist_ok=True)
        if row.before:
            dbt.run("dbt", *row.before, project=project)
        args = [arg.replace("{project}", str(project)) for arg in row.args]
        env = {name: value.replace("{project}", str(project)) for name, value in row.env.items()}
        return dbt.run(mode.command, *args, *mode.last, project=where, env=env | mode.variables(url, folder)).code


def times(dbt: Dbt, rounds: int) -> dict[Mode, Samples]:
    """Run one model again and again, each way in turn."""
    found = {mode: Samples() for mode in (PLAIN, *MODES)}
    with Receiver() as receiver, _folder() as folder:
        for mode in found:
            (folder / mode.name).mkdir()
            copy_of(SMALL, folder / mode.name)
            dbt.run("dbt", "seed", project=folder / mode.name / "project")
        for number in range(rounds + 1):
            for mode, samples in found.items():
                seconds, peak = _one_model(dbt, mode, receiver.url, folder / mode.name)
                if number:  # the first fills caches
                    samples.seconds.append(seconds)
                    samples.bytes.append(peak)
    return found


def _one_model(dbt: Dbt, mode: Mode, url: str, folder: Path) -> tuple[float, int]:
    command = dbt.command(mode.command, "run", "--select", "boats_in_feet", *mode.last)
    variables = dbt.variables(folder, mode.variables(url, folder))
    start = time.monotonic()
    with subprocess.Popen(
        command,
        cwd=folder / "project",
        env=variables,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as process:
        peak = Peak(process.pid)
        process.wait()
        seconds = time.monotonic() - start
    return seconds, peak.stop()


@contextlib.contextmanager
def _folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="bench-dbt-", ignore_cleanup_errors=True) as name:
        yield Path(name)


def _against_plain(samples: Mapping[Mode, Samples], mode: Mode, of: Callable[[Samples], list[float]]) -> list[float]:
    pairs = zip(of(samples[mode]), of(samples[PLAIN]), strict=True)
    return sorted(ours - plain for ours, plain in pairs)


def _spread(values: list[float], unit: str) -> str:
    return f"{statistics.median(values):+.2f} {unit} ({values[0]:+.2f} to {values[-1]:+.2f})"


def page(dbt: Dbt, rounds: int) -> str:
    """Measure everything and return the page."""
    rows = {mode: lineage(dbt, mode) for mode in MODES}
    codes = wrong_codes(dbt, MODES)
    samples = times(dbt, rounds)
    plain = statistics.median(samples[PLAIN].seconds)
    for mode in MODES:
        rows[mode][f"exit codes other than dbt's, in {len(COMMANDS)} commands"] = str(len(codes[mode]))
        rows[mode]["a run of one model, beside dbt's own"] = _spread(
            _against_plain(samples, mode, lambda one: one.seconds), "s"
        )
        rows[mode]["memory at most, beside dbt's own"] = _spread(
            _against_plain(samples, mode, lambda one: [size / 2**20 for size in one.bytes]), "MB"
        )
    table = ["| | " + " | ".join(f"`{mode.name}`" for mode in MODES) + " |", "| --- |" + " --- |" * len(MODES)]
    table += [f"| {name} | " + " | ".join(rows[mode][name] for mode in MODES) + " |" for name in rows[OURS]]
    wrong = [f"- `{mode.name}`: {'; '.join(codes[mode]) or 'none'}." for mode in MODES]
    return "\n".join([*_head(dbt, plain, rounds), *table, "", "## Exit codes that are not dbt's", "", *wrong])


def _head(dbt: Dbt, plain: float, rounds: int) -> list[str]:
    wanted = ("dbt-core", "dbt-duckdb", "openlineage-dbt", "sqlglot")
    code = f"from importlib.metadata import version; print(*[f'{{n}} {{version(n)}}' for n in {wanted}], sep=', ')"
    versions = subprocess.check_output([dbt.made.python, "-c", code], text=True).strip()
    machine = f"Python {platform.python_version()}, {os.cpu_count()} CPUs, {platform.system()}"
    return HEAD.format(versions=versions, machine=machine, plain=plain, rounds=rounds).splitlines()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    print(page(environment(), parser.parse_args().rounds))


if __name__ == "__main__":
    main()
