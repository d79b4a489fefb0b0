"""What TLS takes of memory: little for each connection, and nothing for long where a handshake failed."""

from __future__ import annotations

import gc
from asyncio import sslproto
from typing import Final
from weakref import WeakSet

BUFFER_BYTES: Final = 64 * 1024
"""What asyncio reads into, for each connection; its own 256 KiB make a gigabyte of 4,096 that say nothing."""

_MOST_REMAINS: Final = 200


def slim_buffers() -> None:
    """Let connections of this process that are made from now on take less; Python 3.10 has no such buffers."""
    sslproto.SSLProtocol.max_size = BUFFER_BYTES  # type: ignore[attr-defined] # nor there


class Remains:
    """Clears away what is left of connections: up to Python 3.12 a failed handshake leaves objects in a circle."""

    def __init__(self) -> None:
        self._protocols: WeakSet[object] = WeakSet()
        self._kept = 0

    def watch(self, protocol: object) -> None:
        """Know of a new connection by its protocol."""
        self._protocols.add(protocol)

    def clear(self, connections: int) -> None:
        """Collect garbage where there is much of it, since `server.collect_seldom` lets it wait for long.

        Args:
            connections: How many are open, whose protocols are of use.
        """
        if len(self._protocols) - connections >= self._kept + _MOST_REMAINS:
            gc.collect()
            self._kept = max(0, len(self._protocols) - connections)
