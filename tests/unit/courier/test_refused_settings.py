"""Couriers of one spool with different tokens, all of them refused: probes as rare as those of one."""

from __future__ import annotations

from support.couriers import Clock, post
from support.destinations import destination
from support.events import tree
from support.private import write_private
from support.raw_server import Behaviour, RawServer, answer

from truewatch_lineage.destinations.tokens import FileToken


def only(token):
    """Take nothing but one token."""

    def run(exchange):
        good = exchange.request.header("Authorization") == f"Bearer {token}"
        return answer(200 if good else 401).run(exchange)

    return Behaviour(run)


def test_they_do_not_take_each_others_token_for_a_rotated_one(tmp_path):
    """In an hour, in steps of ten seconds: one try each, then probes 1, 2, 4, 8, 15, 15 minutes apart."""
    clock, times = Clock(), []
    start = clock.now
    with RawServer(default=answer(401)) as server:
        one, two = (destination(server.url, token=token) for token in ("refused-token-1", "refused-token-2"))
        folder = tmp_path / "spool"
        with post(folder, one, clock=clock, connections=1) as here, post(folder, two, clock=clock) as there:
            here.put(one, [tree()])
            while clock.now < start + 3600:
                here.courier.drain(5)
                there.courier.drain(5)
                times += [clock.now - start] * (len(server.requests) - len(times))
                clock.now += 10
    assert times == [0, 0, 60, 180, 420, 900, 1800, 2700]


def test_a_token_that_is_rotated_is_tried_at_once_all_the_same(tmp_path):
    """Each new one, also where it was refused before the last."""
    token, clock = write_private(tmp_path / "token", "refused-token-1"), Clock()
    with RawServer(default=only("right-token-1")) as server:
        mine = destination(server.url, token=None, token_source=FileToken(token))
        other = destination(server.url, token="refused-token-2")
        folder = tmp_path / "spool"
        with post(folder, mine, clock=clock) as here, post(folder, other, clock=clock) as there:
            here.put(mine, [tree()])
            for text, requests in (("refused-token-1", 2), ("refused-token-3", 3), ("refused-token-1", 4)):
                token.write_text(text)
                here.courier.drain(5)
                there.courier.drain(5)
                assert len(server.requests) == requests
            token.write_text("right-token-1")
            here.courier.drain(5)
            assert (here.courier.pending(), len(server.requests)) == (0, 5)
