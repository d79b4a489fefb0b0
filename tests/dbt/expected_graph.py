"""The lineage of ``project/``, written by hand from reading its SQL: what truewatch-dbt has to find.

Datasets are named without the database, which is ``harbour``: ``main.stg_calls`` is ``harbour.main.stg_calls``.

A column's origins are written as marks and columns, separated by commas:

- ``=`` DIRECT, IDENTITY: the value itself, renamed or not;
- ``~`` DIRECT, TRANSFORMATION: computed from it row by row: functions, casts, comparisons, coalesce, lag;
- ``+`` DIRECT, AGGREGATION: computed from it over many rows, whatever else is done to it on the way;
- ``?`` INDIRECT, CONDITIONAL: decides which value it is (the conditions of a CASE);
- ``w`` INDIRECT, WINDOW: partitions or orders the window that it is computed over.

``whole`` is what decides which rows there are, INDIRECT for every column: ``join``, ``filter`` (WHERE, HAVING,
QUALIFY, and a subquery in these), ``group_by`` and ``sort``. The usage nearest to the result names the kind: a filter
on a column that a window computed is a ``filter`` on the window's columns. Common table expressions and ephemeral
models are no datasets: lineage passes through them to what they read. ``count(*)`` and constants have no origin.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

DATABASE: Final = "harbour"
PROJECT: Final = "harbour"

KINDS: Final = {
    "=": ("DIRECT", "IDENTITY"),
    "~": ("DIRECT", "TRANSFORMATION"),
    "+": ("DIRECT", "AGGREGATION"),
    "?": ("INDIRECT", "CONDITIONAL"),
    "w": ("INDIRECT", "WINDOW"),
    "join": ("INDIRECT", "JOIN"),
    "filter": ("INDIRECT", "FILTER"),
    "group_by": ("INDIRECT", "GROUP_BY"),
    "sort": ("INDIRECT", "SORT"),
}

Origin = tuple[str, str, str, str]
"""Dataset (with the database), column, type and subtype of the transformation."""


@dataclass(frozen=True)
class Node:
    """What one node of the project reads and writes.

    Attributes:
        inputs: Datasets that it reads.
        output: The dataset that it writes, or None.
        columns: The output's columns with their origins, in order; empty where no SQL of ours makes them.
        whole: What decides about its rows.
    """

    inputs: tuple[str, ...] = ()
    output: str | None = None
    columns: dict[str, str] = field(default_factory=dict)
    whole: str = ""


def dataset(short: str) -> str:
    """Give a dataset's name as events have it."""
    return f"{DATABASE}.{short}"


def origins(text: str) -> set[Origin]:
    """Read marks and columns, such as ``"= main.stg_calls.imo, w main.stg_calls.arrived_at"``."""
    found = set()
    for part in filter(None, (part.strip() for part in text.split(","))):
        mark, _, column = part.partition(" ")
        name, _, last = column.rpartition(".")
        found.add((dataset(name), last, *KINDS[mark]))
    return found


def identical(origin: str, *names: str) -> dict[str, str]:
    """Give columns that are those of the same name in one dataset."""
    return {name: f"= {origin}.{name}" for name in names}


SOURCES: Final = ("raw.calls", "raw.cargo", "raw.ships")

SEEDS: Final = {
    "seed.harbour.ports": Node(output="main.ports"),
    "seed.harbour.tariffs": Node(output="main.tariffs"),
}
SEED_COLUMNS: Final = {
    "main.ports": ("port_code", "port_name", "country"),
    "main.tariffs": ("goods", "rate"),
}

SNAPSHOTS: Final = {
    "snapshot.harbour.ships_snapshot": Node(
        inputs=("raw.ships",),
        output="snapshots.ships_snapshot",
        columns={
            **identical("raw.ships", "imo", "flag", "gross_tonnage", "owner", "_loaded_at"),
            "ship_name": "~ raw.ships.ship_name",
            # Of dbt's own strategy `timestamp`: a hash of key and updated_at, and from when to when a row was valid.
            "dbt_scd_id": "~ raw.ships.imo, ~ raw.ships._loaded_at",
            "dbt_updated_at": "= raw.ships._loaded_at",
            "dbt_valid_from": "= raw.ships._loaded_at",
            "dbt_valid_to": "~ raw.ships._loaded_at",
        },
    ),
}

EPHEMERAL: Final = ("model.harbour.stg_ships", "model.harbour.int_owners")

MODELS: Final = {
    "model.harbour.stg_calls": Node(
        inputs=("raw.calls",),
        output="main.stg_calls",
        columns={
            "call_id": "= raw.calls.call_id",
            "imo": "= raw.calls.ship_imo",
            "port_code": "~ raw.calls.port",
            "arrived_at": "~ raw.calls.arrived",
            "departed_at": "~ raw.calls.departed",
        },
    ),
    "model.harbour.stg_cargo": Node(
        inputs=("raw.cargo",),
        output="main.stg_cargo",
        columns={
            **identical("raw.cargo", "cargo_id", "call_id", "goods", "tonnes", "loaded_at"),
            "kilograms": "~ raw.cargo.tonnes",
        },
    ),
    "model.harbour.stg_ports": Node(
        inputs=("main.ports",),
        output="main.stg_ports",
        columns={
            **identical("main.ports", "port_code", "port_name", "country"),
            "is_domestic": "~ main.ports.country",
        },
    ),
    "model.harbour.stg_tariffs": Node(
        inputs=("main.tariffs",),
        output="main.stg_tariffs",
        columns={"goods": "= main.tariffs.goods", "rate_per_tonne": "= main.tariffs.rate"},
    ),
    "model.harbour.int_calls_enriched": Node(
        inputs=("main.stg_calls", "main.stg_ports", "raw.ships"),
        output="main.int_calls_enriched",
        columns={
            **identical("main.stg_calls", "call_id", "imo", "port_code", "arrived_at", "departed_at"),
            "ship_name": "= raw.ships.ship_name",
            "owner": "~ raw.ships.owner",
            "port_name": "= main.stg_ports.port_name",
            "hours_in_port": "~ main.stg_calls.arrived_at, ~ main.stg_calls.departed_at",
        },
        whole="join main.stg_calls.port_code, join main.stg_ports.port_code,"
        " join main.stg_calls.imo, join raw.ships.imo",
    ),
    "model.harbour.int_cargo_priced": Node(
        inputs=("main.stg_cargo", "main.stg_tariffs"),
        output="main.int_cargo_priced",
        columns={
            **identical("main.stg_cargo", "cargo_id", "call_id", "goods", "tonnes"),
            "rate_per_tonne": "~ main.stg_tariffs.rate_per_tonne",
            "handling": "? main.stg_cargo.goods",
            "fee": "~ main.stg_cargo.tonnes, ~ main.stg_tariffs.rate_per_tonne",
            "loaded_on": "~ main.stg_cargo.loaded_at",
        },
        whole="join main.stg_cargo.goods, join main.stg_tariffs.goods",
    ),
    "model.harbour.int_call_totals": Node(
        inputs=("main.int_cargo_priced",),
        output="main.int_call_totals",
        columns={
            "call_id": "= main.int_cargo_priced.call_id",
            "lots": "",
            "total_tonnes": "+ main.int_cargo_priced.tonnes",
            "total_fee": "+ main.int_cargo_priced.fee",
        },
        whole="group_by main.int_cargo_priced.call_id",
    ),
    "model.harbour.fct_calls": Node(
        inputs=("main.int_calls_enriched", "main.int_call_totals"),
        output="main.fct_calls",
        columns={
            **identical("main.int_calls_enriched", "call_id", "imo", "port_code", "arrived_at", "hours_in_port"),
            "lots": "~ main.int_call_totals.lots",
            **identical("main.int_call_totals", "total_tonnes", "total_fee"),
        },
        whole="join main.int_calls_enriched.call_id, join main.int_call_totals.call_id",
    ),
    "model.harbour.fct_cargo_daily": Node(
        inputs=("main.int_cargo_priced",),
        output="main.fct_cargo_daily",
        columns={
            **identical("main.int_cargo_priced", "loaded_on", "goods"),
            "tonnes": "+ main.int_cargo_priced.tonnes",
            "highest_fee": "+ main.int_cargo_priced.fee",
        },
        whole="filter main.int_cargo_priced.tonnes, group_by main.int_cargo_priced.loaded_on,"
        " group_by main.int_cargo_priced.goods",
    ),
    "model.harbour.dim_ships": Node(
        inputs=("snapshots.ships_snapshot",),
        output="main.dim_ships",
        columns={
            **identical("snapshots.ships_snapshot", "imo", "ship_name", "flag"),
            "size_class": "? snapshots.ships_snapshot.gross_tonnage",
        },
        whole="filter snapshots.ships_snapshot.dbt_valid_to",
    ),
    "model.harbour.dim_ports": Node(
        inputs=("main.stg_ports", "main.stg_calls"),
        output="main.dim_ports",
        columns={
            "port_code": "= main.stg_ports.port_code, = main.stg_calls.port_code",
            **identical("main.stg_ports", "port_name", "country"),
        },
        whole="filter main.stg_calls.port_code, filter main.stg_ports.port_code",
    ),
    "model.harbour.dim_goods.v1": Node(
        inputs=("main.stg_tariffs",),
        output="main.dim_goods_v1",
        columns={"goods": "= main.stg_tariffs.goods"},
    ),
    "model.harbour.dim_goods.v2": Node(
        inputs=("main.stg_tariffs",),
        output="main.dim_goods_v2",
        columns={"goods": "= main.stg_tariffs.goods", "goods_code": "~ main.stg_tariffs.goods"},
    ),
    "model.harbour.rpt_busiest_ports": Node(
        inputs=("main.fct_calls", "main.dim_ports"),
        output="main.rpt_busiest_ports",
        columns={
            "port_code": "= main.fct_calls.port_code",
            "tonnes": "+ main.fct_calls.total_tonnes",
            "position": "w main.fct_calls.total_tonnes",
            "port_name": "= main.dim_ports.port_name",
        },
        whole="group_by main.fct_calls.port_code, join main.fct_calls.port_code, join main.dim_ports.port_code",
    ),
    "model.harbour.rpt_ship_history": Node(
        inputs=("main.fct_calls", "main.dim_ships"),
        output="main.rpt_ship_history",
        columns={
            "imo": "= main.fct_calls.imo",
            "ship_name": "= main.dim_ships.ship_name",
            "port_code": "= main.fct_calls.port_code",
            "previous_port_code": "~ main.fct_calls.port_code, w main.fct_calls.imo, w main.fct_calls.arrived_at",
        },
        whole="join main.fct_calls.imo, join main.dim_ships.imo",
    ),
    "model.harbour.rpt_owner_revenue": Node(
        inputs=("main.fct_calls", "main.int_calls_enriched", "raw.ships"),
        output="main.rpt_owner_revenue",
        columns={
            "owner": "~ raw.ships.owner",
            "ships": "+ raw.ships.imo",
            "revenue": "+ main.fct_calls.total_fee",
            "revenue_per_ship": "+ main.fct_calls.total_fee, + raw.ships.imo",
        },
        whole="join main.fct_calls.call_id, join main.int_calls_enriched.call_id,"
        " group_by main.int_calls_enriched.owner, group_by raw.ships.owner,"
        " join raw.ships.owner, join main.int_calls_enriched.owner",
    ),
    "model.harbour.rpt_long_stays": Node(
        inputs=("main.int_calls_enriched",),
        output="main.rpt_long_stays",
        columns={
            **identical("main.int_calls_enriched", "call_id", "hours_in_port"),
            "hours_too_long": "~ main.int_calls_enriched.hours_in_port",
        },
        whole="filter main.int_calls_enriched.hours_in_port, sort main.int_calls_enriched.hours_in_port",
    ),
    "model.harbour.rpt_goods_mix": Node(
        inputs=("main.int_cargo_priced",),
        output="main.rpt_goods_mix",
        columns={
            "call_id": "= main.int_cargo_priced.call_id",
            "grain_tonnes": "+ main.int_cargo_priced.tonnes, ? main.int_cargo_priced.goods",
            "ore_tonnes": "+ main.int_cargo_priced.tonnes, ? main.int_cargo_priced.goods",
            "cars_tonnes": "+ main.int_cargo_priced.tonnes, ? main.int_cargo_priced.goods",
            "all_tonnes": "+ main.int_cargo_priced.tonnes",
        },
        whole="group_by main.int_cargo_priced.call_id, filter main.int_cargo_priced.tonnes",
    ),
    "model.harbour.rpt_port_calls": Node(
        inputs=("main.fct_calls",),
        output="main_reporting.port_calls",
        columns={"port_code": "= main.fct_calls.port_code", "latest_call_id": "= main.fct_calls.call_id"},
        whole="filter main.fct_calls.port_code, filter main.fct_calls.arrived_at",
    ),
}
"""Every model but the ephemeral ones, which write nothing."""

MODEL_JOBS: Final = {
    unique_id: f"{DATABASE}.{node.output.rpartition('.')[0]}.{unique_id.removeprefix('model.')}"
    for unique_id, node in MODELS.items()
    if node.output
}
"""The models' job names: those of ``dbt-ol run``, ``database.schema.project.model``, the same in every command."""

TESTS: Final = {
    "unique_ports_port_code": ("main.ports",),
    "not_null_ports_port_code": ("main.ports",),
    "unique_tariffs_goods": ("main.tariffs",),
    "not_null_ships_snapshot_imo": ("snapshots.ships_snapshot",),
    "source_unique_raw_calls_call_id": ("raw.calls",),
    "source_not_null_raw_calls_call_id": ("raw.calls",),
    "unique_stg_calls_call_id": ("main.stg_calls",),
    "not_null_stg_calls_call_id": ("main.stg_calls",),
    "accepted_values_int_cargo_priced_handling__rolling__bulk": ("main.int_cargo_priced",),
    "not_negative_int_cargo_priced_fee": ("main.int_cargo_priced",),
    "unique_fct_calls_call_id": ("main.fct_calls",),
    "relationships_fct_calls_port_code__port_code__ref_ports_": ("main.fct_calls", "main.ports"),
    "not_null_fct_calls_hours_in_port": ("main.fct_calls",),
    "not_null_dim_goods_v1_goods": ("main.dim_goods_v1",),
    "not_null_dim_goods_v2_goods": ("main.dim_goods_v2",),
    "assert_departures_follow_arrivals": ("main.stg_calls", "main.fct_calls"),
}
"""Each data test by its name, with what it reads; the tested dataset is the first. None writes anything."""

WARNED_TESTS: Final = ("not_null_fct_calls_hours_in_port",)
"""Tests that find something; their severity is ``warn``. All others pass."""

UNIT_TESTS: Final = {"unit_test.harbour.int_cargo_priced.unknown_goods_have_the_default_rate": ()}
"""A unit test reads its own rows, so no dataset."""

EXPOSURES: Final = {
    "exposure.harbour.harbour_dashboard": ("main.fct_calls", "main.dim_ports"),
    "exposure.harbour.weekly_letter": ("main.rpt_owner_revenue", "raw.ships"),
}

FRESHNESS: Final = {"source.harbour.raw.calls": "pass", "source.harbour.raw.ships": "warn"}
"""Sources whose freshness is looked at, with what dbt says of it."""
