"""Where Java or the network is missing the tests are skipped with the reason, and a wrong jar is never used."""

from __future__ import annotations

import gzip
import hashlib
from dataclasses import dataclass

import pytest
from support import maven, spark
from support.raw_server import RawServer, answer


@dataclass(frozen=True)
class Wanted:
    """A jar of a place that is not Maven Central."""

    url: str
    sha256: str
    file_name: str = "listener.jar"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """An empty folder for jars."""
    monkeypatch.setitem(maven.OUTSIDE, maven.FOLDER_VARIABLE, str(tmp_path / "jars"))
    return tmp_path / "jars"


def test_a_jar_is_downloaded_once(folder):
    """And kept by its name."""
    with RawServer([], default=answer(200, body=b"a jar")) as server:
        wanted = Wanted(f"{server.url}/listener.jar", hashlib.sha256(b"a jar").hexdigest())
        paths = {maven.jar(wanted), maven.jar(wanted)}

        assert paths == {folder / "listener.jar"}
        assert len(server.requests) == 1


def test_a_jar_that_is_another_is_refused(folder):
    """What is there is not what its checksum says."""
    folder.mkdir()
    (folder / "listener.jar").write_bytes(gzip.compress(b"something else"))

    with pytest.raises(AssertionError, match="is not what Maven Central has"):
        maven.jar(Wanted("http://127.0.0.1:9/listener.jar", "0" * 64))


def test_without_the_network_the_reason_names_the_jar_and_the_folder(folder):
    """Half a jar is never there."""
    with pytest.raises(pytest.skip.Exception, match=r"listener.jar is not in .*jars and does not come from"):
        maven.jar(Wanted("http://127.0.0.1:9/listener.jar", "0" * 64))

    assert not (folder / "listener.jar").exists()


@pytest.mark.parametrize(("java", "here"), [(None, "there is none"), (21, "this is 21")])
def test_without_its_java_spark_is_skipped_with_the_package_to_install(java, here, monkeypatch):
    """Spark 3.5 does not say that it runs on 21."""
    monkeypatch.setattr(spark, "java_version", lambda: java)

    with pytest.raises(pytest.skip.Exception, match=f"Java 8 or 11 or 17, and {here}; on Debian: apt-get"):
        spark._skip_without_java("3.5")
