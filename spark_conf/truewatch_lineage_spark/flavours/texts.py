"""What several forms write alike: comments, and the shell's lines that bring the tokens in."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from typing import Final

from truewatch_lineage_spark.plan import Plan
from truewatch_lineage_spark.transports import Secret

WIDTH: Final = 118

_EXPORTS: Final = "The token comes from the environment that Spark's driver is started in, and stands nowhere else:"


def comments(texts: Iterable[str], mark: str = "#") -> list[str]:
    """Return texts as lines of comment, folded."""
    start = f"{mark} "
    return [
        line for text in texts for line in textwrap.wrap(text, WIDTH, initial_indent=start, subsequent_indent=start)
    ]


def exports(plan: Plan) -> list[str]:
    """Return the shell's lines that set the driver's environment; none where no token comes that way."""
    from shlex import quote  # noqa: PLC0415 - few need it

    if not plan.secrets:
        return []
    plain = [f"export {name}={quote(value)}" for name, value in plan.variables.items()]
    return plain + [f"export {secret.variable}={filled(secret)}" for secret in plan.secrets]


def filled(secret: Secret) -> str:
    """Return what a shell replaces by a secret's JSON."""
    return f'"$(printf \'{secret.shape}\' "{secret.source}")"'


def about_environment(plan: Plan, mark: str = "#") -> list[str]:
    """Return comments that say how the tokens come in, or nothing where there is none."""
    lines = exports(plan)
    return [*comments([_EXPORTS], mark), *(f"{mark}   {line}" for line in lines)] if lines else []
