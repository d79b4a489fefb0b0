"""``truewatch-lineage validate``: what a destination would refuse."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any, Final, Literal

import click

from truewatch_lineage.cli import output
from truewatch_lineage.cli.reading import Item, items, total_bytes
from truewatch_lineage.cli.settings import SOURCE, SettingsCommand, given
from truewatch_lineage.config import KEYS, destination_kinds
from truewatch_lineage.errors import EventError
from truewatch_lineage.words import counted

EPILOG = """\b
Examples:
  truewatch-lineage validate events/
  truewatch-lineage validate --destination dataway --destination portal --json events.ndjson

\b
Exits 1 if there is an error, 0 if there are warnings only.
"""
_DEFAULT_KIND: Final = "dataway"
_EVERY: Final = "all"

Oversize = Literal["trim", "reject"]


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
    chosen = _chosen(kinds)
    findings: list[dict[str, Any]] = []

    def tell(found: list[dict[str, Any]]) -> None:
        findings.extend(found)
        if not as_json:
            _show(found, named=len(chosen) > 1)

    count = _check(files, chosen, tell)
    errors = sum(finding["severity"] == "error" for finding in findings)
    warnings = len(findings) - errors
    if as_json:
        output.as_json({"events": count, "errors": errors, "warnings": warnings, "findings": findings})
    else:
        told = ", ".join((counted(errors, "error"), counted(warnings, "warning")))
        output.note(f"{counted(count, 'event')} for {', '.join(chosen)}: {told}")
    click.get_current_context().exit(1 if errors else 0)


def _chosen(kinds: Sequence[str]) -> Mapping[str, Oversize]:
    """Return the kinds that are asked for, else those of the settings, each with what happens to what is too large."""
    known = destination_kinds(given(), params_name=SOURCE)
    default: Oversize = "reject" if "reject" in known.values() else "trim"
    return {kind: known.get(kind, default) for kind in kinds} or known or {_DEFAULT_KIND: default}


def _check(files: Sequence[str], kinds: Mapping[str, Oversize], tell: Callable[[list[dict[str, Any]]], None]) -> int:
    """Tell what is wrong with each value of the files, then with runs; returns how many events there were."""
    from truewatch_lineage.events.serialise import to_tree  # noqa: PLC0415 - the help needs none of it
    from truewatch_lineage.events.validate import validate, validate_many  # noqa: PLC0415

    places: list[Item] = []
    total = total_bytes(files)

    def trees() -> Iterator[object]:
        for item in items(files):
            bar.show("reading", item.position, total)
            try:
                tree = to_tree(item.content())
            except EventError as error:
                tell([_row(item, _EVERY, "error", error.path, error.problem, "")])
                continue
            found = ((kind, finding) for kind, oversize in kinds.items() for finding in validate(tree, kind, oversize))
            tell([_row(item, kind, **asdict(finding)) for kind, finding in found])
            places.append(replace(item, data=None))
            yield tree

    with output.progress() as bar:
        runs = validate_many(trees())
    for finding in runs:
        index, _, rest = finding.path.removeprefix("$[").partition("]")
        tell([_row(places[int(index)], _EVERY, **asdict(finding)) | {"path": f"${rest}"}])
    return len(places)


def _row(item: Item, kind: str, severity: str, path: str, message: str, rule: str) -> dict[str, Any]:
    return {
        "file": item.file,
        "line": item.line,
        "index": item.index,
        "destination": kind,
        "severity": severity,
        "path": path,
        "message": message,
        "rule": rule,
    }


def _show(findings: Sequence[dict[str, Any]], *, named: bool) -> None:
    for one in findings:
        where = Item(one["file"], line=one["line"], index=one["index"]).where
        kind = f" {one['destination']}" if named and one["destination"] != _EVERY else ""
        rule = f" [{one['rule']}]" if one["rule"] else ""
        click.echo(f"{where}:{kind} {one['severity']} {one['path']}: {one['message']}{rule}")
