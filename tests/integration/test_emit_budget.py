"""``emit()`` never raises, and never takes longer than its budget, whatever the receiver and the name server do."""

from __future__ import annotations

import contextlib
import itertools
import json
import logging
import signal
import socket
import sqlite3
import threading
import time

import pytest
from support.certificates import Authority
from support.events import tree
from support.raw_server import RawServer, answer, cut, drip, gzip_bomb, hang, huge, message, on_accept, reset
from support.spooled import spooled

from truewatch_lineage import TrueWatchTransport
from truewatch_lineage.pipeline import SHORT_WAIT
from truewatch_lineage.spool import Store
from truewatch_lineage.spool.locks import FileLock

TOKEN = "budget-test-token"
BUDGET = 0.5
SLACK = 1.0  # these tests mean to catch waits of 10 s and more, on machines that are busy

pytestmark = pytest.mark.serial


@contextlib.contextmanager
def refusing():
    """Give the url of a port that refuses connections."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{taken.getsockname()[1]}"


@contextlib.contextmanager
def serving(behaviour, scheme="http"):
    """Give the url of a server that always behaves so."""
    with RawServer([behaviour] * 50, default=behaviour) as server:
        yield f"{scheme}://127.0.0.1:{server.port}"


@contextlib.contextmanager
def slow_names(monkeypatch):
    """Give a url whose name takes long to resolve."""
    over = threading.Event()

    def getaddrinfo(*_, **__):
        over.wait(20)
        raise socket.gaierror

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    try:
        yield "https://slow.example"
    finally:
        over.set()


BEHAVIOURS = {
    "refuses": lambda _: refusing(),
    "hangs": lambda _: serving(hang()),
    "never reads": lambda _: serving(on_accept(hang())),
    "drips its answer": lambda _: serving(drip(message(200, body={}) * 9, 0.1)),
    "resets": lambda _: serving(reset()),
    "cuts its answer off": lambda _: serving(cut()),
    "answers 503": lambda _: serving(answer(503)),
    "answers 100 MB": lambda _: serving(huge()),
    "answers a gzip bomb": lambda _: serving(gzip_bomb(1024 * 1024)),
    "never shakes hands": lambda _: serving(on_accept(hang()), "https"),
    "has a slow name": slow_names,
}
TAKEN = {"answers 100 MB", "answers a gzip bomb"}


@pytest.fixture
def make(tmp_path):
    """Give a maker of transports whose budgets are short, and close them afterwards."""
    made = []

    def make(url, **more):
        settings = {"spool_dir": str(tmp_path / "spool"), "delivery": "inline"}
        settings |= {"delivery_budget": BUDGET, "exit_budget": BUDGET}
        if "destinations" not in more:
            settings |= {"url": url, "token": TOKEN}
        made.append(TrueWatchTransport(settings | more))
        return made[-1]

    yield make
    for transport in made:
        transport.close(0)


def timed(action, *arguments):
    """Return what an action returned, and its seconds."""
    start = time.monotonic()
    return action(*arguments), time.monotonic() - start


@pytest.mark.parametrize("delivery", ["inline", "background"])
@pytest.mark.parametrize("behaviour", BEHAVIOURS)
def test_emit_and_close_keep_their_budgets(make, tmp_path, monkeypatch, behaviour, delivery):
    """Each of two emits and the close end in time, and each event is delivered or waits."""
    with BEHAVIOURS[behaviour](monkeypatch) as url:
        transport = make(url, delivery=delivery)
        limit = SLACK + (BUDGET if delivery == "inline" else 0)
        for step in ("START", "COMPLETE"):
            assert timed(transport.emit, tree(eventType=step))[1] < limit
        delivered, seconds = timed(transport.close)
        assert seconds < BUDGET + SLACK
    found = spooled(tmp_path / "spool")
    assert (found.pending + found.delivered, found.dead, found.tombstones) == (2, 0, 0)
    assert delivered == (found.pending == 0) == (behaviour in TAKEN)


def test_a_dripped_handshake_keeps_the_budget(make, tmp_path):
    """A server whose TLS handshake never ends costs the budget and no more, and the event waits."""
    authority = Authority(tmp_path)
    # A record header that announces 16 KiB which then drips.
    with serving(on_accept(drip(b"\x16\x03\x03\x40\x00" + b"\x02" * 400, 0.05)), "https") as url:
        transport = make(url, ca_file=str(authority.file))
        assert timed(transport.emit, tree())[1] < BUDGET + SLACK
    assert spooled(tmp_path / "spool").pending == 1


def test_a_paused_destination_costs_no_time(make, tmp_path):
    """Design section 3: "no time is spent where the destination is paused or parked"."""
    with serving(answer(503, {"Retry-After": "60"})) as url:
        transport = make(url)
        transport.emit(tree())
        assert sum(timed(transport.emit, tree())[1] for _ in range(20)) < BUDGET
    assert spooled(tmp_path / "spool").pending == 21


def test_a_backlog_costs_no_time(make):
    """Design section 3: nor where more than 100 events wait ahead."""
    with serving(hang()) as url:
        backlog = make(url, delivery="spool")
        for _ in range(101):
            backlog.emit(tree())
        assert timed(make(url).emit, tree())[1] < SLACK / 2


def test_several_destinations_share_one_budget(make, tmp_path):
    """Three destinations that hang cost one budget, and not three."""
    with serving(hang()) as url:
        names = {name: {"url": url, "token": TOKEN} for name in ("a", "b", "c")}
        transport = make(url, destinations=names)
        assert timed(transport.emit, tree())[1] < BUDGET + SLACK
        assert timed(transport.close)[1] < BUDGET + SLACK
    assert spooled(tmp_path / "spool").pending == 3


@pytest.fixture
def unusable(tmp_path):
    """Put a file in the place of the spool's folder."""
    (tmp_path / "spool").write_text("")


@pytest.mark.parametrize("behaviour", BEHAVIOURS)
def test_without_a_spool_the_budget_holds_too(make, monkeypatch, caplog, unusable, behaviour):
    """An event is tried directly once; what is lost is told, with the reason, and a second one does not wait again."""
    with BEHAVIOURS[behaviour](monkeypatch) as url:
        transport = make(url)
        assert timed(transport.emit, tree())[1] < BUDGET + SLACK
        assert timed(transport.close)[1] < SLACK
    assert ("was lost" in caplog.text) == (behaviour not in TAKEN)
    assert caplog.text.count("sent directly, without a spool") == 1


def test_without_a_spool_events_arrive(make, caplog, unusable):
    """With a receiver that works nothing is lost, and there is one warning."""
    with RawServer() as server:
        transport = make(server.url)
        for number in range(5):
            transport.emit(tree(run={"runId": str(number)}))
        assert transport.close()
        assert [body["run"]["runId"] for body in server.bodies] == list("01234")
    assert [record.levelname for record in caplog.records] == ["WARNING"]


@pytest.fixture
def locked(tmp_path):
    """Let another holder keep the spool's write lock."""
    holder = FileLock(tmp_path / "spool" / "write.lock")
    yield holder
    holder.close()


def test_a_locked_spool_is_passed_by_and_counted_later(make, tmp_path, caplog, locked):
    """The event is sent directly, without a second wait; what came of it is counted once the spool is free."""
    with RawServer() as server:
        transport = make(server.url)
        transport.emit(tree(run={"runId": "before"}))
        assert locked.acquire(1)
        assert timed(transport.emit, tree(run={"runId": "locked out"}))[1] < SHORT_WAIT + SLACK
        locked.release()
        transport.emit(tree(run={"runId": "after"}))
        assert [body["run"]["runId"] for body in server.bodies] == ["before", "locked out", "after"]
        assert transport.close()
    assert "kept in memory until the spool is free" in caplog.text
    assert spooled(tmp_path / "spool").delivered == 3


@pytest.mark.parametrize("is_freed", [True, False])
def test_a_locked_spool_and_a_receiver_that_hangs(make, tmp_path, caplog, locked, is_freed):
    """Where neither works the event waits in memory for the spool, and is lost, and told, only if that stays locked."""
    with serving(hang()) as url:
        transport = make(url, delivery_budget=0.3, exit_budget=0.3)
        transport.emit(tree())
        assert locked.acquire(1)
        for number in range(3):
            assert timed(transport.emit, tree(run={"runId": f"{number}"}))[1] < SHORT_WAIT + 0.3 + SLACK
        if is_freed:
            locked.release()
        assert not transport.close()
        locked.release()
    found = spooled(tmp_path / "spool")
    assert (found.pending, "was lost" in caplog.text) == ((4, False) if is_freed else (1, True))


@pytest.mark.parametrize("delivery", ["inline", "background"])
def test_a_slow_token_command_keeps_the_budget(tmp_path, delivery):
    """The token is wanted before the event is stored, to mask it, and again to send it: one budget for both."""
    transport = TrueWatchTransport(
        {
            "url": "http://127.0.0.1:9",
            "token_command": ["sleep", "2"],
            "spool_dir": str(tmp_path / "spool"),
            "delivery": delivery,
            "delivery_budget": BUDGET,
            "exit_budget": BUDGET,
        }
    )
    for _ in range(2):
        assert timed(transport.emit, tree())[1] < BUDGET + SLACK / 2
    transport.close()
    assert spooled(tmp_path / "spool").pending == 2


def test_what_waited_in_memory_leaves_first(make, tmp_path, locked):
    """The next emit that finds the spool free stores it before its own, so that the order of emit is kept."""
    transport = make("http://127.0.0.1:9", delivery_budget=0.1)
    transport.emit(tree(run={"runId": "r"}))
    assert locked.acquire(1)
    transport.emit(tree(run={"runId": "r"}, eventType="RUNNING"))
    locked.release()
    transport.emit(tree(run={"runId": "r"}, eventType="COMPLETE"))
    with contextlib.closing(sqlite3.connect(tmp_path / "spool" / "spool.db")) as connection:
        kept = connection.execute("SELECT event_type FROM event ORDER BY id").fetchall()
    assert [row[0] for row in kept] == ["START", "RUNNING", "COMPLETE"]


def test_a_log_handler_that_emits_ends(make, tmp_path):
    """Our own warnings go to the program's handlers, and one of them may send lineage."""
    folder = tmp_path / "spool"
    folder.write_text("no folder")
    transport = make("http://127.0.0.1:9", delivery_budget=0.1)

    class Emits(logging.Handler):
        def emit(self, record):
            transport.emit(tree(run={"runId": "of the log"}))

    handler = Emits()
    logging.getLogger("truewatch_lineage").addHandler(handler)
    try:
        assert timed(transport.emit, tree())[1] < 0.1 + SLACK
    finally:
        logging.getLogger("truewatch_lineage").removeHandler(handler)


def test_a_log_handler_that_raises_reaches_no_job(make, tmp_path):
    """What a program's handler does is not the fault of the line that emits."""
    transport = make("http://127.0.0.1:9", delivery_budget=0.1)

    class Raises(logging.Handler):
        def emit(self, record):
            raise ValueError

    handler = Raises()
    logging.getLogger("truewatch_lineage").addHandler(handler)
    try:
        transport.emit(tree())
        transport.emit(b"[]")
        assert not transport.close()
    finally:
        logging.getLogger("truewatch_lineage").removeHandler(handler)
    assert spooled(tmp_path / "spool").pending == 1


@pytest.mark.parametrize("delivery", ["inline", "background", "spool"])
def test_an_emit_in_the_middle_of_an_emit_is_done_after_it(make, tmp_path, delivery):
    """A signal handler may emit at any moment; neither event is lost and nothing hangs."""
    transport = make("http://127.0.0.1:9", delivery=delivery, delivery_budget=0.1)
    fired = itertools.count()

    def emit_too(*_):
        transport.emit(tree(run={"runId": f"signal {next(fired)}"}))

    before = signal.signal(signal.SIGALRM, emit_too)
    signal.setitimer(signal.ITIMER_REAL, 0.002, 0.002)
    try:
        for number in range(100):
            transport.emit(tree(run={"runId": f"loop {number}"}))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    transport.emit(tree(run={"runId": "last"}))
    transport.close()
    assert spooled(tmp_path / "spool").pending == 100 + next(fired) + 1


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # a file that is just being opened
def test_what_a_signal_handler_emits_before_it_raises_is_kept(make, tmp_path):
    """Its event waits for the emit that it interrupts; where that ends by the exception, close() stores the event."""
    transport = make("http://127.0.0.1:9", delivery="spool")
    emitted = []

    def emit_and_interrupt(*_):
        emitted.append(f"signal {len(emitted)}")
        transport.emit(tree(run={"runId": emitted[-1]}))
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, emit_and_interrupt)
    try:
        for number in range(200):
            with contextlib.suppress(KeyboardInterrupt):
                signal.setitimer(signal.ITIMER_REAL, 0.0001 + number * 2e-6)
                transport.emit(tree(run={"runId": f"{number}"}))
                signal.setitimer(signal.ITIMER_REAL, 0)
            if len(emitted) > 20 and not transport._started()._nested.empty():
                break
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    transport.close()
    with contextlib.closing(sqlite3.connect(tmp_path / "spool" / "spool.db")) as connection:
        kept = {row[0] for row in connection.execute("SELECT run_id FROM event")}
    assert set(emitted) <= kept


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # a file that is just being opened
def test_an_exception_in_the_middle_of_a_write_blocks_nobody(make, tmp_path):
    """Ctrl-C, or a job's timeout by SIGALRM, may come between any two lines; the next emit and others go on."""
    transport = make("http://127.0.0.1:9", delivery="spool")

    def interrupt(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    stored = 0
    try:
        for number in range(300):
            with contextlib.suppress(KeyboardInterrupt):
                signal.setitimer(signal.ITIMER_REAL, 0.0001 + number * 2e-6)
                transport.emit(tree(run={"runId": f"{number}"}))
                signal.setitimer(signal.ITIMER_REAL, 0)
                stored += 1
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert timed(transport.emit, tree(run={"runId": "after"}))[1] < SLACK
    other = Store(tmp_path / "spool")
    other.database.checkpoint()
    other.close()
    assert spooled(tmp_path / "spool").pending >= stored + 1


@pytest.mark.parametrize("event", [None, 7, "{", b"[1]", [], object(), {"a": {1, 2}}, {}, "\ud800"])
def test_what_is_no_event_does_not_raise(make, caplog, event):
    """The job goes on whatever it hands over; the next event is delivered."""
    caplog.set_level(logging.WARNING)
    with RawServer() as server:
        transport = make(server.url)
        transport.emit(event)
        transport.emit(tree(run={"runId": "next"}))
        transport.close()
        assert json.dumps(server.bodies).count("next") == 1
