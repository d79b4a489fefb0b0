"""What Airflow is told of this package: every setting as an option, generated from the one table."""

from __future__ import annotations

import pytest

from truewatch_lineage.config import KEYS
from truewatch_lineage_airflow.provider_info import get_provider_info


def _options():
    return get_provider_info()["config"]["truewatch"]["options"]


def test_the_section_has_every_setting_and_the_link_s_url() -> None:
    """An option that is missing could not be set by a command or a secrets backend."""
    assert set(_options()) == {*KEYS, "lineage_url"}


@pytest.mark.parametrize("name", [*KEYS, "lineage_url"])
def test_an_option_has_no_default_that_would_hide_a_connection_s(name) -> None:
    """Airflow would give a default as if somebody had written it, above connection and file."""
    assert _options()[name]["default"] is None


@pytest.mark.parametrize("name", KEYS)
def test_what_may_hold_a_token_is_sensitive(name) -> None:
    """Airflow masks sensitive options, and takes them by ``_CMD`` and ``_SECRET``."""
    assert _options()[name].get("sensitive", False) == (name in ("token", "auth"))


@pytest.mark.parametrize(
    ("name", "kind"),
    [("disabled", "boolean"), ("timeout", "float"), ("receipts_days", "float"), ("concurrency", "integer")],
)
def test_an_option_has_its_setting_s_type(name, kind) -> None:
    """Types that the schema knows; what is written with a unit stays a text for our own rules."""
    assert _options()[name]["type"] == kind
    assert _options()["url"]["type"] == "string"


def test_the_connection_type_leads_to_its_hook() -> None:
    """The form and `Test connection` come from the hook."""
    (connection,) = get_provider_info()["connection-types"]

    assert connection["connection-type"] == "truewatch"
    assert connection["hook-class-name"] == "truewatch_lineage_airflow.hook.TrueWatchHook"
    assert set(connection) >= {"conn-fields", "ui-field-behaviour"}
