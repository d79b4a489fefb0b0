"""The fields of Airflow's connection type."""

from __future__ import annotations

import pytest

from truewatch_lineage.config.keys import KEYS, TOKEN_KEYS
from truewatch_lineage_airflow import hook_fields


@pytest.mark.parametrize("field", hook_fields.FIELDS, ids=lambda field: field.name)
def test_each_field_is_a_setting_of_a_destination_and_no_token(field) -> None:
    """A token stands in the password alone, which Airflow hides and encrypts."""
    assert KEYS[field.name].scope == "destination"
    assert field.name not in TOKEN_KEYS
    assert set(field.choices) <= set(field.key.choices)


def test_both_ways_to_declare_the_fields_say_the_same() -> None:
    """Airflow 3.2 and later take ``conn-fields`` of the provider, earlier ones the hook's methods."""
    assert list(hook_fields.CONN_FIELDS) == [field.name for field in hook_fields.FIELDS]
    assert hook_fields.UI_FIELD_BEHAVIOUR["hidden-fields"] == list(hook_fields.HIDDEN_FIELDS)
    assert hook_fields.UI_FIELD_BEHAVIOUR["placeholders"] == hook_fields.PLACEHOLDERS


def test_an_empty_form_sets_nothing() -> None:
    """No field has a default of its own, which would hide what settings below the connection say."""
    assert {field["schema"]["default"] for field in hook_fields.CONN_FIELDS.values()} == {None}
