"""What was found, for people and for programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from truewatch_lineage.words import counted
from truewatch_lineage_spark.lint.keys import LISTENER_VERSION
from truewatch_lineage_spark.lint.model import Document, Finding


def lines(findings: Sequence[Finding]) -> Iterator[str]:
    """Yield a line for each finding: ``file:line: severity key: message fix [rule]``."""
    for one in findings:
        key = f" {one.key}:" if one.key else ""
        yield f"{one.file}:{one.line}: {one.severity}{key} {one.message} {one.fix} [{one.rule}]"


def summary(documents: Sequence[Document], findings: Sequence[Finding]) -> str:
    """Return how much was looked at, and what came of it."""
    errors = errors_of(findings)
    told = f"{counted(errors, 'error')}, {counted(len(findings) - errors, 'warning')}"
    return f"{counted(_settings(documents), 'setting')} in {counted(len(documents), 'file')}: {told}"


def as_dict(documents: Sequence[Document], findings: Sequence[Finding]) -> dict[str, Any]:
    """Return all of it for a program.

    Returns:
        ``{"listener", "files", "settings", "errors", "warnings", "notes", "findings"}``, where a finding has the fields
        of ``Finding``.
    """
    errors = errors_of(findings)
    return {
        "listener": LISTENER_VERSION,
        "files": len(documents),
        "settings": _settings(documents),
        "errors": errors,
        "warnings": len(findings) - errors,
        "notes": [note for document in documents for note in document.notes],
        "findings": [asdict(one) for one in findings],
    }


def errors_of(findings: Sequence[Finding]) -> int:
    """Return how many findings are errors."""
    return sum(one.severity == "error" for one in findings)


def _settings(documents: Sequence[Document]) -> int:
    """Count settings by their places, since several programs of a script may share a variable."""
    return len({(one.file, one.line, one.key) for each in documents for scope in each.scopes for one in scope.settings})
