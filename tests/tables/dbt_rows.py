"""Commands of dbt that end in every way there is: what truewatch-dbt returns and prints has to be what dbt does.

From the table of exit codes that dbt-ol was measured by, and from its public bug reports. ``code`` is dbt's own exit
code, written down so that a row which no longer does what its name says is noticed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

BROKEN_SQL = "select no_such_column from {{ ref('boats') }}\n"
PROFILE = """\
small:
  target: dev
  outputs:
    dev: {type: duckdb, threads: 1}
"""
UNREACHABLE = """\
small:
  target: dev
  outputs:
    dev: {type: duckdb, path: no/such/folder/small.duckdb, threads: 1}
"""
FAILING_TEST = "select boat from {{ ref('boats') }}\n"
FAILING_UNIT_TEST = """\
version: 2
unit_tests:
  - name: feet
    model: boats_in_feet
    given: [{input: ref('boats'), rows: [{boat: Una, length: 1}]}]
    expect: {rows: [{boat: Una, feet: 99}]}
"""
STALE_SOURCE = """\
version: 2
sources:
  - name: main
    tables:
      - name: boats
        loaded_at_field: "timestamp '2020-01-01 00:00:00'"
        freshness: {error_after: {count: 1, period: day}}
"""
FRESH_SOURCE = STALE_SOURCE.replace("timestamp '2020-01-01 00:00:00'", "cast(now() as timestamp)")
FAILING_MACRO = "{% macro fail() %}{{ exceptions.raise_compiler_error('not today') }}{% endmacro %}\n"
QUIET_MACRO = "{% macro rest() %}{% do run_query('select 1') %}{% endmacro %}\n"
RAISING_MODEL = "{% if execute %}{{ exceptions.raise_compiler_error('not now') }}{% endif %}select 1 as one\n"
FAILING_HOOK = """\
name: small
version: "1.0"
profile: small
on-run-start: "select * from no_such_table"
"""


@dataclass(frozen=True)
class Row:
    """One command.

    Attributes:
        args: Its arguments; ``{project}`` is the project's folder.
        code: dbt's exit code.
        ends: How the run's job ends in the events; ``JOBS`` where there are job events only, or None for no event.
        files: Files that differ from the small project's.
        env: Variables of both.
        ours: Variables that only truewatch-dbt is given.
        before: A command of dbt that runs first, for both.
        elsewhere: Whether both run in another folder than the project's.
        warns: Whether truewatch-dbt says that no lineage was sent.
    """

    args: Sequence[str]
    code: int
    ends: str | None
    files: Mapping[str, str | None] = field(default_factory=dict)
    env: Mapping[str, str] = field(default_factory=dict)
    ours: Mapping[str, str] = field(default_factory=dict)
    before: Sequence[str] = ()
    elsewhere: bool = False
    warns: bool = False


ROWS = {
    # What succeeds.
    "build": Row(["build"], 0, "COMPLETE"),
    "run": Row(["run"], 0, "COMPLETE", before=["seed"]),
    "seed": Row(["seed", "--full-refresh"], 0, "COMPLETE"),
    "test": Row(
        ["test"],
        0,
        "COMPLETE",
        before=["run", "--empty"],
        files={"models/boats_in_feet.sql": "select 1 feet, 'Ida' boat"},
    ),
    "nothing selected": Row(["run", "--select", "no_such_model"], 0, "COMPLETE"),
    "options before the command": Row(["--no-use-colors", "--quiet", "build"], 0, "COMPLETE"),
    "log format json": Row(["--log-format", "json", "seed"], 0, "COMPLETE"),
    "DBT_TARGET": Row(["seed"], 0, "COMPLETE", env={"DBT_TARGET": "ci"}),
    "DBT_PROJECT_DIR from another folder": Row(
        ["seed"], 0, "COMPLETE", env={"DBT_PROJECT_DIR": "{project}", "DBT_PROFILES_DIR": "{project}"}, elsewhere=True
    ),
    "--project-dir from another folder": Row(
        ["seed", "--project-dir", "{project}", "--profiles-dir", "{project}"], 0, "COMPLETE", elsewhere=True
    ),
    "another target path, no artefacts": Row(["--no-write-json", "seed", "--target-path", "elsewhere"], 0, "COMPLETE"),
    "a duckdb profile without path": Row(["seed"], 0, "COMPLETE", files={"profiles.yml": PROFILE}),
    # What runs no node, or none with lineage.
    "docs generate": Row(["docs", "generate"], 0, "JOBS", before=["seed"]),
    "compile": Row(["compile"], 0, "JOBS"),
    "source freshness": Row(
        ["source", "freshness"], 0, "COMPLETE", before=["seed"], files={"models/_sources.yml": FRESH_SOURCE}
    ),
    "run-operation": Row(["run-operation", "rest"], 0, "COMPLETE", files={"macros/rest.sql": QUIET_MACRO}),
    "parse": Row(["parse"], 0, None),
    "ls": Row(["ls", "--output", "json"], 0, None),
    "show": Row(["show", "--inline", "select 1 as one"], 0, None),
    "deps": Row(["deps"], 0, None),
    "clean": Row(["clean"], 0, None),
    "debug": Row(["debug"], 0, None),
    "--version": Row(["--version"], 0, None),
    "--help": Row(["run", "--help"], 0, None),
    # What fails.
    "a failing model": Row(["run"], 1, "FAIL", before=["seed"], files={"models/boats_in_feet.sql": BROKEN_SQL}),
    "a failing model, fail fast": Row(
        ["build", "--fail-fast"], 1, "FAIL", files={"models/boats_in_feet.sql": BROKEN_SQL}
    ),
    "a failing test": Row(["build"], 1, "FAIL", files={"tests/no_boats.sql": FAILING_TEST}),
    "a failing unit test": Row(["build"], 1, "FAIL", files={"models/_unit.yml": FAILING_UNIT_TEST}),
    "a stale source": Row(
        ["source", "freshness"], 1, "FAIL", before=["seed"], files={"models/_sources.yml": STALE_SOURCE}
    ),
    "a failing hook": Row(["seed"], 1, "FAIL", files={"dbt_project.yml": FAILING_HOOK}),
    "a failing operation": Row(["run-operation", "fail"], 1, "FAIL", files={"macros/fail.sql": FAILING_MACRO}),
    "no such operation": Row(["run-operation", "no_such_macro"], 2, "FAIL"),
    "a model that raises": Row(["run"], 1, "FAIL", before=["seed"], files={"models/raises.sql": RAISING_MODEL}),
    "retry": Row(["retry"], 1, "FAIL", before=["build"], files={"models/boats_in_feet.sql": BROKEN_SQL}),
    "a compile error": Row(["run"], 2, "FAIL", files={"models/lost.sql": "select * from {{ ref('no_such_model') }}"}),
    "a syntax error of Jinja": Row(["build"], 2, "FAIL", files={"models/lost.sql": "select {{ 1"}),
    "a broken file of YAML": Row(["run"], 2, "FAIL", files={"models/broken.yml": "version: 2\nmodels: [\n"}),
    "bad --profiles-dir": Row(["run", "--profiles-dir", "no/such/folder"], 2, "FAIL"),
    "bad --target": Row(["run", "--target", "no_such_target"], 2, "FAIL"),
    "an unreachable database": Row(["run"], 2, "FAIL", files={"profiles.yml": UNREACHABLE}),
    "no dbt_project.yml": Row(["run"], 2, "FAIL", files={"dbt_project.yml": None}),
    "retry with nothing to retry": Row(["retry"], 2, "FAIL"),
    "an unknown command": Row(["rnu"], 2, None),
    "an unknown option": Row(["run", "--no-such-option"], 2, "FAIL"),
    "vars that are no YAML": Row(["run", "--vars", "{a: ["], 2, "FAIL"),
    # Lineage that can't be sent, or is not wanted.
    "lineage without a url": Row(["seed"], 0, None, ours={"TRUEWATCH_LINEAGE_URL": ""}, warns=True),
    "lineage with a broken url": Row(["seed"], 0, None, ours={"TRUEWATCH_LINEAGE_URL": "nonsense://"}, warns=True),
    "lineage with an unknown transport": Row(
        ["seed"], 0, None, ours={"TRUEWATCH_LINEAGE_URL": "", "OPENLINEAGE__TRANSPORT__TYPE": "no.such.T"}, warns=True
    ),
    "lineage disabled": Row(
        ["seed"], 0, None, ours={"OPENLINEAGE_DISABLED": "true", "TRUEWATCH_LINEAGE_URL": "nonsense://"}
    ),
}
