"""What is needed while Airflow starts: whether lineage is wanted, and the tokens that are plainly written somewhere.

Each of Airflow's many processes starts with this, so no command is run, no connection and no secrets backend is asked,
and the core is imported only where something is written that it has to read.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from truewatch_lineage_airflow import compat

if TYPE_CHECKING:
    from truewatch_lineage.config.levels import Values

SECTION: Final = "truewatch"
"""Of Airflow's configuration."""

_PREFIXES: Final = ("TRUEWATCH_LINEAGE_", f"AIRFLOW__{SECTION.upper()}__")


@dataclass(frozen=True, slots=True)
class Early:
    """What could be found out.

    Attributes:
        is_wanted: Whether neither ``enabled`` nor ``disabled`` switches this integration off.
        tokens: Those that are written in settings, or in files or variables that settings name.
    """

    is_wanted: bool = True
    tokens: tuple[str, ...] = field(default=(), repr=False)


def look(transports: Sequence[Mapping[str, Any]] = ()) -> Early:
    """Look at transports' settings, ``TRUEWATCH_LINEAGE_*``, ``[truewatch]`` and the file of settings.

    Wrong settings count as if they were not there: the transport says what is wrong, once it is used.

    Args:
        transports: Settings of transports of ours that stand in the provider's configuration.
    """
    if not any(transports) and not _is_anything_written():
        return Early()
    from truewatch_lineage.config.loading import gather  # noqa: PLC0415 - only where something is written
    from truewatch_lineage.errors import ConfigError  # noqa: PLC0415 - as above

    wanted = True
    tokens: list[str] = []
    for params in transports or ({},):
        try:
            whole, destinations = gather(params, need_destination=False)
            wanted = wanted and _is_wanted(whole)
        except ConfigError:
            continue
        for values in destinations.values():
            tokens += _tokens(values)
    return Early(wanted, tuple(tokens))


def _is_anything_written() -> bool:
    return compat.has_options(SECTION) or any(name.startswith(_PREFIXES) for name in os.environ)


def _is_wanted(whole: Values) -> bool:
    from truewatch_lineage.config import coerce  # noqa: PLC0415 - as above

    enabled = "enabled" not in whole or coerce.flag(whole["enabled"])
    return enabled and not ("disabled" in whole and coerce.flag(whole["disabled"]))


def _tokens(values: Values) -> Iterator[str]:
    from truewatch_lineage.config.credentials import token_source  # noqa: PLC0415 - as above
    from truewatch_lineage.errors import ConfigError  # noqa: PLC0415 - as above

    try:
        source = token_source(values, os.environ)
        token = source.known() if source else None
    except ConfigError:  # whoever sends it will say so
        return
    if token is not None:
        yield token.reveal()
