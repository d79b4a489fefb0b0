"""What commands show: results on stdout, all else on stderr; tables and bars on a terminal only."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from rich.progress import Progress


def note(text: str) -> None:
    """Say something that is no result."""
    click.echo(text, err=True)


def as_json(value: object) -> None:
    """Print a result as one line of JSON; what is no UTF-8 in it (a path's bytes) is escaped."""
    click.echo(json.dumps(value, ensure_ascii=True))


def table(headings: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print rows: as a table on a terminal, else with tabs between the cells and no headings."""
    if not sys.stdout.isatty():
        for row in rows:
            click.echo("\t".join(_cell(cell).replace("\t", " ") for cell in row))
        return
    from rich.console import Console  # noqa: PLC0415 - a fifth of a second that a pipe need not pay
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    shown = Table(box=None, header_style="bold", pad_edge=False)
    for heading in headings:
        shown.add_column(heading, overflow="fold")
    for row in rows:
        shown.add_row(*(Text(_cell(cell)) for cell in row))
    Console().print(shown)


def _cell(value: object) -> str:
    return "" if value is None else str(value).replace("\n", " ")


class Bar:
    """A progress bar, or nothing at all where stderr is no terminal.

    Args:
        progress: Where it shows, or None.
    """

    def __init__(self, progress: Progress | None) -> None:
        self._progress = progress
        self._tasks: dict[str, Any] = {}

    def show(self, what: str, done: float, total: float | None) -> None:
        """Bring one line up to date.

        Args:
            what: The line's name.
            done: How much is done.
            total: Of how much, or None where nobody knows.
        """
        if self._progress is None:
            return
        if what not in self._tasks:
            self._tasks[what] = self._progress.add_task(what, total=total)
        self._progress.update(self._tasks[what], completed=done, total=total)


@contextmanager
def progress() -> Iterator[Bar]:
    """Show progress bars for a ``with`` block; they are gone afterwards."""
    if not sys.stderr.isatty():
        yield Bar(None)
        return
    from rich.console import Console  # noqa: PLC0415 - as above
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn  # noqa: PLC0415

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:>3.0f} %"))
    with Progress(*columns, TimeElapsedColumn(), console=Console(stderr=True), transient=True) as shown:
        yield Bar(shown)
