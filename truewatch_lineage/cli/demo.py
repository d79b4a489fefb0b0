"""``truewatch-lineage demo``: a pipeline's events through an outage, without an account."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from truewatch_lineage.cli import logs, output
from truewatch_lineage.cli.serving import missing_extra
from truewatch_lineage.words import counted

if TYPE_CHECKING:
    from truewatch_lineage import TrueWatchTransport
    from truewatch_lineage.cli.output import Bar
    from truewatch_lineage.cli.rehearsal import Figures, LocalReceiver

EPILOG = """\b
Examples:
  truewatch-lineage demo
  truewatch-lineage demo --keep

\b
Exits 1 if an event is lost or out of order, 2 if the extra `receiver` is not installed.
"""
_OUTAGE_SECONDS: Final = 1.0
_WAIT_SECONDS: Final = 60.0
_LOOK: Final = 0.05
_END_SECONDS: Final = 3.0
"""In which threads must have ended: they would make the folder anew while it is removed."""


@click.command("demo", epilog=EPILOG)
@click.option("--keep", is_flag=True, help="Leave the receiver up until Ctrl-C, to look at what it has.")
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
def command(keep: bool, as_json: bool) -> None:
    """Send the events of a real dbt run through the real transport to a receiver on this machine.

    The receiver is another process, and is killed in the middle. Nothing leaves this machine; settings are not read,
    and everything is in a temporary folder that is gone afterwards.
    """
    try:
        import truewatch_lineage.receiver.server  # noqa: F401, PLC0415 - only whether it is there
    except ModuleNotFoundError as error:
        raise missing_extra(error, "receiver") from error
    from truewatch_lineage.cli.rehearsal import LocalReceiver, no_settings  # noqa: PLC0415 - the help needs none of it

    with tempfile.TemporaryDirectory(prefix="truewatch-lineage-demo-") as folder, no_settings():
        receiver = LocalReceiver(Path(folder))
        try:
            receiver.start()
            figures = _rehearse(receiver, Path(folder))
            with suppress(KeyboardInterrupt):
                _report(figures, receiver.url, as_json=as_json)
                if keep:
                    output.note(f"The receiver stays up until Ctrl-C. Look at what it has: {receiver.url}")
                    receiver.wait()
        except KeyboardInterrupt:
            output.note("Interrupted: nothing is left behind.")
            raise
        finally:
            receiver.stop()
    click.get_current_context().exit(0 if figures.is_good else 1)


def _rehearse(receiver: LocalReceiver, folder: Path) -> Figures:
    """Send a third, kill the receiver, send a third, start it again, send the rest, and look what is there."""
    from truewatch_lineage import TrueWatchTransport  # noqa: PLC0415 - as above
    from truewatch_lineage.cli.rehearsal import Figures, compare, recorded_events  # noqa: PLC0415
    from truewatch_lineage.spool.report import in_words  # noqa: PLC0415

    events, figures = recorded_events(), Figures()
    figures.events, third = len(events), len(events) // 3
    settings = {"url": receiver.url, "token_file": str(receiver.token_file), "spool_dir": str(folder / "spool")}
    transport = TrueWatchTransport({**settings, "delivery": "background", "exit_budget": _WAIT_SECONDS})
    output.note(f"A receiver listens on {receiver.url}, in a process of its own.")
    with output.progress() as bar, logs.quiet("courier"), _closed(transport):
        send = _sender(transport.emit, figures.latencies, bar, len(events))
        send(events[:third])
        _wait_until(lambda: receiver.count() > 0)
        receiver.kill()
        gone = time.monotonic()
        output.note(f"{counted(third, 'event')} are emitted, and the receiver is killed (SIGKILL).")
        send(events[third : 2 * third])
        figures.in_outage = figures.latencies[third:]
        while time.monotonic() < gone + _OUTAGE_SECONDS:
            bar.show("receiver away", time.monotonic() - gone, _OUTAGE_SECONDS)
            time.sleep(_LOOK)
        found = _status(folder / "spool")
        figures.waiting, default = found["pending"], found["destinations"]["default"]
        output.note(f"{third} more are emitted without it, and {figures.waiting} wait in the spool:")
        output.note(f"  {in_words(default['state'], default['reason'], default['until'], time.time())}")
        receiver.start()
        figures.outage = time.monotonic() - gone
        output.note("The receiver is started again, and the rest is emitted.")
        send(events[2 * third :])
        _wait_until(lambda: _is_empty(folder / "spool", bar, len(events)))
        transport.close()
    compare(figures, events, receiver.arrived())
    return figures


@contextmanager
def _closed(transport: TrueWatchTransport) -> Iterator[None]:
    """Let a transport deliver no more after a ``with`` block, whatever ends it: its folder is gone soon."""
    try:
        yield
    finally:
        transport.close(_END_SECONDS)


def _sender(
    emit: Callable[[Any], None], latencies: list[float], bar: Bar, total: int
) -> Callable[[list[dict[str, Any]]], None]:
    from truewatch_lineage.cli.rehearsal import timed  # noqa: PLC0415 - as above

    def send(events: list[dict[str, Any]]) -> None:
        for event in events:
            latencies.append(timed(emit, event))
            bar.show("emitted", len(latencies), total)

    return send


def _wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _WAIT_SECONDS
    while not condition() and time.monotonic() < deadline:
        time.sleep(_LOOK)


def _status(folder: Path) -> dict[str, Any]:
    from truewatch_lineage.spool import Store  # noqa: PLC0415 - as above
    from truewatch_lineage.spool.report import status  # noqa: PLC0415

    store = Store(folder)
    try:
        return status(store)
    finally:
        store.close()


def _is_empty(folder: Path, bar: Bar, total: int) -> bool:
    found = _status(folder)
    bar.show("delivered", found["delivered"], total)
    return not found["pending"]


def _report(figures: Figures, url: str, *, as_json: bool) -> None:
    from truewatch_lineage.cli.rehearsal import percentile  # noqa: PLC0415 - as above

    shown: dict[str, Any] = {
        "events": figures.events,
        "delivered": figures.delivered,
        "lost": figures.events - figures.delivered,
        "duplicates": figures.duplicates,
        "out_of_order": figures.out_of_order,
        "outage_s": round(figures.outage, 2),
        "waiting_at_peak": figures.waiting,
        "emit_p50_ms": round(percentile(figures.latencies, 0.5) * 1000, 2),
        "emit_p99_ms": round(percentile(figures.latencies, 0.99) * 1000, 2),
        "emit_p99_in_outage_ms": round(percentile(figures.in_outage, 0.99) * 1000, 2),
        "receiver": url,
    }
    if as_json:
        output.as_json(shown)
        return
    output.table(("", ""), list(shown.items()))
    good = "Every event arrived once, in the order of its run."
    if figures.duplicates:
        good = f"Every event arrived, in the order of its run; {figures.duplicates} twice, as their answers were lost."
    click.echo(good if figures.is_good else "Something is lost or out of order: this is a fault of truewatch-lineage.")
