"""OpenLineage events that arrive at TrueWatch and Spotify Portal.

Give OpenLineage's client a transport of type ``truewatch_lineage.TrueWatchTransport``.
"""

from __future__ import annotations

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
    # ruff: noqa: PLC0415 - late imports are what this function is for
    if name in _TRANSPORT:
        from truewatch_lineage import transport

        return getattr(transport, name)
    if name == "__version__":
        from importlib import metadata

        return metadata.version("truewatch-lineage")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
