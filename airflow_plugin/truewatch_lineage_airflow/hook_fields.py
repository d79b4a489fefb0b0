"""The fields of the connection type ``truewatch``, in one table for both of Airflow's ways to declare them.

Airflow 3.2 and later take them from the provider's ``connection-types`` (`CONN_FIELDS`, `UI_FIELD_BEHAVIOUR`), earlier
ones from the hook's methods (`truewatch_lineage_airflow.hook`). Nothing of Airflow is imported here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from truewatch_lineage.config.keys import KEYS, Key

CONN_TYPE: Final = "truewatch"
HOOK_NAME: Final = "TrueWatch Lineage"
DEFAULT_CONN_ID: Final = "truewatch_default"
HOOK_CLASS_NAME: Final = "truewatch_lineage_airflow.hook.TrueWatchHook"

HIDDEN_FIELDS: Final = ("schema", "login")
"""Airflow's own fields that the form leaves out: the url says what they would.

The port has a field, though it may stand in the url too: in the list of connections of Airflow 3.3, *Test connection*
refuses one whose port is not set (it asks for port 0, and takes that for another place).
"""

RELABELING: Final = {"host": "URL", "password": "Token", "extra": "More settings (JSON)"}
PLACEHOLDERS: Final = {
    "host": "https://openway.truewatch.com",
    "port": "443",
    "password": "kept by Airflow, asked for at each delivery",
    "extra": '{"timeout": 10}',
}


@dataclass(frozen=True, slots=True)
class Field:
    """One field that is kept in the connection's ``extra``.

    Attributes:
        name: The setting's name.
        label: What stands beside it.
        choices: The words it may be, or none.
    """

    name: str
    label: str
    choices: tuple[str, ...] = ()

    @property
    def key(self) -> Key:
        """The setting."""
        return KEYS[self.name]

    @property
    def is_flag(self) -> bool:
        """Whether it is a box to tick."""
        return self.key.kind == "flag"

    @property
    def description(self) -> str:
        """What stands below it: what it does, and what happens where it is left empty."""
        return f"{self.key.help} Default: {self.key.default}."


FIELDS: Final = (
    Field("destination", "Destination", KEYS["destination"].choices),
    # query needs allow_query_token too, and shows the token to every proxy: who must have it writes it in extra
    Field("auth_method", "Token is sent as", ("bearer", "x_token")),
    Field("ca_file", "CA file"),
    Field("client_cert", "Client certificate file"),
    Field("client_key", "Client key file"),
    Field("allow_insecure_http", "Allow a token over plain http"),
)
"""The settings that have a field of their own; every other one of a destination can be written in ``extra``."""


def _schema(field: Field) -> dict[str, Any]:
    if field.is_flag:
        return {"type": ["boolean", "null"], "default": None}
    choices = {"enum": list(field.choices)} if field.choices else {}
    return {"type": ["string", "null"], "default": None, **choices}


CONN_FIELDS: Final = {
    field.name: {"label": field.label, "description": field.description, "schema": _schema(field)} for field in FIELDS
}
"""``conn-fields`` of the provider's ``connection-types`` entry."""

UI_FIELD_BEHAVIOUR: Final = {
    "hidden-fields": list(HIDDEN_FIELDS),
    "relabeling": dict(RELABELING),
    "placeholders": dict(PLACEHOLDERS),
}
"""``ui-field-behaviour`` of the same entry."""
