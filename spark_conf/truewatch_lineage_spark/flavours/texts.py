"""What several forms write alike: comments, and how the tokens come in."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from shlex import quote
from typing import Final

from truewatch_lineage_spark.plan import Plan
from truewatch_lineage_spark.transports import Secret

WIDTH: Final = 118

_KEPT: Final = "What else the file of --base sets, Spark reads there by itself."
_EXPORTS: Final = "The token comes from the environment that Spark's driver is started in, and stands nowhere else:"


def comments(texts: Iterable[str]) -> list[str]:
    """Return texts as lines of comment, folded; a path or name stays whole."""
    return [line for text in texts for line in _folded(text)]


def about(plan: Plan, *more: str) -> list[str]:
    """Return the plan's notes and others as comments, for a form beside which Spark reads its own files."""
    return comments([*plan.notes, *([_KEPT] if plan.kept else []), *more])


def python_text(text: str) -> str:
    """Return a text as Python's code, in double quotes where that needs no escape."""
    code = ascii(text)
    return code if '"' in text or "'" in text else f'"{code[1:-1]}"'


def reasons(plan: Plan) -> list[str]:
    """Return comments with the reason of each property, for a form that has no room for one beside it."""
    return comments(f"{one.key}: {one.why}" for one in plan.properties)


def exports(plan: Plan) -> list[str]:
    """Return the shell's lines that set the driver's environment; none where no token comes that way."""
    if not plan.variables:
        return []
    plain = [f"export {name}={quote(value)}" for name, value in plan.variables.items()]
    return plain + [f'export {secret.variable}="$({printed(secret)})"' for secret in plan.secrets]


def about_environment(plan: Plan) -> list[str]:
    """Return comments that say how the tokens come in, or nothing where there is none."""
    lines = exports(plan)
    return [*comments([_EXPORTS]), *(f"#   {line}" for line in lines)] if lines else []


def printed(secret: Secret) -> str:
    """Return the shell's command that prints a secret as the JSON that its variable holds."""
    return f"printf '{secret.shape}' \"{secret.source}\""


def place(plan: Plan, secret: Secret, name: str, separator: str) -> str:
    """Return where a platform keeps a secret.

    Args:
        plan: The plan it belongs to.
        secret: The secret.
        name: What the user calls the place; with ``separator`` in it, it is taken as it is where there is one secret.
        separator: What stands between a place and a key in it.
    """
    if len(plan.secrets) == 1:
        return name if separator in name else f"{name}{separator}token"
    return f"{name.partition(separator)[0]}{separator}{secret.destination}"


def named(plan: Plan, secret: Secret, name: str) -> str:
    """Return what a platform that has no keys within a secret knows it by: one name for each."""
    return name if len(plan.secrets) == 1 else f"{name}-{secret.destination}"


def command(words: Iterable[str]) -> str:
    """Return a shell's command, a word and its quoted value on each line."""
    return " \\\n    ".join(words)


def conf_words(properties: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Yield properties as ``spark-submit`` takes them, quoted for a shell."""
    return (f"--conf {quote(f'{key}={value}')}" for key, value in properties)


def _folded(text: str) -> list[str]:
    return textwrap.wrap(
        text, WIDTH, initial_indent="# ", subsequent_indent="# ", break_on_hyphens=False, break_long_words=False
    )
