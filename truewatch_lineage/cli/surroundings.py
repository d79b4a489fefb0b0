"""What ``check`` says of the settings that OpenLineage's own client reads, and this package's commands do not."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from truewatch_lineage.cli.steps import Step
from truewatch_lineage.protocol import OPENLINEAGE_ENDPOINT

_FILE: Final = "openlineage.yml"
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


def upstream_file(environ: Mapping[str, str]) -> Path | None:
    """Return the file that OpenLineage's client would read here, or None.

    As ``OpenLineageClient._find_yaml_config_path`` (openlineage-python 1.54) looks for it.
    """
    named = environ.get("OPENLINEAGE_CONFIG")
    places = ([Path(named)] if named else []) + [Path(_FILE).absolute(), _home() / ".openlineage" / _FILE]
    return next((path for path in places if os.path.isfile(path) and os.access(path, os.R_OK)), None)  # noqa: PTH113 - never raises


def _home() -> Path:
    return Path(os.path.expanduser("~"))  # noqa: PTH111 - never raises where there is none
