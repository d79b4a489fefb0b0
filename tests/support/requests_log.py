"""The local receiver, with a note of how each request came: its path, its header lines in order, its body.

with RecordingReceiver(tokens=["a-test-token"]) as receiver:
    ...
    receiver.seen()[0].all("authorization")      # two where two came
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from support.receiver import Receiver

_PROGRAM = """
import gzip, json, sys
from truewatch_lineage.receiver import server
from truewatch_lineage.cli.receive import command

file = open(sys.argv.pop(1), "a", buffering=1)
build = server.build_app

def noting(*args, **options):
    app = build(*args, **options)
    async def noted(scope, receive, send):
        if scope["type"] != "http" or scope["method"] != "POST" or scope["path"].startswith("/api/faults"):
            return await app(scope, receive, send)
        parts = []
        async def keep():
            message = await receive()
            parts.append(message.get("body", b""))
            return message
        async def answer(message):
            if message["type"] == "http.response.start":
                note(scope, b"".join(parts))
            await send(message)
        await app(scope, keep, answer)
    return noted

def note(scope, body):
    headers = [[part.decode("latin-1") for part in header] for header in scope["headers"]]
    text = gzip.decompress(body) if ["content-encoding", "gzip"] in headers and body else body
    print(json.dumps([scope["path"], scope["query_string"].decode(), headers, text.decode()]), file=file)

server.build_app = noting
command()
"""


@dataclass(frozen=True)
class Seen:
    """How one request came.

    Attributes:
        path: Its path, decoded.
        query: Its query, as it came.
        headers: Its header lines, names in lower case, in order.
        text: Its body, decompressed; empty where the receiver did not read it.
    """

    path: str
    query: str
    headers: tuple[tuple[str, str], ...]
    text: str

    @property
    def event(self) -> Any:
        """The event that it holds, as it came: the receiver's own answers mask tokens that it knows."""
        return json.loads(self.text)

    def all(self, name: str) -> list[str]:
        """Return the values of each header line of a name."""
        return [value for key, value in self.headers if key == name]


class RecordingReceiver(Receiver):
    """A receiver that notes each request; arguments as of ``Receiver``."""

    def __init__(self, *, tokens: Sequence[str] = (), args: Sequence[str] = ()) -> None:
        super().__init__(tokens=tokens, args=args)
        self._notes = Path(self._folder.name, "requests.ndjson")
        self._program = ("-c", _PROGRAM, str(self._notes))

    def seen(self) -> list[Seen]:
        """Return how each request to a destination's path came, refused ones too, in order of arrival."""
        lines = self._notes.read_text("utf-8").splitlines()
        return [
            Seen(path, query, tuple(map(tuple, headers)), text) for path, query, headers, text in map(json.loads, lines)
        ]
