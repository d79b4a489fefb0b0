"""Power cuts, simulated: what `put` returned from is there afterwards, whatever the disk's cache did.

A child works on a spool and its writes, syncs and names are recorded; then, for many points of the record, a folder is
made as a disk could have it after a cut there, with writes lost, torn and reordered, and a store opens it.
"""

from __future__ import annotations

import os
import random
import shutil
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from support.figures import show
from support.powercut import disk, recorder, workload
from support.spool_audit import Audit, audit

from truewatch_lineage.spool import Entry, Store

pytestmark = [
    pytest.mark.linux,
    pytest.mark.skipif(sys.platform != "linux", reason="records by LD_PRELOAD"),
    pytest.mark.skipif(not shutil.which("cc"), reason="needs a C compiler"),
]
SCRIPT = Path(workload.__file__)
STEPS = 90
SEED = 20260
CUTS = [60, pytest.param(400, marks=[pytest.mark.slow, pytest.mark.timeout(600)])]


@dataclass
class Figures:
    """What came out over all cuts."""

    cuts: int = 0
    accepted: int = 0
    lost: int = 0
    cuts_with_losses: int = 0
    faults: list[str] = field(default_factory=list)


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """The recording library, compiled."""
    return recorder.build(tmp_path_factory.mktemp("library"))


@pytest.mark.parametrize("cuts", CUTS)
def test_accepted_events_survive_power_cuts(library, tmp_path, cuts, capsys):
    """With durability ``power`` no cut loses an accepted event, tears a row or breaks a rule of the spool."""
    records = _record(library, tmp_path, "power")
    figures = _cut_often(records, tmp_path, cuts)
    _print(capsys, "power", figures)
    assert not figures.faults
    assert figures.lost == 0
    assert figures.accepted > 50 * cuts / 2


@pytest.mark.parametrize("cuts", CUTS)
def test_the_simulation_does_lose_what_is_not_synced(library, tmp_path, cuts, capsys):
    """With durability ``process`` many cuts lose accepted events, so the test above can fail; nothing breaks though."""
    records = _record(library, tmp_path, "process")
    figures = _cut_often(records, tmp_path, cuts)
    _print(capsys, "process", figures)
    assert not figures.faults
    assert figures.cuts_with_losses > cuts / 4


@pytest.mark.parametrize("cuts", CUTS)
def test_a_rescue_survives_power_cuts(library, tmp_path, cuts, capsys):
    """A cut in the middle of putting a damaged spool away loses none of the events that can be read."""
    records = _record(library, tmp_path, "power", "damage")
    saved = set(next(step.note["saved"] for step in records if step.kind == "N" and "saved" in step.note))
    figures = _cut_often(records, tmp_path, cuts, salvageable=saved)
    _print(capsys, "rescue", figures)
    assert not figures.faults
    assert figures.lost == 0


def _record(library: Path, tmp_path: Path, *arguments: str) -> list[recorder.Record]:
    durability, *rest = arguments
    environ = os.environ.get("PYTHONPATH", "")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join([str(SCRIPT.parents[2]), environ]))
        return recorder.run(library, tmp_path, SCRIPT, [durability, str(STEPS), str(SEED), *rest])


def _cut_often(
    records: list[recorder.Record], tmp_path: Path, cuts: int, salvageable: set[int] | None = None
) -> Figures:
    """Cut at ``cuts`` points of the record; ``salvageable`` are the events that a damage in it has left readable."""
    rng = random.Random(SEED)
    points = Counter(_points(records, cuts, rng, around_rescue=salvageable is not None))
    replayed, figures = disk.Disk(tmp_path / "root"), Figures()
    accepted: set[int] = set()
    delivered: set[int] = set()
    for number, step in enumerate(records):
        for _ in range(points[number]):
            folder = tmp_path / f"cut-{number}"
            replayed.rebuild(folder, rng)
            expected = accepted if salvageable is None else accepted & salvageable
            _check(folder / "state" / "spool", expected, delivered, figures, damaged=salvageable is not None)
            shutil.rmtree(folder)
        replayed.apply(step)
        if step.kind == "N":
            accepted.update(step.note.get("accepted", ()))
            delivered.update(step.note.get("delivered", ()))
    return figures


def _points(records: list[recorder.Record], cuts: int, rng: random.Random, *, around_rescue: bool) -> list[int]:
    """Choose where to cut: anywhere, or half of it where files are renamed, which is where a rescue is delicate."""
    if not around_rescue:
        return rng.choices(range(len(records)), k=cuts)
    renames = [number for number, step in enumerate(records) if step.kind == "R"]
    near = range(renames[0] - 40, renames[-1] + 20)
    return rng.choices(near, k=cuts // 2) + rng.choices(range(len(records)), k=cuts - cuts // 2)


def _check(folder: Path, accepted: set[int], delivered: set[int], figures: Figures, *, damaged: bool) -> None:
    """Open what is left as the next process would, and compare it with what was promised."""
    store = Store(folder, durability="process")  # opening need not wait for the real disk
    found = audit(store)
    lost = accepted - found.known
    figures.cuts += 1
    figures.accepted += len(accepted)
    figures.lost += len(lost)
    figures.cuts_with_losses += bool(lost)
    figures.faults += [*_faults(store, found, damaged=damaged)]
    if wrong := found.delivered - delivered:
        figures.faults.append(f"receipts of what was not sent: {sorted(wrong)[:10]}")
    store.close()


def _faults(store: Store, found: Audit, *, damaged: bool) -> list[str]:
    faults = list(found.faults)
    if not damaged and list(store.folder.glob("*.corrupt-*")):
        faults.append("the spool was taken for damaged")
    after = store.put([Entry(workload.BINDINGS[0], "after", b"the cut")])[0]
    if after is None or after in found.known:
        faults.append(f"id {after} was used twice")
    return faults


def _print(capsys: pytest.CaptureFixture[str], name: str, figures: Figures) -> None:
    show(
        capsys,
        f"power cuts ({name}): {figures.cuts} cuts, {figures.accepted} accepted events looked for,"
        f" {figures.lost} lost in {figures.cuts_with_losses} cuts",
    )
