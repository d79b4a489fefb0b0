"""The token leaves a process in one place only, the request, whichever way it was configured."""

from __future__ import annotations

import base64
import contextlib
import gzip
import json
import sqlite3
import uuid
from urllib.parse import quote

import pytest
from support.destinations import TOKEN
from support.private import write_private
from support.raw_server import Behaviour, RawServer, answer
from support.scripts import run_script

LEAKS = (TOKEN, quote(TOKEN, safe=""), base64.b64encode(TOKEN.encode()).decode(), json.dumps(TOKEN)[1:-1])

ANSWERS = {
    "taken": answer(200),
    "refused": answer(401, body={"error_code": TOKEN, "message": TOKEN}),
    "echoed": answer(400, body={"error_code": quote(TOKEN, safe=""), "message": TOKEN}),
    "moved": answer(302, {"Location": f"http://127.0.0.1:9/{quote(TOKEN, safe='')}?token={quote(TOKEN, safe='')}"}),
    "no page": answer(404, {"Content-Type": "text/html"}, body=TOKEN),
    "broken": answer(503, {"X-Echo": quote(TOKEN, safe="")}),
}

SCRIPT = """
    import faulthandler, gc, logging, traceback, uuid
    from pathlib import Path

    logging.basicConfig(level=logging.DEBUG, stream=sys.stdout)
    from openlineage.client import OpenLineageClient
    from openlineage.client.event_v2 import Job, Run, RunEvent
    from openlineage.client.run import RunState
    from support.events import custom_facet, run_event
    from truewatch_lineage.config import load

    settings, folder, names = json.loads(sys.argv[1]), sys.argv[2], json.loads(sys.argv[3])
    canary = Path(sys.argv[4]).read_text()
    environment = dict(os.environ)

    for number, name in enumerate(names):
        run_id = str(uuid.UUID(int=number))
        config = {"type": "truewatch_lineage.TrueWatchTransport", "spool_dir": f"{folder}/{name}", **settings}
        client = OpenLineageClient(config={"transport": config})
        facets = {"leak": custom_facet(text=f"a token such as {canary} in a log line")}
        client.emit(run_event(run_id=run_id, run_facets=facets, job=f"job of {canary}"))
        client.transport.close(1)
        client.emit(run_event(run_id=run_id, run_facets=facets))
        print(client.transport, repr(client.transport), vars(client.transport), client.transport.config.settings)

    for thing in gc.get_objects():
        if str(type(thing).__module__).startswith("truewatch_lineage"):
            print(repr(thing), str(thing))
    for wrong in (canary + "\\n x", canary + "\\0", f"Bearer Bearer {canary}", canary + "ü", [canary], {"a": canary}):
        for key in ("token", "token_env", "token_file", "token_command", "headers", "url", "tokn", "auth", "match"):
            try:
                load({"url": "http://127.0.0.1:9", key: wrong})
            except Exception as error:
                traceback.print_exc(file=sys.stdout)
                print(repr(error), vars(error))
    faulthandler.dump_traceback(sys.stdout)
    assert dict(os.environ) == environment
"""


def behave(exchange):
    """Answer each run in its own way."""
    number = uuid.UUID(exchange.request.json["run"]["runId"]).int
    return [*ANSWERS.values()][number].run(exchange)


@pytest.fixture
def server():
    """Give a server that answers each run in its own way."""
    with RawServer(default=Behaviour(behave)) as server:
        yield server


@pytest.fixture
def canary_file(tmp_path):
    """Give a file that holds the token and nothing else."""
    return write_private(tmp_path / "canary", TOKEN)


SOURCES = {
    "token": lambda _: ({"token": TOKEN}, {}),
    "token with x_token": lambda _: ({"token": TOKEN, "auth_method": "x_token"}, {}),
    "token in the query": lambda _: ({"token": TOKEN, "auth_method": "query", "allow_query_token": True}, {}),
    "token_file": lambda file: ({"token_file": str(file)}, {}),
    "token_env": lambda _: ({"token_env": "SOME_VARIABLE"}, {"SOME_VARIABLE": TOKEN}),
    "token_command": lambda file: ({"token_command": ["cat", str(file)]}, {}),
    "auth": lambda _: ({"auth": {"type": "api_key", "apiKey": TOKEN}}, {}),
    "our variable": lambda _: ({}, {"TRUEWATCH_LINEAGE_TOKEN": TOKEN}),
}


@pytest.mark.parametrize(("source", "delivery"), [*((source, "inline") for source in SOURCES), ("token", "background")])
def test_the_token_is_in_the_requests_and_nowhere_else(server, tmp_path, canary_file, source, delivery):
    """No log at DEBUG, repr, exception, traceback, spool file or changed environment holds it in any coding."""
    settings, environ = SOURCES[source](canary_file)
    settings |= {"url": server.url, "delivery": delivery}
    spools = tmp_path / "spools"
    given = [json.dumps(settings), str(spools), json.dumps([*ANSWERS]), str(canary_file)]
    out = run_script(tmp_path, SCRIPT, *given, environ=environ)

    assert len(server.requests) >= len(ANSWERS)
    assert all(quote(TOKEN, safe="") in one.path or TOKEN in str(one.headers) for one in server.requests)
    assert "stopped until you fix this" in out
    assert "StaticToken(" in out or "FileToken(" in out or "EnvToken(" in out or "CommandToken(" in out
    for leak in LEAKS:
        assert leak not in out
        for file in spools.rglob("*"):
            assert file.is_dir() or leak.encode() not in file.read_bytes()
    bodies = [body for name in ANSWERS for body in _bodies(spools / name)]
    assert bodies
    assert not [leak for leak in LEAKS for body in bodies if leak.encode() in body]


def _bodies(spool):
    with contextlib.closing(sqlite3.connect(spool / "spool.db")) as database:
        return [gzip.decompress(data) for (data,) in database.execute("SELECT data FROM body")]
