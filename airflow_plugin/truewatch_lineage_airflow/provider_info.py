"""What Airflow shows of this package: the ``apache_airflow_provider`` entry point."""

from __future__ import annotations

from typing import Any


def get_provider_info() -> dict[str, Any]:
    """Return the provider's description, as Airflow's ``provider_info.schema.json`` has it."""
    return {
        "package-name": "truewatch-lineage",
        "name": "TrueWatch Lineage",
        "description": "OpenLineage events that arrive at TrueWatch and Spotify Portal.",
    }
