"""What commands show: results on stdout, all else on stderr; tables and bars on a terminal only."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import click

if TYPE_CHECKING:
    from rich.progress import Progress
    from rich.table import Table

_GAP: Final = 1
"""Blanks between two columns."""

_SENTENCE: Final = 24
"""The least width in which sentences can be read."""


def note(text: str) -> None:
    """Say something that is no result."""
    click.echo(text, err=True)


def as_json(value: object) -> None:
    """Print a result as one line of JSON; what is no UTF-8 in it (a path's bytes) is escaped."""
    click.echo(json.dumps(value, ensure_ascii=True))


def table(headings: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print rows: as a table on a terminal, else with tabs between the cells and no headings.

    Where the terminal is too narrow for a table, each row is a block with a line for each cell that has content, so
    that no word or time is cut. Only the last column, which may hold sentences, is broken between words.

    Args:
        headings: A name for each column; all empty for a table without them.
        rows: Their cells.
    """
    if not sys.stdout.isatty():
        for row in rows:
            click.echo("\t".join(_cell(cell).replace("\t", " ") for cell in row))
        return
    from rich.console import Console  # noqa: PLC0415 - a fifth of a second that a pipe need not pay

    cells, console = [[_cell(cell) for cell in row] for row in rows], Console()
    widths = [max(map(len, column)) for column in zip(headings, *cells, strict=True)]
    if sum(width + _GAP for width in widths[:-1]) + min(widths[-1], _SENTENCE) <= console.width:
        console.print(_table(headings, cells))
        return
    for number, row in enumerate(cells):
        click.echo(("\n" if number else "") + "\n".join(_block(headings, row)))


def _table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    from rich.table import Table  # noqa: PLC0415 - as above
    from rich.text import Text  # noqa: PLC0415

    made = Table(box=None, header_style="bold", pad_edge=False, show_header=any(headings))
    for number, heading in enumerate(headings, start=1):
        made.add_column(heading, overflow="fold", no_wrap=number < len(headings))
    for row in rows:
        made.add_row(*(Text(cell) for cell in row))
    return made


def _block(headings: Sequence[str], row: Sequence[str]) -> Iterator[str]:
    width = max(map(len, headings))
    return (f"{heading:<{width}}  {cell}".strip() for heading, cell in zip(headings, row, strict=True) if cell)


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
