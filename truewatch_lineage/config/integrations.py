"""Settings that come from the program around this one, such as Airflow: its integration hands them in."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Mapping, Sequence
from typing import Any, Final, Protocol

from truewatch_lineage.config.layers import Layer
from truewatch_lineage.program import runs_in_airflow

_INTEGRATIONS: Final = {"truewatch_lineage_airflow.settings": runs_in_airflow}
"""Modules of ours whose ``register()`` is called, by what tells that this runs in their program."""


class LayerSource(Protocol):
    """Gives an integration's levels, which are below the environment and above the file."""

    def __call__(
        self, params: Mapping[str, Any], environ: Mapping[str, str], *, need_destination: bool
    ) -> Sequence[Layer]:
        """Return the levels, the highest first.

        Args:
            params: The highest level, such as the transport's own settings.
            environ: The environment.
            need_destination: False where settings of the whole suffice, so that nothing need be asked for others.

        Raises:
            ConfigError: What the program has is wrong.
        """


_sources: Final[list[LayerSource]] = []
_looked: Final[set[str]] = set()


def register_layers(source: LayerSource) -> None:
    """Let an integration hand in levels of settings; a second registration of the same one changes nothing."""
    if source not in _sources:
        _sources.append(source)


def registered_layers(
    params: Mapping[str, Any], environ: Mapping[str, str], *, need_destination: bool
) -> Sequence[Layer]:
    """Return the levels of all integrations, as `LayerSource` says."""
    discover()
    return [layer for source in _sources for layer in source(params, environ, need_destination=need_destination)]


def discover() -> None:
    """Let the integration of a program that runs in this process register itself, once."""
    for module, is_there in _INTEGRATIONS.items():
        if module not in _looked and is_there():
            _looked.add(module)
            with contextlib.suppress(ImportError):  # another program of that name, or half of this package
                importlib.import_module(module).register()
