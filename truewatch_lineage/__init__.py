"""OpenLineage events that arrive at TrueWatch and Spotify Portal.

Give OpenLineage's client a transport of type ``truewatch_lineage.TrueWatchTransport``.
"""

from __future__ import annotations

from importlib import import_module, metadata
from typing import TYPE_CHECKING, Any, Final

from truewatch_lineage.errors import ConfigError, EventError, SpoolError, TokenError, TruewatchLineageError

if TYPE_CHECKING:
    from truewatch_lineage.transport import TrueWatchConfig, TrueWatchTransport, register

__all__ = [
    "ConfigError",
    "EventError",
    "SpoolError",
    "TokenError",
    "TrueWatchConfig",
    "TrueWatchTransport",
    "TruewatchLineageError",
    "__version__",
    "register",
]

_TRANSPORT: Final = frozenset({"TrueWatchConfig", "TrueWatchTransport", "register"})


def __getattr__(name: str) -> Any:
    """Import the transport, and openlineage with it, only when it is asked for: the command line needs neither."""
    if name in _TRANSPORT:
        return getattr(import_module("truewatch_lineage.transport"), name)
    if name == "__version__":
        return metadata.version("truewatch-lineage")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
