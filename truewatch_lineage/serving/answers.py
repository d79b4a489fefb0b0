"""What a server says: an answer's bytes, a refusal, and a client that left."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson
from starlette.types import Send

JSON_TYPE = {"Content-Type": "application/json"}
SUCCESS = range(200, 300)


@dataclass(frozen=True, slots=True)
class Answer:
    """One HTTP answer.

    Attributes:
        status: Its code.
        body: Its bytes.
        headers: Its fields; Content-Length is added.
    """

    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=lambda: JSON_TYPE)

    @classmethod
    def json(cls, status: int, body: object) -> Answer:
        """Make an answer of anything that is JSON."""
        return cls(status, orjson.dumps(body))

    @property
    def accepted(self) -> bool:
        """Whether it says that the event was taken."""
        return self.status in SUCCESS

    def start(self) -> dict[str, Any]:
        """Return the ASGI message that opens it."""
        fields = {**self.headers, "Content-Length": str(len(self.body))}
        headers = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in fields.items()]
        return {"type": "http.response.start", "status": self.status, "headers": headers}

    async def send(self, send: Send) -> None:
        """Send it whole."""
        await send(self.start())
        await send({"type": "http.response.body", "body": self.body})


class Refusal(Exception):  # noqa: N818 - an answer on its way out, not a failure of the server
    """A request is not taken.

    Args:
        status: The HTTP status.
        code: The part of ``error_code`` after the namespace, in camelCase.
        message: What is wrong and how to mend it; never a token.
        headers: More fields of the answer.
    """

    def __init__(self, status: int, code: str, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.headers = {**JSON_TYPE, **(headers or {})}

    def answer(self, namespace: str) -> Answer:
        """Make the error body that DataWay's and DataKit's sources use: ``{"error_code":"ns.camelCase","message"}``."""
        body = {"error_code": f"{namespace}.{self.code}", "message": self.message}
        return Answer(self.status, orjson.dumps(body), self.headers)


class ClientGoneError(Exception):
    """The client closed the connection before its request was whole; there is nobody to answer."""
