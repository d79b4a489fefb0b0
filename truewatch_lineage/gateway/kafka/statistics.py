"""What librdkafka's statistics tell: whether a broker answers, whether the group was joined, how much a topic holds.

Their fields are those of https://github.com/confluentinc/librdkafka/blob/master/STATISTICS.md.
"""

from __future__ import annotations

import json
from typing import Any, Final

_NONE: Final = -1


class Statistics:
    """The last statistics of a consumer.

    Args:
        topic: The topic whose partitions are of interest.

    Attributes:
        answers: Whether any broker is connected; None before the first statistics.
        joined: Whether the group was joined once, with partitions or without.
        starts: By partition, the first offset that it holds, where it was asked for.
        ends: By partition, the offset after the last message, as far as it is known.
        committed: By partition, what the group had committed when it was assigned, or later.
    """

    def __init__(self, topic: str) -> None:
        self._topic = topic
        self.answers: bool | None = None
        self.joined = False
        self.starts: dict[int, int] = {}
        self.ends: dict[int, int] = {}
        self.committed: dict[int, int] = {}

    def update(self, text: str) -> None:
        """Take statistics, as ``stats_cb`` does."""
        found: dict[str, Any] = json.loads(text)
        brokers = found.get("brokers", {}).values()
        self.answers = any(broker.get("state") == "UP" for broker in brokers)
        self.joined = self.joined or found.get("cgrp", {}).get("join_state") == "steady"
        partitions = found.get("topics", {}).get(self._topic, {}).get("partitions", {})
        for name, partition in partitions.items():
            number, committed = int(name), partition.get("committed_offset", _NONE)
            end = partition.get("ls_offset", _NONE)  # the last that readers of committed messages see
            if number >= 0 and end >= 0:
                self.ends[number] = max(end, self.ends.get(number, 0))
            if number >= 0 and committed >= 0:
                self.committed[number] = committed
