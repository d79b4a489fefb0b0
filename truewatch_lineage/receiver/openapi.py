"""The API described in OpenAPI 3.1, from the table of endpoints and the shapes below; tests hold answers to it."""

from __future__ import annotations

import functools
from typing import Any, Final

from truewatch_lineage import protocol
from truewatch_lineage.receiver.endpoints import ENDPOINTS, Endpoint
from truewatch_lineage.receiver.params import Param
from truewatch_lineage.receiver.rules import ALL_RULES, PORTAL, Rules
from truewatch_lineage.receiver.shapes import SCHEMAS

Tree = dict[str, Any]

VERSION: Final = "1"
_ERRORS: Final = {
    "400": "A parameter, the token's place or the body is wrong",
    "401": "A token is missing or wrong",
    "404": "There is no such thing",
}
_INTAKE_ERRORS: Final = {
    "400": "The event is refused; the message names the JSON path",
    "401": "A token is missing or wrong",
    "413": "The body or the event is too large",
    "415": "An unknown Content-Encoding",
    "503": "It could not be stored",
}


@functools.cache
def describe() -> Tree:
    """Return the whole document."""
    paths: dict[str, Tree] = {}
    for rules in ALL_RULES:
        paths[rules.path] = {"post": _intake(rules)}
    for endpoint in ENDPOINTS:
        paths.setdefault(endpoint.path, {})[endpoint.method.lower()] = _operation(endpoint)
    return {
        "openapi": "3.1.0",
        "info": {"title": "TrueWatch lineage: the local receiver", "version": VERSION},
        "paths": paths,
        "components": {"schemas": SCHEMAS, "securitySchemes": _schemes()},
    }


def _schemes() -> Tree:
    return {
        "bearer": {"type": "http", "scheme": "bearer"},
        "x_token": {"type": "apiKey", "in": "header", "name": protocol.TOKEN_HEADER},
        "query": {"type": "apiKey", "in": "query", "name": protocol.TOKEN_QUERY},
    }


def _intake(rules: Rules) -> Tree:
    answer = "Upserted" if rules is PORTAL else "Accepted"
    body = {"required": True, "content": {"application/json": {"schema": {"type": "object"}}}}
    return {
        "operationId": f"post_{rules.name}",
        "summary": f"Take one event as {rules.name} does; Content-Encoding: gzip is understood",
        "requestBody": body,
        "responses": {str(rules.success): _json("It is committed", answer), **_errors(_INTAKE_ERRORS)},
        "security": [{}, *({kind: list[str]()} for kind in rules.credentials)],
    }


def _operation(endpoint: Endpoint) -> Tree:
    answer = endpoint.answer
    success = _json("As asked", answer) if "/" not in answer else {"description": "As asked", "content": {answer: {}}}
    operation: Tree = {
        "operationId": endpoint.name,
        "summary": endpoint.summary,
        "parameters": [*_path_parameters(endpoint.path), *map(_parameter, endpoint.params)],
        "responses": {"200": success, **_errors(_ERRORS)},
    }
    if endpoint.method == "POST":
        script = {"type": "array", "items": {"$ref": "#/components/schemas/FaultStep"}}
        operation["requestBody"] = {"required": True, "content": {"application/json": {"schema": script}}}
    return operation


def _path_parameters(path: str) -> list[Tree]:
    names = [part[1:-1] for part in path.split("/") if part.startswith("{")]
    return [{"name": name, "in": "path", "required": True, "schema": {"type": "string"}} for name in names]


def _parameter(param: Param) -> Tree:
    return {"name": param.name, "in": "query", "description": param.help, "schema": _schema_of(param)}


def _schema_of(param: Param) -> Tree:
    if param.kind == "texts":
        return {"type": "array", "items": {"type": "string"}}
    if param.kind == "integer":
        schema: Tree = {"type": "integer", "minimum": param.least, "maximum": param.most}
    elif param.kind == "flag":
        schema = {"type": "boolean"}
    else:
        schema = {"type": "string"}
    if param.choices:
        schema["enum"] = list(param.choices)
    return schema if param.default is None else {**schema, "default": param.default}


def _json(what: str, schema: str) -> Tree:
    reference = {"schema": {"$ref": f"#/components/schemas/{schema}"}}
    return {"description": what, "content": {"application/json": reference}}


def _errors(errors: dict[str, str]) -> Tree:
    return {status: _json(what, "Error") for status, what in errors.items()}
