"""Takes the command line apart: what is dbt's, and the few words that are ``dbt-ol``'s."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

SEND_EVENTS: Final = "send-events"
"""The command of ``dbt-ol`` that sends the last run's events without running dbt."""

RUN_COMMANDS: Final = frozenset(
    {"build", "run", "test", "seed", "snapshot", "freshness", "clone", "retry", "run-operation"}
)
"""Commands that are a run: with a START and a terminal event of their own. Named as dbt's ``flags.WHICH`` does."""

JOB_COMMANDS: Final = frozenset({"compile", "generate"})
"""Commands from which lineage without a run comes, as JobEvents."""

_COMMANDS: Final = frozenset(
    (
        *("build", "clean", "clone", "compile", "debug", "deps", "docs", "init", "list", "ls", "parse", "retry"),
        *("run", "run-operation", "seed", "show", "snapshot", "source", "test"),
    )
)
_PARTS: Final = {
    ("docs", "generate"): "generate",
    ("docs", "serve"): "serve",
    ("source", "freshness"): "freshness",
    ("source", "snapshot-freshness"): "freshness",
}
_JOB_NAME: Final = "--openlineage-dbt-job-name"
_STRUCTURED_LOGS: Final = "--consume-structured-logs"

# dbt's options before the subcommand that take a value (dbt-core 1.5 to 1.11, `cli.params`), so that the value of
# `--target run` is not taken for the subcommand.
_WITH_VALUE: Final = frozenset(
    (
        *("-r", "-t", "--defer-state", "--event-buffer-size", "--indirect-selection", "--log-file-max-bytes"),
        *("--log-format", "--log-format-file", "--log-level", "--log-level-file", "--log-path"),
        *("--partial-parse-file-path", "--printer-width", "--profile", "--profiles-dir", "--project-dir"),
        *("--record-timing-info", "--state", "--target", "--target-path", "--warn-error-options"),
    )
)


@dataclass(frozen=True, slots=True)
class Invocation:
    """One call of ``truewatch-dbt``.

    Attributes:
        arguments: What dbt gets: all that was given but for ``dbt-ol``'s own options.
        command: The subcommand by dbt's own name for it (``flags.WHICH``), ``send-events``, or None.
        job_name: The name that ``--openlineage-dbt-job-name`` gives the run's job, or None.
    """

    arguments: tuple[str, ...]
    command: str | None
    job_name: str | None = None

    @property
    def has_lineage(self) -> bool:
        """Whether the subcommand is one that lineage comes from."""
        return self.command in RUN_COMMANDS | JOB_COMMANDS


def parse(arguments: Sequence[str]) -> Invocation:
    """Take the arguments after the program's name apart; never fails, since what is wrong with them is dbt's to say.

    Args:
        arguments: As the shell gave them.
    """
    kept, job_names = _without(list(arguments), _JOB_NAME)
    consumes_logs = _STRUCTURED_LOGS in kept
    kept = [argument for argument in kept if argument != _STRUCTURED_LOGS]
    if consumes_logs and kept[:1] == ["dbt"]:  # dbt-ol takes `dbt-ol --consume-structured-logs dbt run` as well
        kept = kept[1:]
    return Invocation(tuple(kept), _command(kept), job_names[-1] if job_names else None)


def option(arguments: Sequence[str], *names: str) -> str | None:
    """Return the value of an option, ``--name value`` or ``--name=value``; the last one counts, as in click."""
    values = [value for name in names for value in _without(list(arguments), name)[1]]
    return values[-1] if values else None


def values(arguments: Sequence[str], *names: str) -> list[str]:
    """Return all values of an option that takes several, such as ``--select a b --select=c``."""
    found: list[str] = []
    is_inside = False
    for argument in arguments:
        name, equals, value = argument.partition("=")
        if argument.startswith("-"):
            is_inside = argument in names
            found += [value] if equals and name in names else []
        elif is_inside:
            found.append(argument)
    return found


def _without(arguments: list[str], name: str) -> tuple[list[str], list[str]]:
    """Return the arguments without an option and its value, and the values it had."""
    kept: list[str] = []
    values: list[str] = []
    rest = iter(arguments)
    for argument in rest:
        if argument == name:
            values += [value for value in (next(rest, None),) if value is not None]
        elif argument.startswith(f"{name}="):
            values.append(argument.partition("=")[2])
        else:
            kept.append(argument)
    return kept, values


def _command(arguments: Sequence[str]) -> str | None:
    positional = _positional(arguments)
    first = next(positional, None)
    if first == SEND_EVENTS:
        return first
    if first in {"docs", "source"}:
        return _PARTS.get((first, next(positional, "")))
    return {"ls": "list"}.get(first, first) if first in _COMMANDS else None


def _positional(arguments: Sequence[str]) -> Iterator[str]:
    rest = iter(arguments)
    for argument in rest:
        if argument in _WITH_VALUE:
            next(rest, None)
        elif not argument.startswith("-"):
            yield argument
