"""What connections said last, in a file of the spool's folder."""

from __future__ import annotations

import json
import math
import time

import pytest

from truewatch_lineage_airflow.memory import AGAIN_SECONDS, FILE_NAME, Memory

VALUES = {"url": "https://h", "destination": "portal", "airflow_conn_id": "conn"}


def test_settings_are_remembered_for_each_connection_by_this_user_alone(tmp_path):
    """The folder is made as the spool's is."""
    memory = Memory(tmp_path / "spool")
    memory.remember("conn", VALUES)
    memory.remember("other", {"url": "https://other"})
    assert memory.recall("conn", within=60) == VALUES
    assert memory.recall("other", within=60) == {"url": "https://other"}
    assert memory.recall("third", within=math.inf) is None
    assert (tmp_path / "spool").stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "spool" / FILE_NAME).stat().st_mode & 0o777 == 0o600
    assert list((tmp_path / "spool").iterdir()) == [tmp_path / "spool" / FILE_NAME]


def test_what_may_hold_a_secret_is_not_kept(tmp_path):
    """Neither a token, nor headers, nor a proxy's url, nor a url with more in it than an address."""
    memory = Memory(tmp_path)
    secret = {"token": "canary", "headers": {"X": "canary"}, "proxy": "http://u:canary@p", "auth": {"apiKey": "canary"}}
    memory.remember("conn", {**VALUES, **secret})
    assert memory.recall("conn", within=60) == VALUES
    for url in ("https://u:canary@h", "https://h?token=canary", "https://h#canary"):
        memory.remember("other", {"url": url})
    assert memory.recall("other", within=math.inf) is None
    assert "canary" not in (tmp_path / FILE_NAME).read_text()


@pytest.mark.parametrize("token", ["canary-0123", 'can"ary\\', "canäry"])
@pytest.mark.parametrize(
    "wrong", [{"ca_file": "{}"}, {"timeout": {"{}": 1}}, {"exclude_facets": ["a {} b"]}, {"url": "https://h/{}/x"}]
)
def test_a_token_that_stands_in_another_field_is_not_kept(tmp_path, token, wrong):
    """Fields are not checked yet, and people paste into the wrong one."""
    filled = json.loads(json.dumps(wrong).replace("{}", json.dumps(token)[1:-1]))
    Memory(tmp_path).remember("conn", {**VALUES, **filled}, token)
    assert Memory(tmp_path).recall("conn", within=60) is None
    Memory(tmp_path).remember("conn", VALUES, token)
    assert Memory(tmp_path).recall("conn", within=60) == VALUES


def test_it_is_written_again_only_when_it_changed_or_is_old(tmp_path):
    """Each task asks for the connection, and need not write."""
    memory, file = Memory(tmp_path), tmp_path / FILE_NAME
    memory.remember("conn", VALUES)
    first = file.stat().st_ino, file.stat().st_mtime_ns
    memory.remember("conn", VALUES)
    assert (file.stat().st_ino, file.stat().st_mtime_ns) == first
    old = {"conn": {"at": time.time() - AGAIN_SECONDS - 1, "values": VALUES}}
    file.write_text(json.dumps(old))
    assert memory.recall("conn", within=AGAIN_SECONDS) is None
    memory.remember("conn", VALUES)
    assert memory.recall("conn", within=AGAIN_SECONDS) == VALUES
    memory.remember("conn", {"url": "https://new"})
    assert memory.recall("conn", within=60) == {"url": "https://new"}


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"conn": 1}', '{"conn": {"values": 1}}', '{"conn": {"values": {}}}', "[" * 9999]
)
def test_a_file_that_is_damaged_is_none(tmp_path, text):
    """It is only a help; the next connection that is found replaces it."""
    (tmp_path / FILE_NAME).write_text(text)
    assert Memory(tmp_path).recall("conn", within=math.inf) is None
    Memory(tmp_path).remember("conn", VALUES)
    assert Memory(tmp_path).recall("conn", within=60) == VALUES


def test_a_folder_that_cannot_be_used_is_no_error(tmp_path):
    """The spool itself says what is wrong with it."""
    (tmp_path / "file").write_text("")
    memory = Memory(tmp_path / "file")
    memory.remember("conn", VALUES)
    assert memory.recall("conn", within=60) is None
