"""``spark conf``: its options, where it writes, and what it refuses."""

from __future__ import annotations

import os
import stat

import pytest
from support import cli

DATAKIT = {"destination": "datakit"}


def conf(*options, env=DATAKIT):
    """Run the command."""
    return cli.run("spark", "conf", *options, env=env)


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX's")
@pytest.mark.parametrize(("form", "mode"), [("yml", 0o600), ("properties", 0o644), ("k8s", 0o644)])
@pytest.mark.parametrize("umask", [0o022, 0o000])
def test_a_file_has_the_mode_that_fits_it(form, mode, umask, tmp_path):
    """openlineage.yml is where people put tokens, so it is its owner's."""
    file = tmp_path / "out"
    before = os.umask(umask)
    try:
        ran = conf("--format", form, "-o", file)
    finally:
        os.umask(before)

    assert (ran.code, ran.out) == (0, "")
    assert f"Written: {file}" in ran.err
    assert stat.S_IMODE(file.stat().st_mode) == mode
    assert file.read_text("utf-8") == conf("--format", form).out


def test_a_file_that_is_there_is_kept(tmp_path):
    """And nothing is left beside it."""
    file = tmp_path / "out"
    file.write_text("mine")

    ran = conf("-o", file)

    assert ran.code == 2
    assert "--force" in ran.err
    assert [(one.name, one.read_text()) for one in tmp_path.iterdir()] == [("out", "mine")]


def test_a_link_that_leads_nowhere_is_not_followed(tmp_path):
    """Somebody else may have laid it."""
    file = tmp_path / "out"
    file.symlink_to(tmp_path / "elsewhere")

    assert conf("-o", file).code == 2
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX's")
def test_force_replaces_the_file_and_its_mode(tmp_path):
    """Whole or not at all, and never wider than it should be."""
    file = tmp_path / "openlineage.yml"
    file.write_text("old")
    file.chmod(0o666)

    ran = conf("--format", "yml", "-o", file, "--force")

    assert ran.code == 0
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [one.name for one in tmp_path.iterdir()] == ["openlineage.yml"]


def test_what_belongs_to_a_file_is_written_beside_it(tmp_path):
    """Databricks' init script; neither is written where the other is there."""
    assert conf("--format", "databricks", "-o", tmp_path / "cluster.json").code == 0

    script = tmp_path / "cluster.openlineage.init.sh"
    assert script.read_text().startswith("#!/bin/bash\n")
    (tmp_path / "cluster.json").unlink()
    assert conf("--format", "databricks", "-o", tmp_path / "cluster.json").code == 2
    assert not (tmp_path / "cluster.json").exists()


USAGE = {
    "an unknown form": (("--format", "toml"), "'toml' is not one of"),
    "an unknown profile": (("--profile", "lite"), "'lite' is not one of"),
    "an unknown Spark": (("--spark", "1.6"), "not built for Spark 1.6"),
    "Scala that does not fit": (("--spark", "4.0", "--scala", "2.12"), "does not exist for Scala 2.12"),
    "force without a file": (("--force",), "--force goes with --output"),
    "a base that is not there": (("--base", "/does/not/exist"), "does not exist"),
    "a blank namespace": (("--namespace", " "), "which Spark takes away"),
    "a secret's name that a form has no place for": (("--secret", "x"), "takes the token from a variable"),
    "a secret's name that a shell would read": (("--format", "k8s", "--secret", "$(id)"), "letters, digits"),
    "an access mode that is not Databricks'": (("--access-mode", "standard"), "is for --format databricks"),
    "an option that is none": (("--token", "x"), "No such option"),
}


@pytest.mark.parametrize(("options", "message"), USAGE.values(), ids=USAGE)
def test_wrong_options_are_named(options, message):
    """With exit code 2 and nothing on stdout."""
    ran = conf(*options)

    assert (ran.code, ran.out) == (2, "")
    assert message in ran.err


def test_a_destination_is_needed():
    """As for every command."""
    assert conf(env={}).code == 2


def test_a_folder_that_is_not_there_is_named(tmp_path):
    """In one line."""
    ran = conf("-o", tmp_path / "no" / "out")

    assert ran.code == 1
    assert "No such file" in ran.err


def test_settings_come_from_options_as_everywhere():
    """Over variables."""
    ran = conf("--url", "https://b.example", env={"url": "https://a.example"})

    assert "spark.openlineage.transport.url=https://b.example\n" in ran.out


def test_only_a_timeout_that_is_set_is_written():
    """Ours would hold Spark's driver up for longer than the listener's own."""
    assert "timeoutInMillis=5000" in conf().out
    assert "timeoutInMillis=2500" in conf("--timeout", "2.5").out


def test_no_token_is_read(tmp_path):
    """It may be on another machine: a file that is not there is named all the same."""
    folder = tmp_path / "there"
    folder.mkdir()
    ran = conf(env={"url": "https://x.example", "token_file": folder / "token"})

    assert ran.code == 0
    assert f"$(cat '{folder}/token')" in ran.out


def test_a_base_that_spark_itself_can_not_read_is_refused(tmp_path):
    """With the line, and without its content."""
    file = tmp_path / "base"
    file.write_text("spark.a=b\nspark.hidden=\\u00zz\n")

    ran = conf("--base", file)

    assert ran.code == 2
    assert "line 2" in ran.err
    assert "hidden" not in ran.err


def test_a_base_that_is_no_text_is_refused(tmp_path):
    """Without a traceback."""
    file = tmp_path / "base"
    file.write_bytes(b"\xff\xfe")

    ran = conf("--base", file)

    assert ran.code == 2
    assert "no UTF-8 text" in ran.err
