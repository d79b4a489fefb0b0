"""What ``check`` says of the settings that OpenLineage's own client reads, and this package's commands do not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from truewatch_lineage.cli.steps import Step
from truewatch_lineage.config.upstream import upstream_file
from truewatch_lineage.protocol import OPENLINEAGE_ENDPOINT

_PAIRS: Final = (
    ("OPENLINEAGE_URL", "OPENLINEAGE_ENDPOINT"),
    ("OPENLINEAGE__TRANSPORT__URL", "OPENLINEAGE__TRANSPORT__ENDPOINT"),
)


def upstream_steps(environ: Mapping[str, str]) -> Iterator[Step]:
    """Warn of a file that a program's client takes instead of variables, and of a url without its endpoint.

    Args:
        environ: The environment.
    """
    if file := upstream_file(environ):
        yield Step(
            "settings",
            "WARN",
            f"{file} is there: OpenLineage's client takes its transport from it before variables. "
            "This command, spool drain and courier don't read it.",
            "See that it says the same as the settings above, or move it away.",
        )
    for url, endpoint in _PAIRS:
        if environ.get(url) and not environ.get(endpoint):
            yield Step(
                "settings",
                "WARN",
                f"{url} is set without {endpoint}: OpenLineage's own clients would post to {OPENLINEAGE_ENDPOINT}, "
                "which TrueWatch and Portal don't have.",
                f"Set {endpoint} too (`truewatch-lineage env python --stock` prints it), or unset {url}.",
            )
