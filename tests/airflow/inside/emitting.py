"""Emit events as Airflow's tasks do, step by step: ``emit:JOB``, ``fork:JOB``, ``wait:FILE``, ``again``.

``emit`` does so in this process, ``fork`` in a child that then ends by ``os._exit(0)``. ``wait`` writes ``FILE.asked``
and waits for ``FILE``. From ``again`` on, settings are looked at anew at each emit. An event quotes what the file
``quote`` holds. After each step its seconds are printed.
"""

import contextlib
import logging
import os
import sys
import time
import uuid
from pathlib import Path

from openlineage.client.transport import get_default_factory

TRANSPORT = {"type": "truewatch_lineage_airflow.transport.AirflowTransport"}
WAIT_SECONDS = 60


def event(job):
    """Return an event as a mapping."""
    quote = Path("quote").read_text(encoding="utf-8") if Path("quote").exists() else "nothing"
    return {
        "eventType": "COMPLETE",
        "eventTime": "2026-10-21T08:00:00.000Z",
        "run": {"runId": str(uuid.uuid4()), "facets": {}},
        "job": {"namespace": "inside", "name": job, "facets": {"sql": {"query": f"select '{quote}'"}}},
        "inputs": [],
        "outputs": [],
        "producer": "https://example.com/producer",
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
    }


def fork(transport, job):
    """Emit in a child, as OpenLineage's listener does."""
    pid = os.fork()
    if pid:
        os.waitpid(pid, 0)
        return
    try:
        transport.emit(event(job))
    finally:
        logging.shutdown()
        os._exit(0)


def wait(name):
    """Say that this process has come here, and wait for leave to go on."""
    Path(f"{name}.asked").touch()
    end = time.monotonic() + WAIT_SECONDS
    while not Path(name).exists():
        assert time.monotonic() < end, f"no file {name}"
        time.sleep(0.02)


def main(steps):
    """Take the steps."""
    import airflow  # noqa: F401, PLC0415 - the surroundings in which settings of Airflow are looked for

    from truewatch_lineage_airflow import connection  # noqa: PLC0415 - after it

    transport = get_default_factory().create(TRANSPORT)
    for step in steps:
        verb, _, what = step.partition(":")
        start = time.monotonic()
        if verb == "emit":
            transport.emit(event(what))
        elif verb == "fork":
            fork(transport, what)
        elif verb == "again":
            sys.modules[type(transport).__module__].AGAIN_SECONDS = 0
            connection.FRESH_SECONDS = 0
        else:
            wait(what)
        sys.stdout.write(f"{step} {time.monotonic() - start:.2f}\n")
    secrets = [name for name, text in os.environ.items() if "tkn_" in text]
    sys.stdout.write(f"secret variables: {secrets}\n")


with contextlib.suppress(BrokenPipeError):
    main(sys.argv[1:])
