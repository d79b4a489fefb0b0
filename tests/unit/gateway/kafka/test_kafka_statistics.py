"""What librdkafka's statistics tell."""

from __future__ import annotations

import json

import pytest

from truewatch_lineage.gateway.kafka.statistics import Statistics


def partition(end, committed=-1001):
    return {"ls_offset": end, "committed_offset": committed}


def told(states=("UP",), join="steady", partitions=None):
    return json.dumps(
        {
            "brokers": {f"b{number}": {"state": state} for number, state in enumerate(states)},
            "cgrp": {"join_state": join},
            "topics": {"lineage": {"partitions": partitions or {}}, "other": {"partitions": {"7": partition(70)}}},
        }
    )


@pytest.mark.parametrize(("states", "answers"), [(("UP", "DOWN"), True), (("TRY_CONNECT", "INIT"), False), ((), False)])
def test_one_connected_broker_is_enough(states, answers):
    """The rest of a cluster may be down, or not asked yet."""
    statistics = Statistics("lineage")
    assert statistics.answers is None
    statistics.update(told(states))
    assert statistics.answers is answers


def test_a_group_that_was_joined_once_is_joined():
    """Rebalances that come later are no news."""
    statistics = Statistics("lineage")
    statistics.update(told(join="wait-join"))
    assert not statistics.joined
    statistics.update(told(join="steady"))
    statistics.update(told(join="wait-join"))
    assert statistics.joined


def test_ends_never_go_back():
    """What is not known (-1001), the librarys's own partition -1 and other topics are left out."""
    statistics = Statistics("lineage")
    statistics.update(told(partitions={"0": partition(10, 4), "1": partition(-1001), "-1": partition(3, 3)}))
    statistics.update(told(partitions={"0": partition(-1001), "1": partition(5)}))
    statistics.update(told(partitions={"0": partition(9)}))
    assert statistics.ends == {0: 10, 1: 5}
    assert statistics.committed == {0: 4}
