"""Which events a destination gets."""

from __future__ import annotations

import pytest
from support.events import tree

from truewatch_lineage.errors import ConfigError
from truewatch_lineage.events.match import Match
from truewatch_lineage.events.model import identify

EVENT = tree(
    eventType="COMPLETE",
    job={"namespace": "prod", "name": "dag.task"},
    inputs=[{"namespace": "pg://h", "name": "db.raw"}, {"namespace": 1}, None],
    outputs=[{"namespace": "s3://b", "name": "dir/out"}],
)


@pytest.mark.parametrize(
    ("config", "wanted"),
    [
        (None, True),
        ({}, True),
        ({"keep": []}, True),
        ({"keep": [{"job": "prod/*"}]}, True),
        ({"keep": [{"job": "PROD/*"}]}, False),
        ({"keep": [{"job": "prod"}]}, False),
        ({"keep": [{"event_type": "compl*"}]}, True),
        ({"keep": [{"event_type": "START"}, {"dataset": "s3://b/*"}]}, True),
        ({"keep": [{"event_type": "START", "dataset": "s3://b/*"}]}, False),
        ({"keep": [{"dataset": "pg://h/db.???"}]}, True),
        ({"keep": [{"dataset": "pg://h/db.[!r]aw"}]}, False),
        ({"drop": [{"job": "*"}]}, False),
        ({"drop": [{"job": "other/*"}]}, True),
        ({"keep": [{"job": "*"}], "drop": [{"dataset": "*/dir/out"}]}, False),
    ],
)
def test_rules(config, wanted):
    """A rule matches if all its globs do; any keep rule keeps, any drop rule drops, and drop wins."""
    assert Match.from_config(config).wants(identify(EVENT), EVENT) is wanted


def test_event_without_what_a_rule_asks_for():
    """A condition on what an event does not have never matches."""
    event = {"dataset": {"namespace": "n", "name": "t"}, "inputs": "odd"}
    for rule in ({"event_type": "*"}, {"job": "*"}):
        assert not Match.from_config({"keep": [rule]}).wants(identify(event), event)
    assert Match.from_config({"keep": [{"dataset": "n/t"}]}).wants(identify(event), event)


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({"kep": []}, r"match\.kep.*Did you mean keep\?"),
        ({"keep": [{"event_typ": "x"}]}, r"match\.keep\[0\]\.event_typ.*Did you mean event_type\?"),
        ({"keep": [{"zzz": "x"}]}, "Known keys: dataset, event_type, job"),
        ({"keep": {"job": "x"}}, r"match\.keep must be a list"),
        ({"drop": [{"job": "x"}, {}]}, r"match\.drop\[1\] has no condition"),
        ({"drop": [{"job": 5}]}, r"match\.drop\[0\]\.job must be text"),
        ({"drop": ["x"]}, r"match\.drop\[0\] must be a table"),
        ([], "match must be a table"),
    ],
)
def test_wrong_settings_are_named(config, words):
    """A wrong rule is refused with its key and the nearest right one."""
    with pytest.raises(ConfigError, match=words):
        Match.from_config(config)
