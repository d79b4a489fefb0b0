"""``truewatch-lineage validate``: what a destination would refuse."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

import click

from truewatch_lineage.cli import output
from truewatch_lineage.cli.settings import SOURCE, SettingsCommand, given
from truewatch_lineage.config import KEYS, destination_kinds
from truewatch_lineage.errors import EventError

if TYPE_CHECKING:
    from truewatch_lineage.events.validate import Finding

EPILOG = """\b
Examples:
  truewatch-lineage validate events/
  truewatch-lineage validate --destination dataway --destination portal --json events.ndjson

\b
Exits 1 if there is an error, 0 if there are warnings only.
"""
_DEFAULT_KIND: Final = "dataway"
_EVERY: Final = "all"


@click.command("validate", cls=SettingsCommand, without=("destination",), epilog=EPILOG)
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@click.option(
    "--destination",
    "kinds",
    multiple=True,
    type=click.Choice(KEYS["destination"].choices),
    help="A kind of destination to check for; can be repeated. [default: those of the settings, else dataway]",
)
@click.option("--json", "as_json", is_flag=True, help="Print the findings as one JSON object.")
def command(files: tuple[str, ...], kinds: tuple[str, ...], as_json: bool) -> None:
    """Name what a destination would refuse (error), and what is odd (warning), by file, line and JSON path.

    Nothing is sent. A FILE is JSON (one event, several, or an array), NDJSON, a folder of such files, or - for
    standard input. Also warns when one run has two job identities.
    """
    chosen = kinds or destination_kinds(given(), params_name=SOURCE) or (_DEFAULT_KIND,)
    findings: list[dict[str, Any]] = []

    def tell(found: list[dict[str, Any]]) -> None:
        findings.extend(found)
        if not as_json:
            _show(found, named=len(chosen) > 1)

    count = _check(files, list(dict.fromkeys(chosen)), tell)
    errors = sum(finding["severity"] == "error" for finding in findings)
    warnings = len(findings) - errors
    if as_json:
        output.as_json({"events": count, "errors": errors, "warnings": warnings, "findings": findings})
    else:
        output.note(f"{count} events for {', '.join(chosen)}: {errors} errors, {warnings} warnings")
    click.get_current_context().exit(1 if errors else 0)


def _check(files: Sequence[str], kinds: Sequence[str], tell: Callable[[list[dict[str, Any]]], None]) -> int:
    """Tell what is wrong with each value of the files, then with runs; returns how many events there were."""
    from truewatch_lineage.cli.reading import items, total_bytes  # noqa: PLC0415 - the help needs none of it
    from truewatch_lineage.events.serialise import to_tree  # noqa: PLC0415
    from truewatch_lineage.events.validate import validate, validate_many  # noqa: PLC0415

    places: list[str] = []
    total = total_bytes(files)

    def trees() -> Iterator[object]:
        for item in items(files):
            bar.show("reading", item.position, total)
            try:
                tree = to_tree(item.content())
            except EventError as error:
                tell([_row(item.where, _EVERY, "error", error.path, error.problem, "")])
                continue
            tell([_of(item.where, kind, finding) for kind in kinds for finding in validate(tree, kind)])
            places.append(item.where)
            yield tree

    with output.progress() as bar:
        runs = validate_many(trees())
    for finding in runs:
        index, _, rest = finding.path.removeprefix("$[").partition("]")
        tell([_of(places[int(index)], _EVERY, finding) | {"path": f"${rest}"}])
    return len(places)


def _of(where: str, kind: str, finding: Finding) -> dict[str, Any]:
    return _row(where, kind, **asdict(finding))


def _row(where: str, kind: str, severity: str, path: str, message: str, rule: str) -> dict[str, Any]:
    file, _, line = where.rpartition(":")
    named = line.isdigit()
    return {
        "file": file if named else where,
        "line": int(line) if named else None,
        "destination": kind,
        "severity": severity,
        "path": path,
        "message": message,
        "rule": rule,
    }


def _show(findings: Sequence[dict[str, Any]], *, named: bool) -> None:
    for one in findings:
        where = one["file"] + (f":{one['line']}" if one["line"] else "")
        kind = f" {one['destination']}" if named and one["destination"] != _EVERY else ""
        rule = f" [{one['rule']}]" if one["rule"] else ""
        click.echo(f"{where}:{kind} {one['severity']} {one['path']}: {one['message']}{rule}")
