"""Misbehaviour on command: a script of answers for the intake's next requests.

A step: ``{"status":503,"headers":{"Retry-After":"2"},"body":{},"delay":0,"times":3,"drop":"before|after|mid"}``, all
optional. Without ``status`` the request is handled as usual. With a 2xx status it is handled, and if it would be
accepted the event is stored and the step's answer is given; with any other status nothing is checked or stored.
``times`` is how many requests it serves (1; null: all that follow). ``delay`` seconds pass after the body was read and
before anything is stored; if the client leaves meanwhile, nothing is. ``drop``: ``before`` closes the connection
without storing or answering; ``after`` handles the request and closes without an answer; ``mid`` handles it and closes
in the middle of the answer's body (an empty body can't be cut).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import orjson

from truewatch_lineage.serving.answers import JSON_TYPE, SUCCESS, Answer, Refusal

Drop = Literal["before", "after", "mid"]

_DROPS = ("before", "after", "mid")
_KEYS = {"status", "headers", "body", "delay", "times", "drop"}
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_HEADER_VALUE = re.compile(r"[\x20-\x7e]*")
_STATUSES = range(200, 600)
_WITHOUT_BODY = {204, 304}
_MAX_DELAY = 3600
_FOREVER = float("inf")


@dataclass(frozen=True, slots=True)
class Fault:
    """One step of a script.

    Attributes:
        status: The answer's status, or None for the usual answer.
        headers: The answer's fields.
        body: The answer's bytes.
        delay: Seconds to wait before anything is stored.
        times: How many requests it serves; infinite for all.
        drop: When to close the connection, or None.
    """

    status: int | None
    headers: Mapping[str, str]
    body: bytes
    delay: float
    times: float
    drop: Drop | None

    @property
    def handles(self) -> bool:
        """Whether the event is checked and stored."""
        return self.drop != "before" and (self.status is None or self.status in SUCCESS)

    def answer(self, usual: Answer | None) -> Answer:
        """Return what to say; ``usual`` is what the checks and the store made of the request, None if not asked."""
        if self.status is None or (usual is not None and not usual.accepted):
            assert usual is not None  # noqa: S101 - a step without a status always handles its request
            return usual
        return Answer(self.status, self.body, self.headers)


class FaultScript:
    """The steps that are left; empty at the start."""

    def __init__(self) -> None:
        self._steps: list[Fault] = []
        self._served = 0

    @property
    def left(self) -> int:
        """How many steps are left."""
        return len(self._steps)

    def replace(self, steps: list[Fault]) -> None:
        """Put a new script in place of what is left of the old one."""
        self._steps = steps
        self._served = 0

    def take(self) -> Fault | None:
        """Return the step for the next request, or None if it is to be handled as usual."""
        if not self._steps:
            return None
        step = self._steps[0]
        self._served += 1
        if self._served >= step.times:
            self._steps = self._steps[1:]
            self._served = 0
        return step


def parse_script(body: bytes) -> list[Fault]:
    """Read a script from JSON; raises ``Refusal`` 400 that names the step and key."""
    try:
        steps = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise Refusal(400, "invalidScript", f"$: not valid JSON: {error.msg}.") from None
    _need(isinstance(steps, list), "$", "a script is an array of steps")
    return [_step(step, f"$[{index}]") for index, step in enumerate(steps)]


def _step(step: Any, path: str) -> Fault:
    _need(isinstance(step, dict), path, "a step is an object")
    unknown = sorted(set(step) - _KEYS)
    _need(not unknown, path, f"unknown key {', '.join(unknown)}; known are {', '.join(sorted(_KEYS))}")
    status, drop, times, delay = step.get("status"), step.get("drop"), step.get("times", 1), step.get("delay", 0)
    _need(status is None or (_whole(status) and status in _STATUSES), f"{path}.status", "200 to 599")
    _need(drop is None or drop in _DROPS, f"{path}.drop", f"one of {', '.join(_DROPS)}")
    _need(times is None or (_whole(times) and times > 0), f"{path}.times", "a whole number above 0, or null")
    _need(isinstance(delay, (int, float)) and 0 <= delay <= _MAX_DELAY, f"{path}.delay", f"0 to {_MAX_DELAY} seconds")
    body = step.get("body", {})
    return Fault(
        status=status,
        headers=_headers(step.get("headers", {}), body, f"{path}.headers"),
        body=b"" if status in _WITHOUT_BODY else _encoded(body),
        delay=float(delay),
        times=_FOREVER if times is None else times,
        drop=drop,
    )


def _encoded(body: object) -> bytes:
    return body.encode() if isinstance(body, str) else orjson.dumps(body)


def _headers(headers: Any, body: object, path: str) -> dict[str, str]:
    _need(isinstance(headers, dict), path, "an object of texts")
    for name, value in headers.items():
        legal = isinstance(value, str) and _HEADER_NAME.fullmatch(name) and _HEADER_VALUE.fullmatch(value)
        _need(bool(legal), f"{path}.{name}", "a header's name and value, both text")
    usual = {"Content-Type": "text/plain; charset=utf-8"} if isinstance(body, str) else JSON_TYPE
    named = {name.lower() for name in headers}
    return {**{name: value for name, value in usual.items() if name.lower() not in named}, **headers}


def _whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _need(condition: bool, path: str, what: str) -> None:
    if not condition:
        raise Refusal(400, "invalidScript", f"{path}: {what}.")
