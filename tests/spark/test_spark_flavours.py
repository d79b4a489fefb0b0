"""Each form that Spark reads runs a real job, whose events arrive: right path, one Authorization, gzip."""

from __future__ import annotations

import json

import pytest
from support.private import write_private
from support.requests_log import RecordingReceiver
from support.spark import AS_LOCAL, environment
from support.spark_flavours import FLAVOURS, Scene, exported, program, written
from support.spark_lineage import assert_whole

TOKEN = "tkn_0123456789-$HOME"
OTHER = "tkn_of_another_place"
NAMESPACE = "H\u00e4fen \\ 'a' \"b\" $HOME #1 {c} \U0001f6a2"
BESIDE = "org.apache.spark.scheduler.StatsReportListener"
"""A listener of Spark's own that is set already; it writes to the log."""

PATHS = {
    "dataway": "/v1/write/openlineage",
    "datakit": "/openlineage/api/v1/lineage",
    "openlineage": "/api/v1/lineage",
}
PORTAL = "/api/data-registry/lineage"
MADE_FOR = [
    ("3.5", "properties", "dataway"),
    ("3.5", "submit", "openlineage"),
    ("3.5", "pyspark", "datakit"),
    ("3.5", "yml", "dataway"),
    ("3.5", "k8s-conf", "dataway"),
    ("3.5", "airflow", "dataway"),
    ("4.0", "properties", "openlineage"),
    ("4.0", "pyspark", "dataway"),
]
"""What each run of the tests goes through; the rest is slow."""

ALL = [(version, form, kind) for version in ("3.5", "4.0") for form in FLAVOURS for kind in PATHS]
CASES = [*MADE_FOR, *(pytest.param(*case, marks=pytest.mark.slow) for case in ALL if case not in MADE_FOR)]

CONFIGURED = """
from pyspark.sql import SparkSession
from truewatch_lineage_spark import configure
builder = configure(
    SparkSession.builder, url="{url}", token_file="{token_file}", namespace="in-code", jars="{jar}"
)
spark = builder.getOrCreate()
"""

pytestmark = pytest.mark.timeout(900)  # a first run downloads and makes the environment


@pytest.fixture
def receiver():
    """A receiver that asks for the token, and notes how requests come."""
    with RecordingReceiver(tokens=[TOKEN]) as running:
        yield running


@pytest.fixture
def token_file(tmp_path):
    """The file that holds the token; the only one."""
    return write_private(tmp_path / "token", TOKEN)


@pytest.mark.parametrize(("version", "form", "kind"), CASES)
def test_a_job_sends_its_lineage(version, form, kind, receiver, token_file, tmp_path):
    """Spark's properties of the printed form, its variables, and nothing else."""
    spark = environment(version)
    (tmp_path / "base.conf").write_text(f"{AS_LOCAL}spark.extraListeners={BESIDE}\n", encoding="utf-8")
    base = ["--base", tmp_path / "base.conf"] if form == "properties" else []
    settings = {"url": receiver.url, "destination": kind, "token_file": token_file}

    ran = FLAVOURS[form](Scene(spark, tmp_path), written(form, spark, settings, "--namespace", NAMESPACE, *base))

    assert ran.ready, ran.log
    assert_whole([one["event"] for one in receiver.events()], NAMESPACE)
    assert_requests(receiver.seen(), PATHS[kind], None if kind == "datakit" else TOKEN)
    assert sum(receiver.statuses(PATHS[kind]).values()) == len(receiver.events())
    assert (BESIDE.rpartition(".")[2] in ran.log) is bool(base)


@pytest.mark.parametrize("version", ["3.5", pytest.param("4.0", marks=pytest.mark.slow)])
def test_portal_is_asked_rightly_but_wants_another_schema_url(version, receiver, token_file, tmp_path):
    """As the form's comment says: only something in between can change the ``schemaURL`` that Spark writes."""
    spark = environment(version)
    settings = {"url": receiver.url, "destination": "portal", "token_file": token_file}
    text = written("submit", spark, settings)

    ran = FLAVOURS["submit"](Scene(spark, tmp_path), text)

    assert ran.ready, ran.log
    assert_requests(receiver.seen(), PORTAL, TOKEN, compressed=False)
    assert receiver.statuses(PORTAL) == {"400": len(receiver.seen())}
    assert "$.schemaURL: must be" in ran.log
    assert "writes its own schemaURL" in " ".join(text.split())


@pytest.mark.parametrize(
    ("version", "form"), [("3.5", "properties"), pytest.param("4.0", "yml", marks=pytest.mark.slow)]
)
def test_two_destinations_get_all_events_each_with_its_own_token(version, form, receiver, token_file, tmp_path):
    """One composite transport, whose parts don't share anything."""
    spark = environment(version)
    (tmp_path / "base.conf").write_text(AS_LOCAL, encoding="utf-8")
    base = ["--base", tmp_path / "base.conf"] if form == "properties" else []
    write_private(tmp_path / "other", OTHER)
    with RecordingReceiver(tokens=[OTHER]) as second:
        places = {
            "one": {"destination": "dataway", "url": receiver.url, "token_file": str(token_file)},
            "two": {"destination": "openlineage", "url": second.url, "token_file": str(tmp_path / "other")},
        }
        settings = {"destinations": json.dumps(places)}
        ran = FLAVOURS[form](Scene(spark, tmp_path), written(form, spark, settings, "--namespace", "both", *base))

        assert ran.ready, ran.log
        for running, path, token in ((receiver, PATHS["dataway"], TOKEN), (second, PATHS["openlineage"], OTHER)):
            assert_whole([one["event"] for one in running.events()], "both")
            assert_requests(running.seen(), path, token)


@pytest.mark.parametrize("version", ["3.5", "4.0"])
def test_configure_does_the_same_in_code(version, receiver, token_file, tmp_path):
    """It says which variables are missing, and with those that it names the events arrive."""
    spark = environment(version)
    made = program(CONFIGURED.format(url=receiver.url, token_file=token_file, jar=spark.jar), tmp_path)
    refused = spark.python(made, home=tmp_path)
    assert refused.code == 1
    assert "The environment of Spark's driver lacks OPENLINEAGE__TRANSPORT__TYPE" in refused.log

    ran = spark.python(made, home=tmp_path, env=exported(refused.log))

    assert ran.ready, ran.log
    assert_whole([one["event"] for one in receiver.events()], "in-code")
    assert_requests(receiver.seen(), PATHS["dataway"], TOKEN)


def assert_requests(seen, path, token, *, compressed=True):
    """Each request went to one path, with one credential at most."""
    assert {(one.path, one.query) for one in seen} == {(path, "")}
    assert {tuple(one.all("authorization")) for one in seen} == {(f"Bearer {token}",) if token else ()}
    assert {tuple(one.all("content-encoding")) for one in seen} == {("gzip",) if compressed else ()}
    assert not any(one.all("x-token") for one in seen)
