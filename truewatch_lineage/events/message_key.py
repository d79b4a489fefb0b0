"""The key of an event's message in Kafka, which puts what belongs together into one partition, in order.

As ``KafkaTransport._get_message_key`` of openlineage-python 1.54 makes it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from truewatch_lineage.events.model import identify


def message_key(tree: Mapping[str, Any]) -> str | None:
    """Return ``run:``, ``job:`` or ``dataset:`` with a namespace and a name; None where the event has none.

    A run's key names the job at the root of its parents, else its parent's, else its own.
    """
    identity = identify(tree)
    if identity.kind == "DatasetEvent":
        return None if identity.dataset is None else f"dataset:{identity.dataset}"
    if identity.kind is None or identity.job is None:
        return None
    return f"job:{identity.job}" if identity.kind == "JobEvent" else f"run:{_parent(tree) or identity.job}"


def _parent(tree: Mapping[str, Any]) -> str | None:
    """Return the job that a run belongs to; a root counts even where it names none, as upstream has it."""
    parent = _inner(tree, "run", "facets", "parent")
    root = _inner(parent, "root")
    job = identify({"job": _inner(root or parent, "job")})
    return job.job if job.job_namespace and job.job_name else None


def _inner(value: object, *names: str) -> Mapping[str, Any]:
    for name in names:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value if isinstance(value, Mapping) else {}
