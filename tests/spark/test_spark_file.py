"""The way by a file, as docs/spark.md has it: an outage while the job runs costs no event, and Spark knows no token."""

from __future__ import annotations

import re

import pytest
from support import cli
from support.receiver import Receiver
from support.repository import ROOT, code_blocks
from support.spark import AS_LOCAL, HARBOUR, environment
from support.spark_lineage import assert_whole

TOKEN = "tkn_0123456789"
PAGE = (ROOT / "docs" / "spark.md").read_text(encoding="utf-8")

pytestmark = pytest.mark.timeout(300)


@pytest.mark.parametrize("version", ["3.5", pytest.param("4.0", marks=pytest.mark.slow)])
def test_events_wait_in_the_file_until_they_are_sent(version, tmp_path):
    """No destination is there while Spark runs; afterwards every line of the file arrives, in order."""
    spark = environment(version)
    (lines,) = code_blocks(PAGE, "properties")
    lines = re.sub(r"(?m)^spark\.jars\.packages=.*$", f"spark.jars={spark.jar}", lines)
    file = tmp_path / "orders.ndjson"
    lines = re.sub(r"(?m)(?<=location=).*$", str(file), lines)

    ran = spark.submit(HARBOUR, home=tmp_path, properties=AS_LOCAL + lines)
    assert ran.ready, ran.log
    with Receiver(tokens=[TOKEN]) as receiver:
        settings = {"url": receiver.url, "token": TOKEN, "spool_dir": tmp_path / "spool"}
        sent = cli.run("send", file, env=settings)
        events = [one["event"] for one in receiver.events()]

    assert sent.code == 0, sent.err
    assert len(events) == len(file.read_text("utf-8").splitlines())
    assert_whole(events, "production-spark")
