"""Every trap by name: how bad it is, and what goes wrong, as measured with the listener 1.53.0."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from truewatch_lineage_spark.lint.model import Finding, Setting, Severity


@dataclass(frozen=True, slots=True)
class Rule:
    """A trap.

    Attributes:
        severity: How bad it is.
        happens: What goes wrong, in a few words.
    """

    severity: Severity
    happens: str


_NOTHING: Final = "The job runs, no event is sent"
_NULL: Final = "`Authorization: Bearer null` is sent"
_SHOWN: Final = "The token shows"

RULES: Final = {
    "file.unreadable": Rule("error", "Nothing of the file is known"),
    "file.broken": Rule("error", "Spark or the platform can't read it, or reads something else"),
    "file.nothing": Rule("warning", "No setting of Spark was found"),
    "key.unknown": Rule("warning", "The listener ignores it"),
    "key.misspelt": Rule("error", "The listener ignores it, and does not do what it asks for"),
    "key.duplicate": Rule("warning", "Only the last one counts"),
    "key.not-additive": Rule("error", "Only the last one counts: what the others list is lost"),
    "value.type": Rule("error", _NOTHING),
    "value.list": Rule("error", f"{_NOTHING}: [...] is read as a list"),
    "value.not-list": Rule("error", f"{_NOTHING}: a list is written [a;b]"),
    "value.not-expanded": Rule("error", "Neither Spark nor the listener puts anything in its place"),
    "value.comment": Rule("error", "Text behind a value is part of it"),
    "value.quotes": Rule("error", "The quotes are part of the value"),
    "value.backslash": Rule("warning", "A backslash alone is dropped"),
    "value.too-long": Rule("error", "EMR takes 1,024 characters at most for a key and its value"),
    "transport.no-type": Rule("error", _NOTHING),
    "transport.unknown-type": Rule("error", _NOTHING),
    "transport.no-url": Rule("error", _NOTHING),
    "transport.url-path": Rule("error", "The path and the query of url are dropped"),
    "transport.url-and-endpoint": Rule("error", f"{_NOTHING}: url has a path beside endpoint"),
    "transport.url-broken": Rule("error", _NOTHING),
    "transport.endpoint-query": Rule("error", "`?` is sent as %3F"),
    "transport.no-endpoint": Rule("warning", "Events go to /api/v1/lineage"),
    "transport.child-key": Rule("error", f"{_NOTHING}: a composite takes no unknown key"),
    "transport.no-children": Rule("error", _NOTHING),
    "transport.compression": Rule("error", _NOTHING),
    "transport.insecure": Rule("warning", "The token goes over the network as it is"),
    "transport.kafka-jar": Rule("error", "The job is killed"),
    "transport.kafka-settings": Rule("error", _NOTHING),
    "auth.type": Rule("error", _NOTHING),
    "auth.no-type": Rule("error", _NOTHING),
    "auth.key-spelling": Rule("error", _NULL),
    "auth.no-key": Rule("error", _NULL),
    "auth.two-headers": Rule("error", "Two Authorization headers are sent"),
    "auth.two-tokens": Rule("warning", "DataWay takes the query token, then X-Token, then Bearer"),
    "token.literal": Rule("error", "Whoever reads the file has the token"),
    "token.literal-private": Rule("warning", "The token is in the file, though only its owner can read it"),
    "leak.redaction": Rule("error", f"{_SHOWN} on Spark's pages, in its REST API, event log and verbose output"),
    "leak.redaction-narrowed": Rule("warning", "What Spark masks by itself shows"),
    "leak.slow-event": Rule("error", f"{_SHOWN} in the driver's log when an event takes over a second"),
    "leak.process-list": Rule("error", f"{_SHOWN} in the process list"),
    "leak.captured": Rule("error", "The token is in every event"),
    "environment.python-spelling": Rule("error", _NULL),
    "environment.python-name": Rule("warning", "Only OpenLineage's Python client reads it"),
    "environment.case": Rule("error", "The listener does not read it"),
    "environment.json": Rule("error", "The value is parsed as JSON and arrives changed"),
    "environment.header": Rule("error", "The header gets another name"),
    "environment.not-exported": Rule("error", "The driver does not get it"),
    "precedence.dropped": Rule("warning", "It is dropped where openlineage.yml or OPENLINEAGE__ variables are there"),
    "precedence.composite": Rule("error", "What other places say of a transport inside a composite is lost"),
    "listener.missing": Rule("warning", "Nothing in this file loads the listener"),
    "listener.name": Rule("error", "The job is killed, or nothing is sent"),
    "listener.databricks": Rule("warning", "Databricks' own event log stops"),
    "listener.disabled": Rule("warning", _NOTHING),
    "jar.scala": Rule("error", "The job is killed: NoSuchMethodError"),
    "jar.name": Rule("error", "The jar does not resolve, or is an old one"),
    "jar.databricks-library": Rule("warning", "Libraries are there after the listener is looked for"),
    "jar.glue-first": Rule("warning", "Glue's own jars win over the listener's"),
    "breaker.type": Rule("error", _NOTHING),
    "submit.after-application": Rule("error", "It goes to the application, not to Spark"),
    "submit.not-quoted": Rule("error", "The shell cuts it"),
}
"""By name: the part before the dot says what it is about."""


def found(rule: str, setting: Setting, message: str, fix: str) -> Finding:
    """Return a finding about a setting.

    Args:
        rule: Its name in ``RULES``.
        setting: Where it is.
        message: What happens, never with a value in it.
        fix: What to write instead.
    """
    return Finding(RULES[rule].severity, setting.file, setting.line, setting.name, message, fix, rule)


def of_file(rule: str, file: str, line: int, message: str, fix: str) -> Finding:
    """Return a finding about a place in a file, where there is no setting.

    Args:
        rule: Its name in ``RULES``.
        file: Its path.
        line: From 1.
        message: What is wrong, never with the file's text in it.
        fix: What to do.
    """
    return Finding(RULES[rule].severity, file, line, "", message, fix, rule)
