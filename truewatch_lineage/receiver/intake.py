"""One event on its way in: rules, token, body, checks, commit, answer."""

from __future__ import annotations

import hashlib
import sqlite3
import time
from typing import Any

import orjson
from starlette.types import Receive, Scope, Send

from truewatch_lineage.receiver.answers import Answer, ClientGoneError, Refusal
from truewatch_lineage.receiver.auth import Gate
from truewatch_lineage.receiver.checks import Finding, check, kind_of, parse
from truewatch_lineage.receiver.connection import connection_of
from truewatch_lineage.receiver.faults import Fault, FaultScript
from truewatch_lineage.receiver.limits import read_body
from truewatch_lineage.receiver.redact import redact
from truewatch_lineage.receiver.rules import PORTAL, Rules
from truewatch_lineage.receiver.store import Arrival, Store

_SHOWN_FINDINGS = 5


class Intake:
    """The ASGI endpoint of one destination.

    Args:
        rules: The destination's.
        gate: The receiver's tokens.
        store: Where accepted events go.
        faults: The script of misbehaviour, shared by all destinations.
        strict: Whether advice counts as a condition.
    """

    def __init__(self, rules: Rules, gate: Gate, store: Store, faults: FaultScript, *, strict: bool) -> None:
        self._rules = rules
        self._gate = gate
        self._store = store
        self._faults = faults
        self._strict = strict

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
            return refusal.answer(self._rules.name)

    async def _settle(self, scope: Scope, body: bytes | Answer) -> Answer:
        if isinstance(body, Answer):
            return body
        try:
            return await self._accept(scope, body)
        except Refusal as refusal:
            return refusal.answer(self._rules.name)

    async def _accept(self, scope: Scope, body: bytes) -> Answer:
        tree = parse(body)
        findings = check(tree, self._rules, strict=self._strict)
        _refuse_errors(findings)
        arrival = _arrival(self._rules, body, redact(body, self._gate.secrets(scope)), tree, findings)
        try:
            await self._store.add(arrival)
        except sqlite3.Error as error:
            message = f"The receiver could not store the event: {error}."
            raise Refusal(503, "storeFailed", message, {"Retry-After": "1"}) from error
        return self._success(arrival, tree)

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


def upserted(tree: dict[str, Any]) -> tuple[int, int]:
    """Count the distinct nodes (the job and its datasets) and edges of an event, as Portal's answer does.

    Args:
        tree: An event that passed the checks of Portal's rules.

    Returns:
        ``nodesUpserted`` and ``edgesUpserted``.
    """
    sides = {side: _datasets(tree, side) for side in ("inputs", "outputs")}
    datasets = sides["inputs"] | sides["outputs"]
    return 1 + len(datasets), sum(len(found) for found in sides.values())


def _datasets(tree: dict[str, Any], side: str) -> set[tuple[Any, Any]]:
    return {(item.get("namespace"), item.get("name")) for item in tree.get(side) or []}


def _refuse_errors(findings: list[Finding]) -> None:
    errors = [finding for finding in findings if finding.error]
    if errors:
        shown = "; ".join(f"{error.path}: {error.message}" for error in errors[:_SHOWN_FINDINGS])
        more = f"; and {len(errors) - _SHOWN_FINDINGS} more" if len(errors) > _SHOWN_FINDINGS else ""
        raise Refusal(400, errors[0].code, f"{shown}{more}.")


def _arrival(rules: Rules, body: bytes, kept: bytes, tree: dict[str, Any], findings: list[Finding]) -> Arrival:
    # The columns come from what is kept, so that they hold no secret either.
    shown = tree if kept is body else parse(kept)
    job = shown.get("job") or {}
    run = shown.get("run") or {}
    return Arrival(
        event_id=hashlib.sha256(body).hexdigest(),
        destination=rules.name,
        arrived_at=time.time(),
        warnings=orjson.dumps([{"path": item.path, "message": item.message} for item in findings]).decode(),
        kind=str(kind_of(shown)),
        event_type=_text(shown.get("eventType")),
        event_time=_text(shown.get("eventTime")),
        run_id=_text(run.get("runId")),
        job_namespace=_text(job.get("namespace")),
        job_name=_text(job.get("name")),
        size=len(body),
        body=kept,
    )


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
