"""Settings: from a dict, the environment and a file to one frozen record."""

from __future__ import annotations

from truewatch_lineage.config.keys import KEYS, Key
from truewatch_lineage.config.layers import Layer
from truewatch_lineage.config.loading import destination_kinds, gather, load
from truewatch_lineage.config.settings import DestinationSettings, Settings

__all__ = ["KEYS", "DestinationSettings", "Key", "Layer", "Settings", "destination_kinds", "gather", "load"]
