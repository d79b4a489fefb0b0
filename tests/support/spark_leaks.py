"""Where a token shows: every place that others can look into while a Spark job runs, or after it.

text = watched(home)                       # a spark-defaults.conf by which Spark shows all it has
...                                        # run harbour.py on it
found(ran, receiver, TOKEN)                # {"ui", "process list"}
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from support.requests_log import RecordingReceiver
from support.spark import AS_LOCAL, Ran

PLACES = {
    "ui": "Spark's page /environment, and the one of the queries",
    "rest": "its REST API",
    "event log": "the event log, for the history server",
    "driver log": "the driver's log at INFO, with --verbose and spark.logConf",
    "slow event": "the line of the log for an event that takes over a second",
    "process list": "the process list",
    "conf": "spark.conf.get, for all code of the job",
    "events": "the events",
}
"""Places and what they are."""

_SLOW = "Process of event"


def watched(home: Path) -> str:
    """Return a ``spark-defaults.conf`` by which Spark shows its settings wherever it can."""
    (home / "log").mkdir()
    shown = {
        "spark.ui.enabled": "true",
        "spark.ui.port": "0",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.compress": "false",
        "spark.eventLog.dir": f"file://{home}/log",
        "spark.logConf": "true",
    }
    return AS_LOCAL + "".join(f"{key}={value}\n" for key, value in shown.items())


def slow(receiver: RecordingReceiver) -> None:
    """Have a receiver take more than a second for each of the first events."""
    receiver.faults([{"delay": 1.2, "times": 6}])


def found(ran: Ran, receiver: RecordingReceiver, token: str) -> set[str]:
    """Return the places where a token shows.

    Raises:
        AssertionError: A place was not looked into.
    """
    places = dict(_places(ran, receiver))
    assert set(places) == set(PLACES)
    assert all(places[name] for name in places if name != "slow event"), "a place is empty"
    return {name for name, text in places.items() if token in text}


def _places(ran: Ran, receiver: RecordingReceiver) -> Iterator[tuple[str, str]]:
    seen = {path.name: path.read_text("utf-8", "replace") for path in (ran.home / "seen").iterdir()}
    yield "ui", seen["ui"] + seen["sql"]
    yield "rest", seen["rest"]
    yield "event log", "".join(path.read_text("utf-8") for path in (ran.home / "log").rglob("*") if path.is_file())
    lines = ran.log.splitlines()
    yield "driver log", "\n".join(line for line in lines if _SLOW not in line)
    yield "slow event", "\n".join(line for line in lines if _SLOW in line)
    yield "process list", seen["processes"]
    yield "conf", seen["conf"]
    yield "events", "".join(one.text for one in receiver.seen())
