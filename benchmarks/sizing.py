"""What many gateways carry, and which part ends first: multiplied from what one does, for `gateway.py` to print."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator, Mapping

GATEWAYS = (1, 10, 100, 1000)
CONNECTIONS = 64
"""Of a gateway to its destination, at most."""

ON_DISK = 1.75
"""How many times its bytes a gzipped event takes in the spool, with what is kept beside it and pages filled in part."""

SHARE = 0.1
"""Of what it can carry, what a gateway carries over a day: work comes in bursts."""

GBIT = 1e9 / 8
DAY = 86_400
HOUR = 3600


LINK = 10
"""Gbit/s of a fast network's link."""

ENDS = """
A gateway computes on one processor, with a courier beside it on two, and gateways share nothing but Kafka and the
destination, so that what they carry grows with their number until one of these ends. **1 to 10**: the gateways' own
processors end first. **100**: over HTTP the destination does, at {rate:,.0f} events a second on {connections:,}
connections; with Kafka the network, since messages of this size without compression fill a link of {link} Gbit/s from
{fills:.0f} gateways on (`compression.type` at the producers helps {factor:.0f} times). **1,000**: Kafka's group too,
as a topic needs a partition for each and every coming and going moves some: give such a fleet several topics, each
with its group."""


def paper(by_http: float, beside: float, by_kafka: float, event: bytes) -> Iterator[str]:
    """Yield the lines of a table.

    Args:
        by_http: Events a second that one gateway takes over HTTP and delivers.
        beside: Those that one takes and a courier beside it delivers.
        by_kafka: Events a second that one takes from Kafka and delivers.
        event: Such an event's JSON.
    """
    plain, zipped = len(event), len(gzip.compress(event, 1))
    rows: Mapping[str, Callable[[int], str]] = {
        "events a second over HTTP, delivered": lambda count: f"{by_http * count:,.0f}",
        "with a courier beside each": lambda count: f"{beside * count:,.0f}",
        f"million events a day, at {SHARE:.0%} of the first": lambda count: f"{_daily(by_http) * count / 1e6:,.0f}",
        "Gbit/s in, plain": lambda count: f"{by_http * plain * count / GBIT:,.2f}",
        "Gbit/s in, gzip": lambda count: f"{by_http * zipped * count / GBIT:,.3f}",
        "Gbit/s to the destination": lambda count: f"{by_http * zipped * count / GBIT:,.3f}",
        "connections to the destination, at most": lambda count: f"{CONNECTIONS * count:,}",
        "GB of volume for an hour without it, at full rate": lambda count: f"{_kept(by_http, zipped) * count:,.0f}",
        "events a second from Kafka, delivered": lambda count: f"{by_kafka * count:,.0f}",
        "Gbit/s from Kafka, messages without compression": lambda count: f"{by_kafka * plain * count / GBIT:,.2f}",
        "partitions of the topic, at least": lambda count: f"{count:,}",
    }
    yield f"| gateways | {' | '.join(f'{count:,}' for count in GATEWAYS)} |"
    yield "|" + " --- |" * (1 + len(GATEWAYS))
    for name, reckon in rows.items():
        yield f"| {name} | {' | '.join(map(reckon, GATEWAYS))} |"
    fills = LINK * GBIT / (by_kafka * plain)
    many = {"rate": by_http * 100, "connections": CONNECTIONS * 100}
    yield ENDS.format(**many, link=LINK, fills=fills, factor=plain / zipped)


def _daily(rate: float) -> float:
    return rate * SHARE * DAY


def _kept(rate: float, size: int) -> float:
    return rate * HOUR * size * ON_DISK / 1e9
