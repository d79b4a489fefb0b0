"""The keys that the listener reads, taken from the classes of its jar, and the ones that people write instead."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final, Literal

from truewatch_lineage_spark.versions import VERSION

LISTENER_VERSION: Final = VERSION
"""The release whose classes these keys are from: ``SparkOpenLineageConfig``, ``OpenLineageConfig`` and their parts."""

Type = Literal["text", "bool", "int", "list", "any"]

_PARENTS: Final = ("parent", "rootParent")
_CONFIG: Final[dict[str, Type]] = {
    "namespace": "text",
    "appName": "text",
    "applicationRunId": "text",
    "capturedProperties": "text",
    "context": "text",
    "disabled": "text",
    "testExtensionProvider": "text",
    **{f"{of}{part}": "text" for of in _PARENTS for part in ("JobNamespace", "JobName", "RunId")},
    "jobName.appendDatasetName": "bool",
    "jobName.replaceDotWithUnderscore": "bool",
    "columnLineage.datasetLineageEnabled": "bool",
    "columnLineage.descriptionsEnabled": "bool",
    "columnLineage.schemaSizeLimit": "int",
    "filter.allowedSparkNodes": "list",
    "filter.deniedSparkNodes": "list",
    "filter.rddEventsDisabled": "bool",
    "debug.smart": "bool",
    "debug.smartMode": "text",
    "debug.metricsDisabled": "bool",
    "debug.payloadSizeLimitInKilobytes": "int",
    "debug.logPlanAsJson": "bool",
    "timeout.buildDatasetsTimePercentage": "int",
    "timeout.facetsBuildingTimePercentage": "int",
    "vendors.*.metricsReporterDisabled": "bool",
    "facets.**.disabled": "bool",
    "facets.custom_environment_variables": "list",
    "dataset.removePath.pattern": "text",
    "dataset.disabledTrimmers": "text",
    "dataset.extraTrimmers": "text",
    "dataset.namespaceResolvers.*.type": "text",
    "dataset.namespaceResolvers.*.schema": "text",
    "dataset.namespaceResolvers.*.hosts": "list",
    "dataset.namespaceResolvers.*.regex": "text",
    "dataset.namespaceResolvers.*.matchingGroup": "text",
    "circuitBreaker.type": "text",
    "circuitBreaker.memoryThreshold": "int",
    "circuitBreaker.gcCpuThreshold": "int",
    "circuitBreaker.circuitCheckIntervalInMillis": "int",
    "circuitBreaker.timeoutInSeconds": "int",
    "circuitBreaker.valuesReturned": "text",
    "circuitBreaker.threadCount": "int",
    "circuitBreaker.queueSize": "int",
    "circuitBreaker.blockingTimeInSeconds": "int",
    "circuitBreaker.shutdownTimeoutSeconds": "int",
    "metrics.**": "any",
    "run.tags": "any",
    "job.tags": "any",
    "job.namespace": "text",
    "job.name": "text",
    "job.owners.*": "text",
}
"""Below ``spark.openlineage.``; ``*`` is one step, ``**`` several."""

_HTTP: Final[dict[str, Type]] = {
    "url": "text",
    "endpoint": "text",
    "timeoutInMillis": "int",
    "compression": "text",
    "urlParams.**": "text",
    "headers.**": "text",
    "auth.type": "text",
    "auth.apiKey": "text",
    "auth.tokenEndpoint": "text",
    "auth.tokenFields": "list",
    "auth.expiresInField": "text",
    "auth.grantType": "text",
    "auth.responseType": "text",
    "auth.tokenRefreshBuffer": "int",
    "sslContext.storePassword": "text",
    "sslContext.keyPassword": "text",
    "sslContext.keyStoreType": "text",
    "sslContext.keyStorePath": "text",
}
TRANSPORTS: Final[dict[str, dict[str, Type]]] = {
    "http": _HTTP,
    "kafka": {"topicName": "text", "messageKey": "text", "properties.**": "text"},
    "file": {"location": "text"},
    "console": {},
    "composite": {"continueOnFailure": "bool", "withThreadPool": "bool", "transports": "any"},
    "transform": {"transformerClass": "text", "transformerProperties.**": "text"},
}
"""By the transport's type, below its own prefix."""

EXTRA_TRANSPORTS: Final = ("gcplineage", "gcs", "s3", "kinesis", "dataplex", "amazon_datazone_api", "datazone")
"""Types that need a jar of their own beside the listener's; their keys are theirs."""

BREAKERS: Final = ("timeout", "asyncTaskQueue", "javaRuntime", "simpleMemory", "static")
"""Circuit breakers that parse; ``noop`` is registered, and fails all the same."""

_NEAR: Final = 0.8
"""How alike two words must be, by difflib's ratio, for one to be taken for the other misspelt."""

_RETRY: Final = "the listener has no retries; put truewatch-lineage gateway beside Spark, which keeps a queue"
INSTEAD: Final = {
    "host": "transport.url",
    "url": "transport.url",
    "endpoint": "transport.endpoint",
    "apiKey": "transport.auth.apiKey",
    "timeout": "transport.timeoutInMillis, in milliseconds",
    "consoleTransport": "transport.type=console",
    "transport.timeout": "transport.timeoutInMillis, in milliseconds",
    "transport.timeoutInMilliseconds": "transport.timeoutInMillis",
    "transport.apiKey": "transport.auth.apiKey",
    "transport.api_key": "transport.auth.apiKey",
    "transport.token": "transport.auth.apiKey",
    "transport.custom_headers": "transport.headers.NAME",
    "transport.customHeaders": "transport.headers.NAME",
    "transport.urlParam": "transport.urlParams.NAME",
    "facets.disabled": "facets.NAME.disabled=true, one line for each facet",
    "facets.variables": "facets.custom_environment_variables",
}
"""What people write, below ``spark.openlineage.``, and what they mean."""

KEY_ALIAS: Final = re.compile(r"auth\.(?!(?-i:apiKey)$)(?:api[-_]?key|key|token)", re.IGNORECASE)
"""Spellings of ``auth.apiKey``, below a transport, that make the listener send ``Bearer null``."""

_SECRET: Final = re.compile(
    r"(?:api[-_]?key|token|password|passwd|secret|authorization|cookie|jaas\.config)$", re.IGNORECASE
)
_NO_SECRET: Final = re.compile(r"(?:job|run|facets)\.")


@dataclass(frozen=True, slots=True)
class Known:
    """A key of the table.

    Attributes:
        name: As the table has it.
        type: What its value must be.
    """

    name: str
    type: Type


def lookup(rest: str, kind: str, at: str) -> Known | None:
    """Find a key in the table.

    Args:
        rest: The key below ``spark.openlineage.``.
        kind: The type of the transport it belongs to; empty where that is not known.
        at: What of ``rest`` names its transport, dot included; empty for other keys.

    Returns:
        What the table says of it, or None where it has no such key.
    """
    if not at:
        return _match(rest, _CONFIG)
    leaf = rest.removeprefix(at)
    return Known("type", "text") if leaf == "type" else _match(leaf, _leaves(kind))


def instead(rest: str, kind: str, at: str) -> str | None:
    """Return what is most likely meant by a key that the table does not have, below ``spark.openlineage.``."""
    leaf = rest.removeprefix(at)
    plain = f"transport.{leaf}" if at else rest
    if re.match(r"transport\.(?:max_?)?retr", plain, re.IGNORECASE):
        return _RETRY
    if plain in INSTEAD:
        return INSTEAD[plain].replace("transport.", at, 1) if at else INSTEAD[plain]
    names = {_filled(name, leaf).lower(): _named(name) for name in (_leaves(kind) if at else _CONFIG)}
    names |= {"type": "type"} if at else {}
    near = get_close_matches(leaf.lower(), names, n=1, cutoff=_NEAR)
    if not near and not at and is_near(rest.partition(".")[0], "transport"):
        return "transport.NAME"
    return at + names[near[0]] if near else None


def is_near(word: str, right: str) -> bool:
    """Tell whether a word is another one misspelt, or in another case.

    Args:
        word: As it stands there.
        right: As it would be right.
    """
    return word != right and bool(get_close_matches(word.lower(), [right], cutoff=_NEAR))


def is_branch(rest: str, at: str) -> bool:
    """Tell whether keys of the table are below a key, so that a JSON object may stand there.

    Args:
        rest: The key below ``spark.openlineage.``.
        at: What of it names its transport, dot included.
    """
    leaf = rest.removeprefix(at)
    names = _leaves("") if at else [*_CONFIG, "transport.*"]
    return any(name.startswith(f"{leaf}.") for name in names)


def is_secret(rest: str) -> bool:
    """Tell whether a key's value is a token or a password, by the key alone.

    Args:
        rest: The key below ``spark.openlineage.``.
    """
    return bool(_SECRET.search(rest)) and not _NO_SECRET.match(rest)


def _leaves(kind: str) -> dict[str, Type]:
    """Return the keys of a type; all there are where the type is not known."""
    if kind in TRANSPORTS:
        return TRANSPORTS[kind]
    return {name: type_ for leaves in TRANSPORTS.values() for name, type_ in leaves.items()}


def _match(name: str, table: dict[str, Type]) -> Known | None:
    return next(
        (Known(pattern, type_) for pattern, type_ in table.items() if _expression(pattern).fullmatch(name)), None
    )


def _expression(pattern: str) -> re.Pattern[str]:
    escaped = re.escape(pattern)
    return re.compile(escaped.replace(r"\*\*", ".+").replace(r"\*", "[^.]+"), re.DOTALL)


def _named(pattern: str) -> str:
    """Put a word for the stars of a pattern; a key's own words may be anything, and are not shown."""
    return pattern.replace("**", "NAME").replace("*", "NAME")


def _filled(pattern: str, leaf: str) -> str:
    """Put a key's own words for the stars of a pattern, so that the two can be compared."""
    words = leaf.split(".")
    steps = pattern.split(".")
    if "**" in steps:
        at = steps.index("**")
        behind = len(steps) - at - 1
        middle = words[at : len(words) - behind] or ["NAME"]
        return ".".join([*steps[:at], *middle, *steps[at + 1 :]])
    return ".".join(words[at] if step == "*" and at < len(words) else step for at, step in enumerate(steps))
