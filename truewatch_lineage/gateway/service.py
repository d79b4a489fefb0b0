"""The gateway, told in one place: HTTP and Kafka → door → spool (commit) → courier → destinations, and how it ends.

It has three connections to the spool, so that commits, deliveries and metrics do not wait for each other's locks. With
``delivery: spool`` a courier beside it delivers, on a processor of its own.
"""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Final

from truewatch_lineage.config import Settings
from truewatch_lineage.courier import POLL_SECONDS, Courier, binding_of
from truewatch_lineage.errors import ConfigError, SpoolError, TruewatchLineageError
from truewatch_lineage.gateway.commit import GroupCommit
from truewatch_lineage.gateway.door import Door
from truewatch_lineage.gateway.http.app import build_app
from truewatch_lineage.gateway.http.entrance import MAX_CONNECTIONS, OWNER, SPARE_CONNECTIONS, Entrance
from truewatch_lineage.gateway.http.figures import PREFIX, figures
from truewatch_lineage.gateway.http.state import SpoolLook, State
from truewatch_lineage.gateway.http.tokens import Accepted
from truewatch_lineage.gateway.kafka import KafkaIntake, KafkaOptions
from truewatch_lineage.gateway.unattended import Attendance
from truewatch_lineage.notices import Notices
from truewatch_lineage.serving.counters import Counters
from truewatch_lineage.serving.credentials import Gate
from truewatch_lineage.serving.exposition import Metric
from truewatch_lineage.serving.guards import is_loopback
from truewatch_lineage.serving.server import Server, collect_seldom, configured, listen, room_for, url_of
from truewatch_lineage.serving.tls import Tls
from truewatch_lineage.spool.opening import open_spool

log = logging.getLogger(__name__)

SETTLING_SECONDS: Final = 2.0
"""How long requests that were let in before the end may take to be committed."""

FINISHING_SECONDS: Final = 0.3
"""Of the budget, what is kept for cutting and noting the attempts that are in flight at its end."""

_LOOK_SECONDS: Final = 0.1


@dataclass(frozen=True, slots=True)
class Options:
    """How to run.

    Attributes:
        host: The address to bind to.
        port: 0 for a free one.
        tokens: Those that clients may show; empty to ask for none.
        tls: For https, or None for http.
        kafka: Where events are taken from besides, or None.
    """

    host: str = "127.0.0.1"
    port: int = 0
    tokens: Accepted = field(default_factory=lambda: Accepted(()))
    tls: Tls | None = None
    kafka: KafkaOptions | None = None


class Gateway:
    """Takes events and delivers them, from `start` to `stop`.

    Args:
        settings: The destinations and the spool.
        options: How to run.

    Raises:
        ConfigError: The options can't be used, the address is taken, or too few files may be open.
        SpoolError: The spool can't be used.
    """

    def __init__(self, settings: Settings, options: Options) -> None:
        self._settings = settings
        self._options = options
        self._bindings = [binding_of(destination) for destination in settings.destinations]
        self._delivers = settings.delivery != "spool"
        self._notices = Notices(log)
        most = room_for(MAX_CONNECTIONS, spare=SPARE_CONNECTIONS, owner=OWNER)
        self._stores = [open_spool(settings) for _ in range(3)]
        self._store, own, look = self._stores
        for binding in self._bindings:
            self._store.register(binding)
        self._courier = Courier(own, settings.destinations if self._delivers else ())
        self._attendance = None if self._delivers else Attendance(own, self._bindings)
        self._commit = GroupCommit(self._store, Door(settings), self._courier.wake)
        self._counters = Counters()
        gate = Gate(options.tokens, owner=OWNER)
        self._entrance = Entrance(gate, self._commit, self._counters, max_connections=most)
        self._kafka = self._make_kafka(options.kafka)
        self._listener = listen(options.host, options.port, owner=OWNER)
        app = build_app(
            self._entrance, State(self, SpoolLook(look)), gate, self._counters, loopback=is_loopback(options.host)
        )
        tls = options.tls.context if options.tls else None
        self._config = configured(app, max_connections=most + SPARE_CONNECTIONS, tls=tls)
        self._ready = threading.Event()
        self._server = Server(self._config, self._ready.set, lambda: None)
        self._serving = threading.Thread(target=self._serve, name="truewatch-lineage-http", daemon=True)

    @property
    def url(self) -> str:
        """Where it is reached from this machine."""
        return url_of(self._options.host, self._listener, scheme="https" if self._options.tls else "http")

    def start(self) -> None:
        """Deliver and take events; returns once connections are accepted.

        Raises:
            TruewatchLineageError: The server could not be started; its thread has said why.
        """
        collect_seldom()
        self._courier.start(poll=POLL_SECONDS, probe=True)
        if self._kafka is not None:
            self._kafka.start()
        self._serving.start()
        while not self._ready.wait(_LOOK_SECONDS):
            if not self._serving.is_alive():
                raise TruewatchLineageError("The gateway's server has not started.", fix="Its log says why.")

    def renew(self) -> None:
        """Read the certificate again where its files have changed, and look for the courier; called every second."""
        if self._attendance is not None:
            self._attendance.look()
        try:
            if self._options.tls is not None:
                self._options.tls.renew()
        except ConfigError as error:
            self._notices.warning("tls", "The certificate that was read last stays in use: %s", error)

    def fault(self) -> str | None:
        """Say why the gateway can do nothing more and is to be started again, or None."""
        if not self._courier.all_live() and not self._entrance.is_closed:
            return "a thread that delivers has ended"
        if self._kafka is not None and self._kafka.has_ended() and not self._entrance.is_closed:
            return "nothing is taken from Kafka any more"
        return None if self._serving.is_alive() else "nothing is served any more"

    def problem(self) -> str | None:
        """Say why no events are taken now, or None."""
        if self._entrance.is_closed:
            return "the gateway is stopping"
        trouble = self._commit.trouble()
        return trouble if trouble or self._kafka is None else self._kafka.problem()

    def stop(self) -> int:
        """Take no more events, deliver for at most ``exit_budget`` seconds what is due in time, and end.

        Returns:
            How many events are left in the spool for these destinations.

        Raises:
            SpoolError: The spool can't be read.
        """
        deadline = time.monotonic() + self._settings.exit_budget
        self._entrance.is_closed = True
        self._wait(lambda: self._entrance.active > 0, min(deadline, time.monotonic() + SETTLING_SECONDS))
        if self._kafka is not None:
            self._kafka.stop(max(0.0, deadline - time.monotonic()) / 2)  # what it leaves to the spool takes time too
        if self._delivers:
            self._wait(lambda: self._has_due(deadline), deadline - FINISHING_SECONDS)
        self._courier.finish(max(0.0, deadline - time.monotonic()))
        self._courier.stop()
        self._server.should_exit = True
        if self._serving.ident is not None:
            self._serving.join()
        self._commit.close()
        if self._attendance is not None:
            self._attendance.close()
        try:
            return sum(self._store.pending(binding) for binding in self._bindings)
        finally:
            self._listener.close()
            for store in self._stores:
                store.close()

    def metrics(self) -> Iterator[Metric]:
        """Yield what is counted here, without what the spool holds."""
        about = [({"version": version("truewatch-lineage")}, 1)]
        yield Metric(f"{PREFIX}_info", "gauge", "1, with the version.", about)
        is_ready = self.fault() is None and self.problem() is None
        yield Metric.single(f"{PREFIX}_ready", "gauge", "1 where events are taken.", int(is_ready))
        most = "Bytes that the spool may store; each destination has an equal share."
        yield Metric.single(f"{PREFIX}_spool_bytes_max", "gauge", most, self._store.capacity)
        yield from figures(self._counters, self._entrance, self._commit)
        if self._kafka is not None:
            yield from self._kafka.metrics()

    def _make_kafka(self, options: KafkaOptions | None) -> KafkaIntake | None:
        if options is None:
            return None
        if not self._delivers:
            problem = "leaves delivery to a courier, but what comes from Kafka is delivered by the gateway itself"
            raise ConfigError(f"delivery: spool {problem}.", key="delivery", fix="Leave it out here.")
        return KafkaIntake(self._settings, self._store, options)

    def _serve(self) -> None:
        # uvicorn ends a start that fails by SystemExit, and has logged why.
        with contextlib.suppress(SystemExit):
            self._server.run(sockets=[self._listener])

    def _wait(self, goes_on: Callable[[], bool], deadline: float) -> None:
        while time.monotonic() < deadline and goes_on():
            time.sleep(_LOOK_SECONDS)

    def _has_due(self, deadline: float) -> bool:
        """Tell whether something waits that may be delivered before a deadline of ``time.monotonic()``."""
        left = deadline - time.monotonic()
        try:
            return any(self._due_in(index) < left for index in range(len(self._bindings)))
        except SpoolError as error:
            self._notices.warning("spool", "The gateway ends without looking at what waits: %s", error)
            return False

    def _due_in(self, index: int) -> float:
        """Return in how many seconds something of a destination may be tried; infinity if nothing waits."""
        store, binding = self._store, self._bindings[index]
        standing = store.standing(binding)
        if not store.pending(binding, limit=1):
            return float("inf")
        due = standing.until if standing.state != "ready" else store.next_due(binding)
        return max(0.0, (due or 0.0) - store.clock())
