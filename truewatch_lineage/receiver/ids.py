"""Names that stay the same: hashes of a job's or dataset's identity, and the graph's readable node ids."""

from __future__ import annotations

import functools
import hashlib
from typing import Literal, NamedTuple

import orjson

NodeType = Literal["job", "dataset", "column"]
NODE_TYPES: tuple[NodeType, ...] = ("job", "dataset", "column")

_CACHED = 8192
_DIGITS = 32
_PARTS = {"job": 2, "dataset": 2, "column": 3}


class NodeKey(NamedTuple):
    """What a node of the graph is known by.

    Attributes:
        type: ``job``, ``dataset`` or ``column``.
        namespace: The job's or dataset's.
        name: The job's or dataset's.
        field: A column's name; empty for others.
    """

    type: NodeType
    namespace: str
    name: str
    field: str = ""


def event_id(body: bytes) -> str:
    """Return the sha256 of an event's decoded bytes, in hex: the same bytes are the same event."""
    return hashlib.sha256(body).hexdigest()


@functools.lru_cache(_CACHED)
def job_id(namespace: str, name: str) -> str:
    """Return a job's id: the first 32 hex digits of the sha256 of ``["job",namespace,name]`` as JSON."""
    return digest("job", namespace, name)


@functools.lru_cache(_CACHED)
def dataset_id(namespace: str, name: str) -> str:
    """Return a dataset's id: as `job_id`, of ``["dataset",namespace,name]``."""
    return digest("dataset", namespace, name)


def digest(*parts: object) -> str:
    """Return the first 32 hex digits of the sha256 of the parts as a JSON array."""
    return hashlib.sha256(orjson.dumps(parts)).hexdigest()[:_DIGITS]


def node_id(key: NodeKey) -> str:
    """Return a node's id: ``job:NAMESPACE|NAME``, ``dataset:NAMESPACE|NAME`` or ``column:NAMESPACE|NAME|FIELD``.

    In all parts but the last, ``%`` is written ``%25`` and ``|`` is written ``%7C``, so that no two nodes share an id.
    """
    *first, last = key[1 : 1 + _PARTS[key.type]]
    return f"{key.type}:" + "".join(f"{_escaped(part)}|" for part in first) + last


def parse_node_id(text: str) -> NodeKey | None:
    """Read what `node_id` wrote; None if it is no such id."""
    kind, _, rest = text.partition(":")
    for known in NODE_TYPES:
        parts = rest.split("|", _PARTS[known] - 1)
        if kind == known and len(parts) == _PARTS[known]:
            *first, last = parts
            namespace, name, *field = (*(_plain(part) for part in first), last)
            return NodeKey(known, namespace, name, *field)
    return None


def _escaped(part: str) -> str:
    return part.replace("%", "%25").replace("|", "%7C")


def _plain(part: str) -> str:
    return part.replace("%7C", "|").replace("%25", "%")
