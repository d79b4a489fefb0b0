"""The connection type ``truewatch``: its form for the Airflows before 3.2, and what *Test connection* does."""

from __future__ import annotations

import os
import uuid
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from truewatch_lineage.cli.checkup import destination_steps, is_failed, unusable
from truewatch_lineage.cli.steps import Step
from truewatch_lineage.config import Settings, load
from truewatch_lineage.config.keys import PREFIX
from truewatch_lineage.errors import ConfigError
from truewatch_lineage_airflow import compat, hook_fields
from truewatch_lineage_airflow.connection import describe, get_connection, to_values
from truewatch_lineage_airflow.settings import register

_FIXES: Final[dict[str | None, str]] = {"url": "Fill in the URL.", "token_file": "Fill in the token."}
"""What to do in the form about settings that are missing, by the key that the error names."""

_BaseHook: Final[Any] = compat.base_hook()


class TrueWatchHook(_BaseHook):  # type: ignore[misc]  # Airflow is untyped here
    """Reads a connection of this type, and goes the way to the destination that it names.

    Args:
        truewatch_conn_id: The connection's id.
    """

    conn_name_attr = "truewatch_conn_id"
    default_conn_name = hook_fields.DEFAULT_CONN_ID
    conn_type = hook_fields.CONN_TYPE
    hook_name = hook_fields.HOOK_NAME

    def __init__(self, truewatch_conn_id: str = hook_fields.DEFAULT_CONN_ID, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.truewatch_conn_id = truewatch_conn_id

    @classmethod
    def get_connection_form_widgets(cls) -> dict[str, Any]:
        """Return the fields that the connection's ``extra`` has in the form (Airflow before 3.2)."""
        return {field.name: _widget(field) for field in hook_fields.FIELDS}

    @classmethod
    def get_ui_field_behaviour(cls) -> dict[str, Any]:
        """Return how Airflow's own fields look in the form (Airflow before 3.2)."""
        return {
            "hidden_fields": list(hook_fields.HIDDEN_FIELDS),
            "relabeling": dict(hook_fields.RELABELING),
            "placeholders": dict(hook_fields.PLACEHOLDERS),
        }

    def get_conn(self) -> Settings:
        """Return the settings that this connection alone gives, whatever else is set on this machine.

        Raises:
            ConfigError: It is not there, can't be looked up, or says what is no setting.
        """
        register()
        values = to_values(get_connection(self.truewatch_conn_id))
        surroundings = {name: text for name, text in os.environ.items() if not name.startswith(PREFIX)}
        return load(values, environ=surroundings, layers=(), params_name=describe(self.truewatch_conn_id))

    def test_connection(self) -> tuple[bool, str]:
        """Go the way to the destination: name, TCP, TLS, token, a START and its COMPLETE.

        Returns:
            Whether all is well, and what was found, with its fix where something is not.
        """
        try:
            settings = self.get_conn()
        except ConfigError as error:
            step = unusable(error)
            return False, _told([replace(step, fix=_FIXES.get(error.key, step.fix)) if error.source is None else step])
        run_id = str(uuid.uuid4())
        steps = [step for one in settings.destinations for step in destination_steps(settings, one, run_id)]
        return not is_failed(steps), _told(steps)


def _widget(field: hook_fields.Field) -> Any:
    from flask_appbuilder.fieldwidgets import BS3TextFieldWidget  # noqa: PLC0415 - only what shows the form has it
    from wtforms import BooleanField, StringField  # noqa: PLC0415
    from wtforms.validators import Optional, any_of  # noqa: PLC0415

    if field.is_flag:
        return BooleanField(field.label, description=field.description)
    checks, description = [Optional()], field.description
    if field.choices:  # Airflow knows no list to choose from here: the words are told, and checked
        checks.append(any_of(list(field.choices)))
        description += f" One of {', '.join(field.choices)}."
    return StringField(field.label, validators=checks, description=description, widget=BS3TextFieldWidget())


def _told(steps: Sequence[Step]) -> str:
    """Put steps into one paragraph, which is all that Airflow has room for: what failed, else what should be known."""
    failed = [step for step in steps if step.status == "FAIL"]
    if failed:
        return " ".join(map(_sentence, failed))
    passed = ", ".join(step.name for step in steps if step.status == "ok" and step.name != "look")
    rest = [step for step in steps if step.status == "WARN" or step.name == "look"]
    return " ".join([f"Passed: {passed}.", *map(_sentence, rest)])


def _sentence(step: Step) -> str:
    text = f"{step.name}: {step.detail.removesuffix('.')}."
    return f"{text} {step.fix}" if step.fix else text
