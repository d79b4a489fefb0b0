"""From a file to the settings in it: its format is told by its name, else by what it looks like."""

from __future__ import annotations

import re
import stat
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from truewatch_lineage_spark.lint import catalog
from truewatch_lineage_spark.lint.formats import platforms, properties, python, submit, tree
from truewatch_lineage_spark.lint.model import Document, Finding, Scope
from truewatch_lineage_spark.lint.traps import leaks

STDIN: Final = "-"
MAX_BYTES: Final = 4 * 1024 * 1024
"""No file of settings is as large."""

_SUFFIXES: Final = {
    ".conf": "properties",
    ".properties": "properties",
    ".json": "json",
    ".yml": "yaml",
    ".yaml": "yaml",
    ".sh": "shell",
    ".bash": "shell",
    ".env": "shell",
    ".py": "python",
}
_LOOKS: Final = (
    ("json", re.compile(r"\A\ufeff?\s*[\[{]")),
    ("python", re.compile(r"(?m)^\s*(?:from|import) \w|^\s*\.config\(")),
    ("shell", re.compile(r"#!|(?m:^\s*(?:export\s+)?[A-Z_]+=|spark-submit|--conf\b|--packages\b|--properties\b)")),
    ("yaml", re.compile(r"(?m)^(?:---|[A-Za-z]+:(?:[ \t]|$))")),
    ("properties", re.compile(r"(?m)^[ \t\f]*spark\.")),
)
"""By what a text looks like, the surest first."""

_COMMENTS: Final = re.compile(r"(?m)^[ \t]*#(?!!).*$")

Read = Callable[[str, str, "_Around"], Document]


class _Around:
    """What a reader may need beside the text: where the file is, and who else can read it."""

    def __init__(self, file: str, *, private: bool) -> None:
        self._folder = Path(file).parent
        self.private = private

    def follow(self, name: str) -> Document | None:
        """Read a file of properties that another file names; None where it is not here."""
        path = self._folder / name
        return read(str(path), "properties") if path.is_file() else None


def read(file: str, format_: str | None = None) -> Document:
    """Read a file.

    Args:
        file: Its path, or ``-`` for standard input.
        format_: One of ``FORMATS``; None to find out.

    Returns:
        Its settings; or a finding that says why there are none.
    """
    name = "<stdin>" if file == STDIN else file
    try:
        data, private = _content(file)
    except (OSError, ValueError) as error:  # a path with a NUL is a ValueError
        reason = getattr(error, "strerror", None) or "not a path"
        return _unreadable(name, f"It can't be read: {reason}.", "Name a file that you may read.")
    if len(data) > MAX_BYTES:
        return _unreadable(name, f"It is larger than {MAX_BYTES:,} bytes.", "Name a file of settings.")
    text = data.decode("utf-8", "replace")
    chosen = format_ or _format(name, text)
    if chosen is None:
        return _unreadable(name, "Its format is none of those known here.", f"Say --format {'|'.join(FORMATS)}.")
    document = FORMATS[chosen](text, name, _Around(name, private=private))
    return replace(document, findings=(*document.findings, *_literals(text, name)))


def _literals(text: str, file: str) -> Iterator[Finding]:
    """Yield tokens anywhere in the text, comments and other programs' settings included."""
    for match in leaks.LITERAL.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        message = "What looks like a token stands in this line."
        yield catalog.of_file("token.literal", file, line, message, leaks.BY_ENVIRONMENT)


def _content(file: str) -> tuple[bytes, bool]:
    """Return the first bytes of a file, enough to see that it is too large, and whether it is its owner's alone."""
    if file == STDIN:
        return sys.stdin.buffer.read(MAX_BYTES + 1), False
    with Path(file).open("rb") as stream:
        mode = Path(file).stat().st_mode
        return stream.read(MAX_BYTES + 1), not mode & (stat.S_IRWXG | stat.S_IRWXO)


def _format(name: str, text: str) -> str | None:
    path = Path(name)
    suffix = ".env" if path.name.startswith(".env") else path.suffix.lower()
    told = _COMMENTS.sub("", text)
    return _SUFFIXES.get(suffix) or next((name for name, looks in _LOOKS if looks.search(told)), None)


def _properties(text: str, file: str, around: _Around) -> Document:
    document = properties.read(text, file)
    scopes = tuple(Scope(one.settings, private=around.private) for one in document.scopes)
    return Document(file, scopes, document.findings)


def _shell(text: str, file: str, around: _Around) -> Document:
    return submit.read(text, file, around.follow, private=around.private)


def _json(text: str, file: str, around: _Around) -> Document:
    return _tree(lambda text: [tree.from_json(text)], text.removeprefix("\ufeff"), file, around)


def _yaml(text: str, file: str, around: _Around) -> Document:
    return _tree(tree.from_yaml, text, file, around)


def _python(text: str, file: str, around: _Around) -> Document:
    return python.read(text.removeprefix("\ufeff"), file, private=around.private)


FORMATS: Final[Mapping[str, Read]] = {
    "properties": _properties,
    "shell": _shell,
    "yaml": _yaml,
    "json": _json,
    "python": _python,
}
"""How each format is read, by the name that ``--format`` gives it."""


def _tree(parse: Callable[[str], list[tree.Node]], text: str, file: str, around: _Around) -> Document:
    try:
        return platforms.Reader(file, around.follow, private=around.private).read(parse(text))
    except tree.TreeError as error:
        finding = catalog.of_file("file.broken", file, error.line, f"The file {error.problem}.", "Mend it.")
    except RecursionError:
        finding = catalog.of_file("file.broken", file, 1, "It is nested too deep.", "Is it the right file?")
    return Document(file, findings=(finding,))


def _unreadable(file: str, message: str, fix: str) -> Document:
    return Document(file, findings=(catalog.of_file("file.unreadable", file, 1, message, fix),))
