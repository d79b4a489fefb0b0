"""A token in a file: rotation, Kubernetes' links, and who else can touch it."""

import logging
import os
import time

import pytest

from truewatch_lineage.destinations import token_file
from truewatch_lineage.destinations.tokens import FileToken
from truewatch_lineage.errors import TokenError


@pytest.fixture(autouse=True)
def _forget_warnings(monkeypatch):
    """Warnings are given once a process; each test starts afresh."""
    monkeypatch.setattr(token_file, "_warned", set())


def written(path, text="tkn_first\n", mode=0o600):
    """Write a token file with exactly ``mode``."""
    path.write_bytes(text.encode("latin-1"))
    path.chmod(mode)
    return path


def test_the_file_is_read_and_its_newline_trimmed(tmp_path):
    """What ``echo`` and editors add is no part of the token."""
    assert FileToken(written(tmp_path / "t", "tkn_first\r\n")).get().reveal() == "tkn_first"


def test_a_changed_file_is_read_again(tmp_path):
    """Rotation needs no restart."""
    source = FileToken(written(tmp_path / "t"))
    first = source.get()
    written(tmp_path / "t", "tkn_second_one")
    assert first != source.get()
    assert source.get().reveal() == "tkn_second_one"


def test_an_unchanged_file_is_not_read_again_unless_asked(tmp_path):
    """One stat is enough; a refusal by the destination asks for more."""
    source = FileToken(written(tmp_path / "t"))
    assert source.get() is source.get()
    assert source.get(refresh=True) is not source.get(refresh=True)


def test_a_kubernetes_rotation_is_seen(tmp_path):
    """Kubernetes renames ``..data``, a link in the middle of the way to the file."""
    for name in ("one", "two"):
        (tmp_path / f"..{name}").mkdir()
        written(tmp_path / f"..{name}" / "token", f"tkn_{name}")
    (tmp_path / "..data").symlink_to("..one")
    (tmp_path / "token").symlink_to("..data/token")
    source = FileToken(tmp_path / "token")
    assert source.get().reveal() == "tkn_one"
    (tmp_path / "..new").symlink_to("..two")
    (tmp_path / "..new").rename(tmp_path / "..data")
    assert source.get().reveal() == "tkn_two"


def test_a_file_that_appears_later_works(tmp_path):
    """A sidecar may write it after the program has started."""
    source = FileToken(tmp_path / "t")
    with pytest.raises(TokenError, match=r"is not there\. Mount or create it"):
        source.get()
    assert source.age() is None
    written(tmp_path / "t")
    assert source.get().reveal() == "tkn_first"


def test_age_is_the_files_own(tmp_path):
    """``check`` tells when the token was last rotated."""
    path = written(tmp_path / "t")
    os.utime(path, (time.time() - 3600,) * 2)
    assert FileToken(path).age() == pytest.approx(3600, abs=60)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "is empty"),
        ("tkn_canary\ntkn_canary2\n", "a line break"),
        ("tkn_canary\xff", "outside ASCII"),
        ("\xef\xbb\xbftkn_canary", "outside ASCII"),
        ("tkn_canary" * 7000, "holds more than 65,536 bytes"),
    ],
)
def test_a_file_that_holds_no_token_is_refused_without_showing_it(tmp_path, text, told):
    """The message names the file and the fault."""
    path = written(tmp_path / "t", text)
    with pytest.raises(TokenError) as caught:
        FileToken(path).get()
    assert told in str(caught.value)
    assert str(path) in str(caught.value)
    assert "canary" not in str(caught.value)


@pytest.mark.parametrize("mode", [0o602, 0o622, 0o646, 0o777])
def test_a_file_that_others_may_write_is_refused(tmp_path, mode):
    """Whoever writes it could lead the lineage into their own workspace."""
    with pytest.raises(TokenError, match=r"may be written by others\. Run chmod 600"):
        FileToken(written(tmp_path / "t", mode=mode)).get()


def test_a_file_that_a_foreign_group_may_write_is_refused(tmp_path, monkeypatch):
    """Group members are others, unless it is the process's own group."""
    source = FileToken(written(tmp_path / "t", mode=0o660))
    monkeypatch.setattr(os, "getegid", lambda: (tmp_path / "t").stat().st_gid + 1)
    with pytest.raises(TokenError, match="may be written by others"):
        source.get()


@pytest.mark.parametrize("mode", [0o604, 0o644, 0o660])
def test_a_file_that_others_may_read_is_a_warning_given_once(tmp_path, caplog, mode):
    """Kubernetes mounts secrets 0644, and a umask of 002 gives 0660 to one's own group."""
    path = written(tmp_path / "t", mode=mode)
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            FileToken(path).get(refresh=True)
    (record,) = caplog.records
    assert "chmod 600" in record.getMessage()
    assert str(path) in record.getMessage()
    assert "tkn_" not in record.getMessage()


@pytest.mark.parametrize("mode", [0o400, 0o440, 0o600, 0o640])
def test_a_private_file_is_taken_silently(tmp_path, caplog, mode):
    """What is as it should be is not talked about."""
    FileToken(written(tmp_path / "t", mode=mode)).get()
    assert not caplog.records


def test_another_users_file_is_refused(tmp_path, monkeypatch):
    """Only this user and root may own it."""
    path = written(tmp_path / "t")
    if os.geteuid() == 0:
        os.chown(path, 12345, -1)
    else:
        monkeypatch.setattr(os, "geteuid", lambda: path.stat().st_uid + 1)
    with pytest.raises(TokenError, match=r"belongs to another user \(uid \d+\)"):
        FileToken(path).get()


def test_a_folder_a_fifo_and_a_loop_of_links_are_refused_at_once(tmp_path):
    """Nothing waits for a writer that never comes."""
    os.mkfifo(tmp_path / "fifo", 0o600)
    (tmp_path / "loop").symlink_to("loop")
    for path, told in (
        (tmp_path, "no regular file"),
        (tmp_path / "fifo", "no regular file"),
        (tmp_path / "loop", "can't be read"),
    ):
        with pytest.raises(TokenError, match=told):
            FileToken(path).get()


def test_a_token_written_in_the_place_of_the_path_is_not_shown(tmp_path, monkeypatch):
    """The commonest slip must not print the secret."""
    monkeypatch.chdir(tmp_path)
    source = FileToken((tmp_path / "tkn_canary/with+slash==").absolute())
    with pytest.raises(TokenError) as caught:
        source.get()
    assert "canary" not in f"{caught.value} {source!r} {source.describe()}"
    assert "token_file" in str(caught.value)


def test_a_missing_files_path_is_shown_where_it_is_one(tmp_path, monkeypatch):
    """Where a folder on the way exists, the path helps to find the mistake."""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    assert str(tmp_path / "elsewhere" / "t") in FileToken(tmp_path / "elsewhere" / "t").describe()


def test_a_working_folder_that_is_gone_does_no_harm(tmp_path, monkeypatch):
    """Daemons lose theirs."""
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    with pytest.raises(TokenError, match="The token's file, which token_file names, is not there"):
        FileToken(tmp_path / "missing").get()


@pytest.mark.parametrize(
    ("mode", "weakness"),
    [
        (0o600, None),
        (0o644, "others may read it"),
        (0o660, "its group may write it"),
        (0o664, "its group may write it and others may read it"),
    ],
)
def test_a_weakness_is_what_the_mode_says(tmp_path, mode, weakness):
    """A file that others may only read is not said to be writable."""
    assert FileToken(written(tmp_path / "t", mode=mode)).weakness() == weakness
    assert FileToken(tmp_path / "missing").weakness() is None


def test_a_missing_file_without_a_path_is_told_with_its_folder(tmp_path, monkeypatch):
    """Its name alone may be the token, so the folder where it was looked for is told in its place."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(TokenError) as caught:
        FileToken(tmp_path / "missing").get()
    assert str(caught.value) == (
        f"The token's file, which token_file names, is not there (looked for in {tmp_path}). "
        "Mount or create it, readable by this user."
    )


def test_a_token_in_the_place_of_a_path_in_a_file_of_settings_is_not_shown(tmp_path):
    """There a relative path starts from the file's own folder, which exists."""
    source = FileToken(tmp_path / "tkn_canary", base=tmp_path)
    with pytest.raises(TokenError) as caught:
        source.get()
    assert "canary" not in f"{caught.value} {source!r} {source.describe()}"
