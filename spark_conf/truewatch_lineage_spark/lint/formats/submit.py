"""``spark-submit`` and its like: a script, a command line, or arguments alone, with the variables it exports."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from truewatch_lineage_spark.lint import catalog
from truewatch_lineage_spark.lint.formats import variables
from truewatch_lineage_spark.lint.formats.words import Command, OpenQuoteError, Word, commands
from truewatch_lineage_spark.lint.model import Document, Finding, Scope, Setting

PROGRAMS: Final = re.compile(r"(?:.*/)?(?:spark\d?-(?:submit|shell|sql)|pyspark|sparkR)(?:\.cmd)?")

_CONFS: Final = ("--conf", "--properties")
_DELIMITER: Final = re.compile(r"\^(?P<delimiter>[^^]+)\^")
"""How gcloud is told what stands between its properties, where it is no comma."""

_OPTIONS: Final = {"--packages": "spark.jars.packages", "--jars": "spark.jars", "--name": "spark.app.name"}
_SWITCHES: Final = {"--verbose", "-v", "--supervise", "--help", "-h", "--version", "--usage-error"}
_EXPORTS: Final = {"export", "env", "declare", "typeset", "setenv"}
_ASSIGNED: Final = re.compile(r"(?P<name>[A-Za-z_][A-Za-z0-9_]*)=(?P<value>.*)", re.DOTALL)
_RELEVANT: Final = re.compile(r"OPENLINEAGE|TRUEWATCH_LINEAGE_", re.IGNORECASE)

Follow = Callable[[str], "Document | None"]


@dataclass(slots=True)
class Taken:
    """What was understood of commands.

    Attributes:
        exported: Variables that every program after them gets.
        plain: Variables that are set and not exported, by name.
        submits: The settings of each call of Spark.
        findings: What is wrong.
        notes: What could not be looked at.
        exports_all: Whether the shell was told to export whatever is set.
    """

    exported: list[Setting] = field(default_factory=list)
    plain: dict[str, list[Setting]] = field(default_factory=dict)
    submits: list[list[Setting]] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    exports_all: bool = False


def read(text: str, file: str, follow: Follow, *, private: bool = False) -> Document:
    """Read a script, a file of variables or arguments.

    Args:
        text: What is in it.
        file: Its path, for findings.
        follow: Reads a file that ``--properties-file`` names; None where it is not here.
        private: Whether only its owner can read the file.
    """
    taken = Taken()
    try:
        for command in commands(text):
            _command(command, file, follow, taken)
    except OpenQuoteError as error:
        taken.findings.append(catalog.of_file("file.broken", file, error.line, "A quote is not closed.", "Close it."))
    loose = [one for settings in taken.plain.values() for one in settings]
    if taken.submits:
        taken.findings += [_not_exported(one) for one in loose if one.layer == "env"]
        scopes = [Scope((*taken.exported, *settings), private=private) for settings in taken.submits]
    else:
        scopes = [Scope((*taken.exported, *loose), private=private)]
    return Document(file, tuple(scopes), tuple(taken.findings), tuple(taken.notes))


def arguments(words: Sequence[Word], file: str, taken: Taken, follow: Follow, *, strict: bool = False) -> list[Setting]:
    """Read the arguments of ``spark-submit``.

    Args:
        words: Behind the program's name.
        file: Where they stand.
        taken: Where findings and notes are added.
        follow: As in ``read``.
        strict: Whether an application ends Spark's own arguments.

    Returns:
        The settings, those of a properties file first, as they override each other.
    """
    own, below = list[Setting](), list[Setting]()
    rest, passed = iter(words), False
    for word in rest:
        option, joined, value = word.text.partition("=") if word.text.startswith("--") else (word.text, "", "")
        if not option.startswith("-"):
            passed |= strict
            continue
        if option in _SWITCHES:
            continue
        argument = Word(word.line, value, word.expands) if joined else next(rest, None)
        if argument is None:
            break
        if option in ("--conf", "-c"):
            own += _conf(argument, file, taken, passed=passed)
        elif option == "--properties":
            own += _gclouds(argument, file)
        elif option == "--properties-file":
            below += _followed(argument, file, follow, taken)
        elif option in _OPTIONS:
            own.append(_setting(_OPTIONS[option], argument.text, argument, file, written=option))
    return [*below, *own]


def variable(name: str, word: Word, value: str, file: str) -> list[Setting]:
    """Return what a variable sets, if it is one that matters here."""
    known = not word.expands
    return list(variables.settings(name, value, file, word.line, known=known)) if _RELEVANT.match(name) else []


def _command(command: Command, file: str, follow: Follow, taken: Taken) -> None:
    words, before = list(command.words), list[Setting]()
    exports = False
    if [word.text for word in words[:2]] in (["set", "-a"], ["set", "-o"]):
        taken.exports_all |= len(words) == 2 or words[-1].text == "allexport"  # noqa: PLR2004 - the two words
    while words:
        match = _ASSIGNED.fullmatch(words[0].text)
        if match:
            before += variable(match["name"], words[0], match["value"], file)
        elif words[0].text in _EXPORTS:
            exports = True
        elif not (exports and (words[0].text.startswith("-") or words[0].text in taken.plain)):
            break
        else:
            taken.exported += taken.plain.pop(words[0].text, [])
        words.pop(0)
    spark = next((at for at, word in enumerate(words) if PROGRAMS.fullmatch(word.text)), None)
    if spark is not None or any(word.text.split("=")[0] in _CONFS for word in words):
        strict = spark is not None and words[spark].text.endswith("submit")
        behind = words[spark + 1 :] if spark is not None else words
        taken.submits.append([*before, *arguments(behind, file, taken, follow, strict=strict)])
        taken.findings += _cut(command, file)
    elif exports or taken.exports_all:
        taken.exported += before
    else:
        for one in before:
            taken.plain.setdefault(one.name, []).append(one)


def _conf(word: Word, file: str, taken: Taken, *, passed: bool) -> Iterable[Setting]:
    key, equals, value = word.text.partition("=")
    setting = _setting(key, value, word, file)
    if passed:
        if key.startswith("spark."):
            message = "It stands behind the application, which gets it in Spark's place."
            taken.findings.append(catalog.found("submit.after-application", setting, message, "Put it before."))
        return []
    if not equals:
        fix = "Write --conf 'key=value', in quotes where the value holds blanks."
        taken.findings.append(catalog.found("file.broken", setting, "A --conf without = stops spark-submit.", fix))
        return []
    return [setting]


def _gclouds(word: Word, file: str) -> Iterator[Setting]:
    """Yield the properties of one argument of ``gcloud dataproc``."""
    match = _DELIMITER.match(word.text)
    text, delimiter = (word.text[match.end() :], match["delimiter"]) if match else (word.text, ",")
    for pair in text.split(delimiter):
        key, _, value = pair.partition("=")
        yield _setting(key.removeprefix("spark:"), value, word, file)


def _setting(key: str, value: str, word: Word, file: str, *, written: str | None = None) -> Setting:
    known = not word.expands and not variables.is_reference(value)
    # Only what a shell fills in is on the command line: a platform's reference stays one.
    return Setting(key, value, file, word.line, written=written, known=known, shown=not variables.is_reference(value))


def _followed(word: Word, file: str, follow: Follow, taken: Taken) -> Iterator[Setting]:
    document = None if word.expands else follow(word.text)
    if document is None:
        taken.notes.append(f"{file}:{word.line}: the --properties-file is not here, so it was not checked.")
        return
    taken.findings += document.findings
    for scope in document.scopes:
        yield from scope.settings


def _cut(command: Command, file: str) -> Iterator[Finding]:
    """Yield a finding where an unquoted list, ``[a;b]``, ends the command at its semicolon."""
    last = command.words[-1]
    if command.end == ";" and "[" in last.text and "]" not in last.text and not last.quoted:
        setting = _setting(last.text.partition("=")[0], "", last, file)
        message = "The shell ends the command at the first ; of the list."
        yield catalog.found("submit.not-quoted", setting, message, "Put the whole key=value in single quotes.")


def _not_exported(setting: Setting) -> Finding:
    message = "The variable is set in the shell and not exported, so Spark does not get it."
    return catalog.found("environment.not-exported", setting, message, "Write export before it.")
