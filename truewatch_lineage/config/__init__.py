"""Settings: from a dict, the environment and a file to one frozen record."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from truewatch_lineage.config.integrations import register_layers
    from truewatch_lineage.config.keys import KEYS, Key
    from truewatch_lineage.config.layers import Layer
    from truewatch_lineage.config.loading import destination_kinds, gather, load
    from truewatch_lineage.config.settings import DestinationSettings, Settings

__all__ = [
    "KEYS",
    "DestinationSettings",
    "Key",
    "Layer",
    "Settings",
    "destination_kinds",
    "gather",
    "load",
    "register_layers",
]

_HOMES: Final = {
    "KEYS": "keys",
    "Key": "keys",
    "Layer": "layers",
    "DestinationSettings": "settings",
    "Settings": "settings",
    "register_layers": "integrations",
}


def __getattr__(name: str) -> Any:
    """Import what is asked for: every process of Airflow needs the table of keys, and few need what reads them."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415 - as above

    return getattr(import_module(f"{__name__}.{_HOMES.get(name, 'loading')}"), name)
