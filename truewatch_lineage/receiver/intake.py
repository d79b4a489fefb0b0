"""One event on its way in: rules, token, body, checks, commit, answer."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import time
from collections.abc import Callable
from typing import Any

import orjson
from starlette.types import Receive, Scope, Send

from truewatch_lineage.receiver.arrival import Arrival, Refused
from truewatch_lineage.receiver.checks import Finding, check
from truewatch_lineage.receiver.faults import Fault, FaultScript
from truewatch_lineage.receiver.ids import event_id
from truewatch_lineage.receiver.parsing import parse
from truewatch_lineage.receiver.rules import PORTAL, Rules
from truewatch_lineage.receiver.store import Store
from truewatch_lineage.receiver.verdict import upserted
from truewatch_lineage.serving.answers import Answer, ClientGoneError, Refusal
from truewatch_lineage.serving.bodies import read_body
from truewatch_lineage.serving.connection import connection_of
from truewatch_lineage.serving.credentials import Gate, header

BAD_REQUEST, UNAUTHORIZED = 400, 401
_SHOWN_FINDINGS = 5


class Intake:
    """The ASGI endpoint of one destination.

    Args:
        rules: The destination's.
        gate: The receiver's tokens.
        store: Where accepted events go.
        faults: The script of misbehaviour, shared by all destinations.
        strict: Whether advice counts as a condition.
        tee: Is given the bytes of each accepted event, in a thread.
    """

    def __init__(
        self,
        rules: Rules,
        gate: Gate,
        store: Store,
        faults: FaultScript,
        *,
        strict: bool,
        tee: Callable[[bytes], None] | None,
    ) -> None:
        self._rules = rules
        self._gate = gate
        self._store = store
        self._faults = faults
        self._strict = strict
        self._tee = tee

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one POST."""
        fault = self._faults.take()
        try:
            if fault is not None:
                await self._misbehave(fault, scope, receive, send)
            else:
                answer = await self._settle(scope, await self._read(scope, receive))
                await answer.send(send)
        except ClientGoneError:
            return

    async def _read(self, scope: Scope, receive: Receive) -> bytes | Answer:
        try:
            self._gate.check(scope, self._rules.credentials)
            return await read_body(scope, receive, self._rules)
        except Refusal as refusal:
            if refusal.status != UNAUTHORIZED:
                await self._note(refusal, None, _declared(scope))
            return refusal.answer(self._rules.name)

    async def _settle(self, scope: Scope, body: bytes | Answer) -> Answer:
        if isinstance(body, Answer):
            return body
        try:
            return await self._accept(scope, body)
        except Refusal as refusal:
            if refusal.status == BAD_REQUEST:
                await self._note(refusal, event_id(body), len(body))
            return refusal.answer(self._rules.name)

    async def _accept(self, scope: Scope, body: bytes) -> Answer:
        tree = parse(body)
        findings = check(tree, self._rules, strict=self._strict)
        _refuse_errors(findings)
        arrival = Arrival.of(self._rules.name, body, tree, findings, self._gate.secrets(scope))
        try:
            await self._store.add(arrival)
        except sqlite3.Error as error:
            message = f"The receiver could not store the event: {error}."
            raise Refusal(503, "storeFailed", message, {"Retry-After": "1"}) from error
        if self._tee is not None:
            await asyncio.get_running_loop().run_in_executor(None, self._tee, body)
        return self._success(arrival, tree)

    async def _note(self, refusal: Refusal, payload_hash: str | None, size: int | None) -> None:
        reason = f"{self._rules.name}.{refusal.code}"
        # The sender gets its refusal in any case; the audit record is for whoever looks.
        with contextlib.suppress(sqlite3.Error):
            await self._store.add(Refused(self._rules.name, reason, time.time(), payload_hash, size))

    def _success(self, arrival: Arrival, tree: dict[str, Any]) -> Answer:
        if self._rules is PORTAL:
            nodes, edges = upserted(tree)
            return Answer.json(201, {"status": "ok", "data": {"nodesUpserted": nodes, "edgesUpserted": edges}})
        body = {"event_id": arrival.event_id, "warnings": orjson.Fragment(arrival.warnings)}
        return Answer.json(self._rules.success, body)

    async def _misbehave(self, fault: Fault, scope: Scope, receive: Receive, send: Send) -> None:
        connection = connection_of(scope)
        if fault.drop == "before":
            await connection.closes_within(fault.delay)
            await connection.abort()
            return
        body = await self._read(scope, receive)
        if fault.delay and await connection.closes_within(fault.delay):
            return
        answer = fault.answer(await self._settle(scope, body) if fault.handles else None)
        if fault.drop == "mid":
            await send(answer.start())
            half = answer.body[: len(answer.body) // 2]
            await send({"type": "http.response.body", "body": half, "more_body": True})
            await connection.finish()
        elif fault.drop is not None:
            await connection.abort()
        else:
            await answer.send(send)


def _declared(scope: Scope) -> int | None:
    return int(header(scope, b"content-length") or 0) or None


def _refuse_errors(findings: list[Finding]) -> None:
    errors = [finding for finding in findings if finding.error]
    if errors:
        shown = "; ".join(f"{error.path}: {error.message}" for error in errors[:_SHOWN_FINDINGS])
        more = f"; and {len(errors) - _SHOWN_FINDINGS} more" if len(errors) > _SHOWN_FINDINGS else ""
        raise Refusal(400, errors[0].code, f"{shown}{more}.")
