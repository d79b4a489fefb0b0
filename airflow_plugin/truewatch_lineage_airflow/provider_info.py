"""What Airflow shows of this package: the ``apache_airflow_provider`` entry point.

Airflow 3 asks for it while it imports itself, in each of its processes, so nothing is imported here but tables.
"""

from __future__ import annotations

from typing import Any, Final

from truewatch_lineage.config.keys import KEYS, Key, Kind
from truewatch_lineage_airflow import hook_fields

SECTION: Final = "truewatch"
"""Of Airflow's configuration."""

_TYPES: Final[dict[Kind, str]] = {"flag": "boolean", "seconds": "float", "days": "float", "integer": "integer"}
_LINEAGE_URL: Final = {
    "description": (
        "Where a task instance's link Lineage leads: a URL in which {job_namespace}, {job_name} and {run_id} are "
        "filled in. Unset, it leads to this package's page on the run."
    ),
    "version_added": None,
    "type": "string",
    "example": None,
    "default": None,
}


def get_provider_info() -> dict[str, Any]:
    """Return the provider's description, as Airflow's ``provider_info.schema.json`` has it."""
    return {
        "package-name": "truewatch-lineage",
        "name": "TrueWatch Lineage",
        "description": "OpenLineage events that arrive at TrueWatch and Spotify Portal.",
        "connection-types": [_connection_type()],
        "config": {
            SECTION: {
                "description": "Where this Airflow's lineage goes; a connection of type truewatch can say it, too.",
                "options": {**{key.name: _option(key) for key in KEYS.values()}, "lineage_url": _LINEAGE_URL},
            }
        },
    }


def _connection_type() -> dict[str, Any]:
    return {
        "connection-type": hook_fields.CONN_TYPE,
        "hook-class-name": hook_fields.HOOK_CLASS_NAME,
        "hook-name": hook_fields.HOOK_NAME,
        "conn-fields": hook_fields.CONN_FIELDS,
        "ui-field-behaviour": hook_fields.UI_FIELD_BEHAVIOUR,
    }


def _option(key: Key) -> dict[str, Any]:
    """Return a setting's option; without a default of its own, which would hide what the levels below say."""
    option = {
        "description": f"{key.help} Default: {key.default}.",
        "version_added": None,
        "type": _TYPES.get(key.kind, "string"),
        "example": None,
        "default": None,
    }
    return {**option, "sensitive": True} if key.kind in ("secret", "auth") else option
