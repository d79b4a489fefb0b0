"""One commit: events, their records, runs and graph, and what retention takes away."""

# ruff: noqa: S608 - SQL is put together of this module's own names; every value is bound

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import orjson

from truewatch_lineage.receiver import runs
from truewatch_lineage.receiver.arrival import Arrival, Entry, Refused
from truewatch_lineage.receiver.graph_writer import GraphWriter
from truewatch_lineage.receiver.ids import NodeKey
from truewatch_lineage.receiver.lineage import job_key, shape
from truewatch_lineage.receiver.projection import Projection, Projector, ingest_error
from truewatch_lineage.receiver.schema import transaction
from truewatch_lineage.receiver.times import iso, seconds

INGEST_ERROR: Final = "IngestError"
"""Stands in for the kind of a payload that was refused."""

_ADD_EVENT: Final = f"INSERT INTO events VALUES ({', '.join('?' * 15)})"
_ADD_ARRIVAL: Final = (
    "INSERT INTO arrivals (event, destination, warnings, arrived_at, last_at) VALUES (?, ?, ?, ?, ?) "
    "ON CONFLICT DO UPDATE SET copies = copies + 1, last_at = excluded.last_at"
)
_COUNT: Final = "INSERT INTO totals VALUES (?, ?) ON CONFLICT DO UPDATE SET n = n + excluded.n"


@dataclass(frozen=True, slots=True)
class Stored:
    """One event that a commit added.

    Attributes:
        seq: Its place.
        arrival: As it came.
        projection: Its records.
        job: Its job's node, or None.
        shape: Its `lineage.shape`.
    """

    seq: int
    arrival: Arrival
    projection: Projection
    job: NodeKey | None
    shape: int


class Writer:
    """Writes batches through one connection.

    Args:
        connection: For writing only.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._graph = GraphWriter(connection)
        self._projector = Projector()

    def commit(self, entries: Sequence[Entry]) -> list[Stored]:
        """Write a batch in one transaction, each event's records with it; returns the events that are new.

        Raises:
            sqlite3.Error: Nothing of the batch was written.
        """
        arrivals = [entry for entry in entries if isinstance(entry, Arrival)]
        refusals = [entry for entry in entries if isinstance(entry, Refused)]
        try:
            with transaction(self._connection):
                return self._write(arrivals, refusals)
        except BaseException:
            self._graph.forget()
            raise

    def clear(self) -> None:
        """Forget every event, record, run and node; sequence numbers go on."""
        self._graph.forget()
        with transaction(self._connection):
            for table in ("arrivals", "events", "nodes", "edges", "runs", "totals"):
                self._connection.execute(f"DELETE FROM {table}")

    def _write(self, arrivals: Sequence[Arrival], refusals: Sequence[Refused]) -> list[Stored]:
        seq = self._connection.execute("SELECT MAX(seq) FROM sqlite_sequence WHERE name = 'events'").fetchone()[0] or 0
        places = self._known(arrivals)
        stored = []
        for arrival in arrivals:
            if arrival.event_id not in places:
                seq += 1
                places[arrival.event_id] = seq
                known = shape(arrival.tree)
                projection = self._projector.project(arrival.tree, arrival.event_id, known)
                stored.append(Stored(seq, arrival, projection, job_key(projection), known))
        rows = [_event_row(item) for item in stored]
        rows += [_refusal_row(seq + index, item) for index, item in enumerate(refusals, 1)]
        self._connection.executemany(_ADD_EVENT, rows)
        self._connection.executemany(_ADD_ARRIVAL, [_arrival_row(item, places[item.event_id]) for item in arrivals])
        for item in stored:
            self._graph.add(item.arrival.tree, item.projection, item.shape, item.seq)
        self._add_runs(stored)
        self._count(stored, len(refusals))
        return stored

    def _known(self, arrivals: Sequence[Arrival]) -> dict[str, int]:
        ids = orjson.dumps([arrival.event_id for arrival in arrivals]).decode()
        query = "SELECT event_id, seq FROM events WHERE event_id IN (SELECT value FROM json_each(?)) AND kind <> ?"
        return dict(map(tuple, self._connection.execute(query, (ids, INGEST_ERROR)).fetchall()))

    def _add_runs(self, stored: Sequence[Stored]) -> None:
        known = self._runs([item.projection.common.get("run_id") for item in stored])
        found: dict[tuple[str, int], tuple[runs.Run, int]] = {}
        for item in stored:
            run_id = item.projection.common.get("run_id")
            if run_id is None or item.job is None:
                continue
            key = (run_id, self._graph.node(item.job))
            moment = seconds(item.arrival.tree.get("eventTime"))
            run = runs.of_event(item.projection, item.arrival.arrived_at if moment is None else moment)
            known[key] = runs.merge(known[key], run) if key in known else run
            found[key] = (known[key], item.seq)
        rows = [(*key, *run.times(), orjson.dumps(run.info).decode(), seq) for key, (run, seq) in found.items()]
        self._connection.executemany(f"REPLACE INTO runs VALUES ({', '.join('?' * 11)})", rows)

    def _runs(self, run_ids: Sequence[str | None]) -> dict[tuple[str, int], runs.Run]:
        query = (
            "SELECT run_id, job, state, state_at, started, ended, first, last, events, info FROM runs "
            "WHERE run_id IN (SELECT value FROM json_each(?))"
        )
        rows = self._connection.execute(query, (orjson.dumps(run_ids).decode(),)).fetchall()
        return {(row[0], row[1]): runs.Run(*[*row[2:9], orjson.loads(row[9])]) for row in rows}

    def _count(self, stored: Sequence[Stored], refusals: int) -> None:
        totals: Counter[str] = Counter(events=len(stored))
        totals["records.ingest_error"] = refusals
        for item in stored:
            totals.update({f"records.{name}": count for name, count in item.projection.counts().items()})
        self._connection.executemany(_COUNT, totals.items())


def _event_row(item: Stored) -> tuple[Any, ...]:
    arrival, common, event = item.arrival, item.projection.common, item.projection.records[0]
    return (
        item.seq,
        arrival.event_id,
        arrival.kind,
        event.get("event_type"),
        *(common.get(name) for name in _COLUMNS),
        arrival.size,
        arrival.arrived_at,
        orjson.dumps(item.projection.counts()).decode(),
        arrival.body,
        orjson.dumps([item.projection.common, item.projection.records]),
    )


_COLUMNS: Final = ("event_time", "run_id", "job_namespace", "job_name", "dataset_namespace", "dataset_name")


def _refusal_row(seq: int, item: Refused) -> tuple[Any, ...]:
    projection = ingest_error(
        item.reason,
        item.destination,
        str(iso(item.at)),
        payload_hash=item.payload_hash,
        payload_size=item.payload_size,
    )
    records = orjson.dumps([projection.common, projection.records])
    empty = (None,) * (1 + len(_COLUMNS))
    return (
        seq,
        item.payload_hash,
        INGEST_ERROR,
        *empty,
        item.payload_size,
        item.at,
        '{"ingest_error":1}',
        b"",
        records,
    )


def _arrival_row(item: Arrival, place: int) -> tuple[Any, ...]:
    return (place, item.destination, item.warnings, item.arrived_at, item.arrived_at)
