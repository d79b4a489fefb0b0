"""Values are read out of files of every form, and what is broken is named by line without losing the others."""

from __future__ import annotations

import json
import tracemalloc

import pytest

from truewatch_lineage.cli import reading
from truewatch_lineage.cli.reading import items, total_bytes

EVENT = {"eventType": "START", "job": {"namespace": "ns", "name": "ä\ud83d\ude00"[:1]}, "n": [1, {"a": None}]}
TEXT = json.dumps(EVENT)
PRETTY = json.dumps(EVENT, indent=2)

GOOD = {
    "one event": (TEXT, [1]),
    "one event over many lines": (PRETTY, [1]),
    "a byte order mark": ("\ufeff" + TEXT, [1]),
    "lines": (f"{TEXT}\n{TEXT}\n", [1, 2]),
    "lines with others empty": (f"\n{TEXT}\n\n  {TEXT}\r\n", [2, 4]),
    "several in one line": (f"{TEXT} {TEXT}{TEXT}", [1, 1, 1]),
    "several over many lines": (f"{PRETTY}\n{PRETTY}\n", [1, 1 + len(PRETTY.splitlines())]),
    "an array": (f"[{TEXT},\n{TEXT}]", [1, 2]),
    "an array over many lines": (json.dumps([EVENT, EVENT], indent=1), [2, 2 + len(PRETTY.splitlines())]),
    "arrays a line": (f"[{TEXT}]\n[{TEXT}, {TEXT}]\n", [1, 2, 2]),
    "an array and lines": (f"[{TEXT}]\n{TEXT}\n", [1, 2]),
}
BROKEN = {
    "a line": (f"{TEXT}\n{{bad\n{TEXT}\n", [1, 3], [2]),
    "two lines": (f"nonsense\nmore of it\n{TEXT}\n", [3], [1, 2]),
    "a line that is cut": (f"{TEXT[:30]}\n{TEXT}\n{TEXT}\n", [2, 3], [1]),
    "a line that is cut in a text": (f'{{"a": "b\n{TEXT}\n', [2], [1]),
    "the last line, cut": (f"{TEXT}\n{TEXT[:-5]}", [1], [2]),
    "an event over many lines": (f"{PRETTY[:-20]}\n{TEXT}\n", [1 + len(PRETTY[:-20].splitlines())], [1]),
    "an element of an array": (f"[{TEXT},\n{{bad}},\n{TEXT}\n]\n", [1, 3], [2]),
    "an array that is cut": (f"[{TEXT},\n{TEXT}\n", [1, 2], [1]),
    "an array without a comma": (f"[{TEXT}\n{TEXT}\n]\n", [1], [2]),
}


def _read(path):
    found = list(items([str(path)]))
    lines = [(item.line, item) for item in found]
    return (
        [line for line, item in lines if item.data is not None],
        [line for line, item in lines if item.problem],
        found,
    )


@pytest.mark.parametrize("chunk", [1 << 20, 7])
@pytest.mark.parametrize(("text", "lines"), GOOD.values(), ids=GOOD)
def test_every_form_is_read(tmp_path, monkeypatch, chunk, text, lines) -> None:
    """Whatever the form, and however it is cut into pieces, each event comes out with its line."""
    monkeypatch.setattr(reading, "_CHUNK", chunk)
    path = tmp_path / "events.json"
    path.write_text(text, encoding="utf-8", newline="")

    good, bad, found = _read(path)

    assert (good, bad) == (lines, [])
    assert all(json.loads(item.data) == EVENT for item in found)


@pytest.mark.parametrize(("text", "good", "bad"), BROKEN.values(), ids=BROKEN)
def test_what_is_broken_is_named_and_the_others_are_read(tmp_path, text, good, bad) -> None:
    """The line of each broken value is told, and reading goes on behind it."""
    path = tmp_path / "events.ndjson"
    path.write_text(text, encoding="utf-8", newline="")

    assert _read(path)[:2] == (good, bad)


def test_the_elements_of_an_array_are_told_apart(tmp_path) -> None:
    """By their index, as all of them may be in one line; what is in no array has none."""
    path = tmp_path / "events.json"
    path.write_text(f"[{TEXT}, {TEXT},\n{{bad}},\n{TEXT}]\n{TEXT}", encoding="utf-8")

    places = [item.where.removeprefix(str(path)) for item in items([str(path)])]

    assert places == [":1[0]", ":1[1]", ":2[2]", ":3[3]", ":4"]


def test_bytes_that_are_no_utf8_stay_as_they_are(tmp_path) -> None:
    """They are for the event's own check to name, and spoil no other line."""
    path = tmp_path / "events.ndjson"
    path.write_bytes(b'{"a":"\xff"}\n{"b":1}\n')

    assert [item.data for item in items([str(path)])] == [b'{"a":"\xff"}', b'{"b":1}']


def test_a_folder_is_read_in_order_and_what_is_no_file_of_events_is_not(tmp_path) -> None:
    """Files that end with .json, .jsonl or .ndjson, sorted by path, folders within included."""
    (tmp_path / "b").mkdir()
    for name in ("c.json", "b/a.ndjson", "a.JSONL", "notes.txt"):
        (tmp_path / name).write_text(f'{{"from": "{name}"}}', encoding="utf-8")

    assert [json.loads(item.data)["from"] for item in items([str(tmp_path)])] == ["a.JSONL", "b/a.ndjson", "c.json"]
    assert total_bytes([str(tmp_path)]) == sum(
        len(f'{{"from": "{name}"}}') for name in ("c.json", "b/a.ndjson", "a.JSONL")
    )


@pytest.mark.parametrize("name", ["missing.json", "empty"])
def test_what_can_not_be_read_is_named(tmp_path, name) -> None:
    """A missing file and a folder without events are problems, not silence."""
    (tmp_path / "empty").mkdir()

    (item,) = items([str(tmp_path / name)])

    assert item.problem
    assert item.where == str(tmp_path / name)


def test_a_large_file_is_not_held_in_memory(tmp_path) -> None:
    """Reading 64 MiB of events needs a few MiB."""
    path = tmp_path / "large.ndjson"
    line = json.dumps({"pad": "x" * 8000}).encode() + b"\n"
    with path.open("wb") as stream:
        for _ in range(8192):
            stream.write(line)
    tracemalloc.start()
    try:
        count = sum(item.data is not None for item in items([str(path)]))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    path.unlink()

    assert count == 8192
    assert peak < 16 * 1024 * 1024


def test_a_value_longer_than_a_chunk_is_read_whole(tmp_path) -> None:
    """A 9 MiB event is one value, whose fate others decide."""
    path = tmp_path / "large.json"
    path.write_text(json.dumps({"pad": "y" * 9 * 1024 * 1024}), encoding="utf-8")

    (item,) = items([str(path)])

    assert len(item.data) > 9 * 1024 * 1024
