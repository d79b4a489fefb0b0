"""Delivery without a spool, closed while it is in use."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor

from support.destinations import EVENT_GZ, destination
from support.raw_server import RawServer

from truewatch_lineage.courier import binding_of
from truewatch_lineage.delivery.outcome import Verdict
from truewatch_lineage.direct import Direct
from truewatch_lineage.spool import Entry


class Slow(dict):
    """Senders of which another thread adds one while they are closed."""

    def __init__(self, late):
        super().__init__()
        self.late = late

    def popitem(self):
        found = super().popitem()
        self.update(self.late)
        self.late = {}
        return found


class Closed:
    """A sender that tells whether it was closed."""

    is_closed = False

    def close(self):
        self.is_closed = True


def test_a_sender_made_while_closing_is_closed_too():
    """Another thread may send until the last moment."""
    first, late = Closed(), Closed()
    direct = Direct({})
    direct._senders = Slow({"late": late})
    direct._senders["first"] = first
    direct.close()
    assert first.is_closed
    assert late.is_closed
    direct.close()


def test_closing_while_threads_send_raises_nowhere():
    """What is closed under a send is made anew by the next one."""
    with RawServer() as server:
        destinations = [destination(f"{server.url}/{number}") for number in range(20)]
        direct = Direct({binding_of(one): one for one in destinations})
        entries = [Entry(binding_of(one), "run:r", EVENT_GZ, "START", "n/j", "r") for one in destinations]
        done = threading.Event()

        def close():
            while not done.is_set():
                direct.close()

        with ThreadPoolExecutor(5) as pool:
            closing = pool.submit(close)
            sent = list(pool.map(lambda entry: direct.send(entry, time.monotonic() + 10), entries * 3))
            done.set()
            closing.result()
        direct.close()
    assert {outcome.verdict for outcome in sent} <= {Verdict.DELIVERED, Verdict.RETRY}
