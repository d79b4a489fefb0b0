"""What ``check`` looks at in Airflow: its configuration, the transport in force, versions, mounts."""

from __future__ import annotations

import importlib.metadata
import json
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from truewatch_lineage.spool.mounts import read_mountinfo
from truewatch_lineage_airflow.in_force import InForce, in_force

PROVIDER: Final = "apache-airflow-providers-openlineage"
_TRUE: Final = frozenset({"true", "t", "1"})
"""What Airflow's ``getboolean`` takes for true."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Airflow as it is set up here.

    Attributes:
        read: Gives the text of an option by section and name, empty where it has none.
        transport: The transport that Airflow's OpenLineage provider would take, or None where none is configured.
        versions: Of Airflow and of the provider, by the distribution's name; one that is not installed is missing.
        mountinfo: As of `truewatch_lineage.spool.mounts.read_mountinfo`.
    """

    read: Callable[[str, str], str] = field(repr=False)
    transport: InForce | None
    versions: Mapping[str, str]
    mountinfo: str

    def is_on(self, section: str, option: str) -> bool:
        """Tell whether a flag is set."""
        return self.read(section, option).lower() in _TRUE

    def tree(self, section: str, option: str) -> Any:
        """Return what an option's JSON says, or None where it is none."""
        return _parsed(self.read(section, option))


def look() -> Surroundings:
    """Look at the Airflow that is installed here."""
    from airflow.configuration import conf  # noqa: PLC0415 - a second, which only who looks spends

    return Surroundings(
        read=lambda section, option: str(conf.get(section, option, fallback="") or "").strip(),
        transport=in_force(os.environ),
        versions=dict(_versions()),
        mountinfo=read_mountinfo(),
    )


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


def _versions() -> Iterator[tuple[str, str]]:
    for name in ("apache-airflow", PROVIDER):
        try:
            yield name, importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
