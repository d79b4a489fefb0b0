"""The API's query parameters: what each endpoint knows, read strictly."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from starlette.datastructures import QueryParams

from truewatch_lineage import protocol
from truewatch_lineage.serving.answers import Refusal

_MOST_DIGITS: Final = 16
_MAX_TEXT: Final = 8192


@dataclass(frozen=True, slots=True)
class Param:
    """One query parameter.

    Attributes:
        name: As it is written.
        kind: ``text``, ``integer``, ``flag`` (true or false), ``cursor`` (PLACE.INDEX) or ``texts`` (repeated).
        help: What it does.
        default: What it is if absent.
        least, most: The bounds of an integer.
        choices: The only texts, if not empty.
    """

    name: str
    kind: Literal["text", "integer", "flag", "cursor", "texts"]
    help: str
    default: Any = None
    least: int = 0
    most: int = 2**53
    choices: tuple[str, ...] = ()

    def read(self, values: Sequence[str]) -> Any:
        """Return the value of what was given; raises ``Refusal`` 400 that names the parameter."""
        if self.kind == "texts":
            return tuple(values)
        if not values:
            return self.default
        if len(values) > 1:
            raise self._wrong("can be given once only")
        return self._value(values[0])

    def _value(self, text: str) -> Any:
        if self.kind == "integer":
            return self._integer(text)
        if self.kind == "flag":
            if text not in {"true", "false"}:
                raise self._wrong("must be true or false")
            return text == "true"
        if self.kind == "cursor":
            place, _, index = text.partition(".")
            if not (_is_number(place) and _is_number(index)):
                raise self._wrong("must be what next said")
            return int(place), int(index)
        if len(text) > _MAX_TEXT:
            raise self._wrong(f"must have at most {_MAX_TEXT} characters")
        if self.choices and text not in self.choices:
            raise self._wrong(f"must be one of {', '.join(self.choices)}")
        return text

    def _integer(self, text: str) -> int:
        if not (_is_number(text) and self.least <= int(text) <= self.most):
            raise self._wrong(f"must be a whole number from {self.least} to {self.most}")
        return int(text)

    def _wrong(self, problem: str) -> Refusal:
        return Refusal(400, "invalidParameter", f"{self.name} {problem}.")


def read_params(known: Sequence[Param], query: QueryParams) -> dict[str, Any]:
    """Read a query strictly; the token's parameter is passed over.

    Args:
        known: The endpoint's parameters.
        query: What was given.

    Returns:
        A value for each parameter, by name.

    Raises:
        Refusal: 400, for an unknown parameter (with the nearest known one) or a wrong value.
    """
    names = [param.name for param in known]
    for name in query:
        if name not in names and name != protocol.TOKEN_QUERY:
            raise Refusal(400, "unknownParameter", f"{_shown(name)} is no parameter here.{_hint(name, names)}")
    return {param.name: param.read(query.getlist(param.name)) for param in known}


def filters(values: dict[str, Any], names: Sequence[str]) -> dict[str, str]:
    """Return those of the named parameters that were given."""
    return {name: values[name] for name in names if values[name] is not None}


def limit(most: int, default: int = 100) -> Param:
    """Make the parameter of how many items an answer has at most."""
    return Param("limit", "integer", "how many at most", default, 1, most)


def texts(*names: str) -> Iterator[Param]:
    """Make parameters that filter by equality."""
    return (Param(name, "text", f"only those with this {name}") for name in names)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS


def _shown(name: str) -> str:
    # What is no parameter may be anything, a token too: it is repeated only if it looks like a name.
    return name if len(name) <= 40 and name.replace("_", "").isalpha() else "That"  # noqa: PLR2004 - as said


def _hint(name: str, names: Sequence[str]) -> str:
    if not names:
        return " This path takes none."
    near = difflib.get_close_matches(name, names, 1)
    return f" Did you mean {near[0]}?" if near else f" Known are {', '.join(names)}."
