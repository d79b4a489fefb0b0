"""What is wrong with an event that a destination has refused, in words."""

from __future__ import annotations

from typing import Final

from truewatch_lineage.events.validate import validate

_SHOWN: Final = 3


def faults_in_words(tree: object, kind: str) -> str:
    """Name by JSON path the errors that `validate` finds; no value of the event is quoted.

    Args:
        tree: The event, as of `validate`.
        kind: The kind of the destination, as of `validate`.

    Returns:
        Sentences, each after a blank, the first few of them; empty where there is no error.

    Raises:
        KeyError: There is no such kind.
    """
    errors = [f"{one.path}: {one.message}" for one in validate(tree, kind) if one.severity == "error"]
    more = f" (and {len(errors) - _SHOWN} more)" if len(errors) > _SHOWN else ""
    return "".join(f" {error}" for error in errors[:_SHOWN]) + more
