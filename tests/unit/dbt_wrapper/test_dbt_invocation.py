"""Which words of a command line are dbt's, and which subcommand they name."""

from __future__ import annotations

import pytest

from truewatch_lineage_dbt.invocation import option, parse, values

COMMANDS = [
    ("run", "run"),
    ("--profiles-dir p run", "run"),
    ("--target run build", "build"),
    ("-t run build", "build"),
    ("--log-level=debug --no-use-colors test -s a", "test"),
    ("docs generate", "generate"),
    ("docs --target dev generate", "generate"),
    ("docs serve", "serve"),
    ("source freshness", "freshness"),
    ("source snapshot-freshness", "freshness"),
    ("ls", "list"),
    ("run-operation grant --args {}", "run-operation"),
    ("send-events", "send-events"),
    ("--profiles-dir p send-events", "send-events"),
    ("--version", None),
    ("", None),
    ("docs", None),
    ("nonsense", None),
]


@pytest.mark.parametrize(("line", "command"), COMMANDS, ids=[line or "nothing" for line, _ in COMMANDS])
def test_the_subcommand_is_found_wherever_it_stands(line, command) -> None:
    """Options before it are passed over, together with the values of those that take one."""
    invocation = parse(line.split())
    assert invocation.command == command
    assert invocation.arguments == tuple(line.split())


@pytest.mark.parametrize(
    ("line", "arguments", "job_name"),
    [
        ("--openlineage-dbt-job-name nightly run -s a", "run -s a", "nightly"),
        ("run --openlineage-dbt-job-name=nightly -s a", "run -s a", "nightly"),
        ("run --openlineage-dbt-job-name", "run", None),
        ("run --consume-structured-logs -s a", "run -s a", None),
        ("--consume-structured-logs dbt run", "run", None),
        ("dbt run", "dbt run", None),
        ("run --vars {a:1} --select a b", "run --vars {a:1} --select a b", None),
    ],
)
def test_only_options_of_dbt_ol_are_kept_from_dbt(line, arguments, job_name) -> None:
    """What dbt-ol takes for itself is taken out, in both spellings; all else reaches dbt as it is."""
    invocation = parse(line.split())
    assert (invocation.arguments, invocation.job_name) == (tuple(arguments.split()), job_name)


@pytest.mark.parametrize(
    ("line", "has_lineage"),
    [("run", True), ("compile", True), ("docs generate", True), ("deps", False), ("debug", False), ("--help", False)],
)
def test_only_some_commands_have_lineage(line, has_lineage) -> None:
    """The others are dbt alone."""
    assert parse(line.split()).has_lineage is has_lineage


def test_the_last_value_of_an_option_counts() -> None:
    """As in click; several values are all of them, up to the next option."""
    line = ["run", "-t", "a", "--target=b", "-s", "x", "y", "--full-refresh", "--select=z"]
    assert option(line, "-t", "--target") == "b"
    assert option(line, "--profile") is None
    assert values(line, "-s", "--select") == ["x", "y", "z"]
