"""The name that a composite gives a transport becomes its destination's."""

from __future__ import annotations

import pytest

from truewatch_lineage.config import load

FLAT = {"url": "https://one.example", "token": "token-of-the-tests"}


@pytest.mark.parametrize(
    ("written", "name", "names"),
    [
        (FLAT, "tw", ["tw"]),
        (FLAT, None, ["default"]),
        (FLAT, "", ["default"]),
        ({"destinations": {"one": FLAT}}, "tw", ["one"]),
        ({"destinations": {"one": FLAT, "two": FLAT}}, "tw", ["one", "two"]),
    ],
)
def test_only_a_destination_without_a_name_takes_the_transport_s(tmp_path, written, name, names) -> None:
    """One that the user has named keeps its name."""
    settings = load({**written, "spool_dir": tmp_path}, environ={}).named(name)

    assert [one.name for one in settings.destinations] == names
