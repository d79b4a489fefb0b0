"""Where the token shows: in all places by the usual way, in none by the settings of this package."""

from __future__ import annotations

import pytest
from support.private import write_private
from support.requests_log import RecordingReceiver
from support.spark import HARBOUR, environment
from support.spark_flavours import FLAVOURS, Scene, written
from support.spark_leaks import found, slow, watched

from truewatch_lineage_spark import redaction
from truewatch_lineage_spark.versions import LISTENER

TOKEN = "tkn_0123456789abcdef"
EVERYWHERE = {"ui", "rest", "event log", "driver log", "slow event", "conf"}
WIDENED = {redaction.KEY: redaction.widened(None)}
QUIET = {redaction.SLOW_EVENTS: "false"}
CAPTURED = {"spark.openlineage.capturedProperties": "spark.master,spark.openlineage.transport.auth.apiKey"}
ARRIVES = "/v1/write/openlineage"

USUAL = [
    ("on the command line", True, {}, {*EVERYWHERE, "process list"}),
    ("in spark-defaults, captured", False, CAPTURED, {*EVERYWHERE, "events"}),
    ("masked", False, WIDENED, {"slow event", "conf"}),
    ("masked, no slow events", False, {**WIDENED, **QUIET}, {"conf"}),
]
"""The way of the token's property, more properties, and where it shows."""

OURS = [("3.5", "properties"), ("4.0", "submit")]
"""What each run of the tests looks into; the rest is slow."""
REST = [(version, form) for version in ("3.5", "4.0") for form in FLAVOURS if (version, form) not in OURS]

pytestmark = pytest.mark.timeout(900)  # a first run downloads and makes the environment


@pytest.fixture
def token_file(tmp_path):
    """The file that holds the token; the only one."""
    return write_private(tmp_path / "token", TOKEN)


@pytest.fixture
def receiver():
    """A receiver that takes its time for the first events; it does not know the token, so it can't mask it either."""
    with RecordingReceiver() as running:
        slow(running)
        yield running


@pytest.mark.parametrize(("version", "form"), [*OURS, *(pytest.param(*one, marks=pytest.mark.slow) for one in REST)])
def test_the_token_shows_nowhere(version, form, receiver, token_file, tmp_path):
    """Only the environment of the driver holds it."""
    spark = environment(version)
    scene = Scene(spark, tmp_path, watched(tmp_path), verbose=True)
    (tmp_path / "base.conf").write_text(scene.base, encoding="utf-8")
    base = ["--base", tmp_path / "base.conf"] if form == "properties" else []
    settings = {"url": receiver.url, "token_file": token_file}

    ran = FLAVOURS[form](scene, written(form, spark, settings, *base))

    assert ran.ready, ran.log
    assert {tuple(one.all("authorization")) for one in receiver.seen()} == {(f"Bearer {TOKEN}",)}
    assert found(ran, receiver, TOKEN) == set()


@pytest.mark.slow
@pytest.mark.parametrize("version", ["3.5", "4.0"])
@pytest.mark.parametrize(("command_line", "more", "shows"), [row[1:] for row in USUAL], ids=[row[0] for row in USUAL])
def test_the_usual_way_shows_the_token(version, command_line, more, shows, receiver, tmp_path):
    """So the places are looked into rightly, and each measure against a leak does something."""
    spark = environment(version)
    properties = {
        "spark.jars": str(spark.jar),
        "spark.extraListeners": LISTENER,
        "spark.openlineage.transport.type": "http",
        "spark.openlineage.transport.url": receiver.url,
        "spark.openlineage.transport.endpoint": ARRIVES,
        "spark.openlineage.transport.auth.type": "api_key",
        "spark.openlineage.transport.auth.apiKey": TOKEN,
        **more,
    }
    words = [part for key, value in properties.items() for part in ("--conf", f"{key}={value}")]
    lines = "".join(f"{key}={value}\n" for key, value in properties.items())

    ran = spark.submit(
        HARBOUR,
        home=tmp_path,
        properties=watched(tmp_path) + ("" if command_line else lines),
        arguments=["--verbose", *(words if command_line else [])],
    )

    assert ran.ready, ran.log
    assert found(ran, receiver, TOKEN) == shows
