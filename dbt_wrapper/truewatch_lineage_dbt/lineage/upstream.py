"""The one seam to ``openlineage-integration-common``: how an adapter's target becomes a dataset namespace."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def dataset_namespace(adapter_type: str, target: Mapping[str, Any]) -> str:
    """Return the namespace of the datasets of a target; never raises.

    Args:
        adapter_type: Such as ``postgres``.
        target: The target's fields as dbt resolved them (``credentials.to_dict()`` or the rendered profile's output).
    """
    return adapter_type
