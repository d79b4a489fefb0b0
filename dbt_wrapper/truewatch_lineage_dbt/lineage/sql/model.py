"""What a query makes: columns with their origins, and what decides which rows there are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Final, NamedTuple, Protocol


class Usage(NamedTuple):
    """How a column is used, as the columnLineage facet names it.

    Attributes:
        indirect: It decides about the value or the rows, but is no part of the value.
        subtype: ``IDENTITY``, ``TRANSFORMATION``, ``AGGREGATION``; or ``CONDITIONAL``, ``WINDOW``, ``FILTER``,
            ``JOIN``, ``GROUP_BY``, ``SORT``.
        masking: The value can't be told from the result: a hash, a count.
    """

    indirect: bool
    subtype: str
    masking: bool = False


IDENTITY: Final = Usage(False, "IDENTITY")
TRANSFORMATION: Final = Usage(False, "TRANSFORMATION")
AGGREGATION: Final = Usage(False, "AGGREGATION")
CONDITIONAL: Final = Usage(True, "CONDITIONAL")
WINDOW: Final = Usage(True, "WINDOW")
FILTER: Final = Usage(True, "FILTER")
JOIN: Final = Usage(True, "JOIN")
GROUP_BY: Final = Usage(True, "GROUP_BY")
SORT: Final = Usage(True, "SORT")

_STRENGTH: Final = {"IDENTITY": 0, "TRANSFORMATION": 1, "AGGREGATION": 2}


@cache
def combine(inner: Usage, outer: Usage) -> Usage:
    """Return how a column is used by what uses a value that it was used for; the usage nearest to the result names it.

    An indirect usage stays one: a column that only decided about a value decides about what is made of the value.
    """
    if outer.indirect:
        return outer
    if inner.indirect:
        return inner
    stronger = max(inner, outer, key=lambda usage: _STRENGTH[usage.subtype])
    return stronger._replace(masking=inner.masking or outer.masking)


class Leaf(NamedTuple):
    """A column of a table.

    Attributes:
        dataset: The table's name, as events have it.
        column: The column's name.
    """

    dataset: str
    column: str


class Inputs(dict[Leaf, frozenset[Usage]]):
    """The columns that something is made of, and how they are used."""

    def add(self, other: Mapping[Leaf, frozenset[Usage]], outer: Usage = IDENTITY) -> None:
        """Take in another's columns, as seen through a usage."""
        for leaf, usages in other.items():
            seen = usages if outer is IDENTITY else frozenset(combine(usage, outer) for usage in usages)
            self[leaf] = self[leaf] | seen if leaf in self else seen

    @classmethod
    def of(cls, parts: Iterable[Mapping[Leaf, frozenset[Usage]]], outer: Usage = IDENTITY) -> Inputs:
        """Gather several into one."""
        gathered = cls()
        for part in parts:
            gathered.add(part, outer)
        return gathered


NOTHING: Final = Inputs()


class Column(NamedTuple):
    """A column of a query's result.

    Attributes:
        name: As the database spells it; None where the query names it not and the database would.
        inputs: What it is made of.
    """

    name: str | None
    inputs: Inputs


class Source(Protocol):
    """What a query can select from."""

    influences: Inputs

    def known(self) -> Mapping[str, Column]:
        """Return the columns that are certain, in order, by folded name."""

    def find(self, name: str) -> Inputs | None:
        """Return a column's inputs; None where there is no such column."""

    @property
    def open(self) -> tuple[tuple[str, ...], ...]:
        """The tables whose further columns pass through; those of one group all give a column of a name."""

    @property
    def hidden(self) -> frozenset[str]:
        """Folded names that do not pass through."""


def fold(name: str) -> str:
    """Return a name as it is compared: dbt's projects mix cases more often than they rely on them."""
    return name.casefold()


@dataclass(slots=True)
class Relation:
    """The result of a query.

    Attributes:
        columns: Its columns in order, by folded name; those without a name by their place.
        influences: What decides about its rows.
        open: As in ``Source``.
        hidden: As in ``Source``.
        catchall: What any other column is made of (``unnest``, table functions), or None.
    """

    columns: dict[str, Column] = field(default_factory=dict)
    influences: Inputs = field(default_factory=Inputs)
    open: tuple[tuple[str, ...], ...] = ()
    hidden: frozenset[str] = frozenset()
    catchall: Inputs | None = None

    def known(self) -> Mapping[str, Column]:
        """Return the columns that are certain, in order, by folded name."""
        return self.columns

    def find(self, name: str) -> Inputs | None:
        """Return a column's inputs; None where there is no such column, or its table can't be told."""
        key = fold(name)
        if key in self.columns:
            return self.columns[key].inputs
        if len(self.open) == 1 and key not in self.hidden:
            return Inputs({Leaf(dataset, name): frozenset({IDENTITY}) for dataset in self.open[0]})
        return self.catchall

    def renamed(self, names: list[str]) -> Relation:
        """Return the same with new names for the first columns, as in ``with t (a, b) as (…)``."""
        columns = list(self.columns.values())
        if not columns and self.catchall is not None:
            columns = [Column(name, self.catchall) for name in names]
        renamed = [Column(name, column.inputs) for name, column in zip(names, columns, strict=False)]
        return Relation(
            keyed([*renamed, *columns[len(renamed) :]]), self.influences, self.open, self.hidden, self.catchall
        )


class Shape(NamedTuple):
    """What is known of a table's columns.

    Attributes:
        names: The columns' names, in order.
        closed: There are no others.
    """

    names: tuple[str, ...] = ()
    closed: bool = False


class Table:
    """A table of the warehouse.

    Args:
        dataset: Its name, as events have it.
        shape: Gives what is known of its columns; asked only where the query can't be read without.
        peek: Gives what is known already.
    """

    def __init__(self, dataset: str, shape: Callable[[], Shape], peek: Callable[[], Shape] | None = None) -> None:
        self.dataset = dataset
        self.influences = NOTHING
        self._shape = shape
        self._peek = peek or shape
        self._known: dict[str, Column] | None = None
        self._spelt: dict[str, str] | None = None

    def known(self) -> Mapping[str, Column]:
        """Return the columns that are certain, in order, by folded name."""
        if self._known is None:
            self._known = keyed(Column(name, self._leaf(name)) for name in self._shape().names)
        return self._known

    def find(self, name: str) -> Inputs:
        """Return a column by name, spelt as the table does; any name may be one: databases have hidden columns."""
        if self._spelt is None:
            self._spelt = {fold(known): known for known in self._peek().names}
        return self._leaf(self._spelt.get(fold(name), name))

    @property
    def open(self) -> tuple[tuple[str, ...], ...]:
        """The table itself, unless all its columns are known."""
        return () if self._shape().closed else ((self.dataset,),)

    @property
    def hidden(self) -> frozenset[str]:
        """Nothing is hidden in a table."""
        return frozenset()

    def _leaf(self, name: str) -> Inputs:
        return Inputs({Leaf(self.dataset, name): frozenset({IDENTITY})})


def keyed(columns: Iterable[Column]) -> dict[str, Column]:
    """Return columns by folded name; of several with one name the first has it, as no database stores them all so."""
    found: dict[str, Column] = {}
    for index, column in enumerate(columns):
        key = None if column.name is None else fold(column.name)
        if key is None or key in found:
            found[f"\0{index}"] = Column(None, column.inputs)
        else:
            found[key] = column
    return found
