"""Which jar fits which Spark."""

from __future__ import annotations

import pytest

from truewatch_lineage.errors import ConfigError
from truewatch_lineage_spark import versions
from truewatch_lineage_spark.versions import choose

FITTING = {
    ("3.5", None): "io.openlineage:openlineage-spark_2.12:1.53.0",
    ("3.5.9", "2.13"): "io.openlineage:openlineage-spark_2.13:1.53.0",
    ("3.2.4", "2.12"): "io.openlineage:openlineage-spark_2.12:1.53.0",
    ("4.0", None): "io.openlineage:openlineage-spark_2.13:1.53.0",
    ("4.0.1-amzn-0", "2.13"): "io.openlineage:openlineage-spark_2.13:1.53.0",
}


@pytest.mark.parametrize(("spark", "scala"), FITTING)
def test_a_spark_has_its_jar(spark, scala):
    """The usual Scala where none is named."""
    jar = choose(spark, scala)

    assert jar.coordinates == FITTING[spark, scala]
    assert jar.url.endswith(f"/io/openlineage/openlineage-spark_{jar.scala}/1.53.0/{jar.file_name}")


REFUSED = {
    "another Scala": (("4.0", "2.12"), "does not exist for Scala 2.12.*Use --scala 2.13"),
    "no such Scala": (("3.5", "2.11"), "does not exist for Scala 2.11"),
    "too old": (("2.4.8", None), "not built for Spark 2.4.8"),
    "too new": (("4.7", None), "not built for Spark 4.7"),
    "no version": (("latest", None), "not built for Spark latest"),
    "a jar for another Scala": (("3.5", "2.12", "s3://b/openlineage-spark_2.13-1.53.0.jar"), "NoSuchMethodError"),
}


@pytest.mark.parametrize(("arguments", "message"), REFUSED.values(), ids=REFUSED)
def test_what_would_kill_the_job_is_refused(arguments, message):
    """Before it is written anywhere."""
    with pytest.raises(ConfigError, match=message):
        choose(*arguments)


def test_a_damaged_jar_is_refused(tmp_path):
    """Its checksum is not that of Maven Central."""
    file = tmp_path / "openlineage-spark_2.12-1.53.0.jar"
    file.write_bytes(b"PK")

    with pytest.raises(ConfigError, match="damaged"):
        choose("3.5", None, str(file))


def test_a_whole_jar_is_taken(tmp_path, monkeypatch):
    """Whatever folder it is in."""
    file = tmp_path / "openlineage-spark_2.12-1.53.0.jar"
    file.write_bytes(b"")
    empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    monkeypatch.setitem(versions.SHA256, "2.12", empty)

    assert choose("3.5", None, str(file)).path == str(file)
