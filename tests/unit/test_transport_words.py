"""What the transport says of itself and of settings that are none."""

from __future__ import annotations

import pytest

from truewatch_lineage import TrueWatchTransport
from truewatch_lineage.errors import ConfigError


@pytest.mark.parametrize("config", [None, "x", 5, [], object()])
def test_what_is_no_mapping_is_a_wrong_setting(config) -> None:
    """Not an error of Python's own."""
    with pytest.raises(ConfigError, match=f"must be a mapping, not {type(config).__name__}"):
        TrueWatchTransport(config)


def test_its_repr_names_the_destinations_and_no_secret(tmp_path) -> None:
    """With the kind of each."""
    destinations = {
        "tw": {"url": "https://h.example", "token": "tkn_canary_01"},
        "portal": {"destination": "portal", "url": "https://p.example", "token": "tkn_canary_02"},
    }
    transport = TrueWatchTransport({"destinations": destinations, "spool_dir": str(tmp_path / "spool")})

    assert repr(transport) == str(transport)
    assert "destinations=[tw: dataway, portal: portal]" in repr(transport)
    assert "canary" not in repr(transport)
    assert not (tmp_path / "spool").exists()


def test_its_repr_names_what_a_composite_calls_it() -> None:
    """Its one destination has that name."""
    transport = TrueWatchTransport({"destination": "datakit"})
    transport.name = "prod"

    assert "destinations=[prod: datakit]" in repr(transport)
