"""Every setting, in one table: what reads settings, the command line's options and the documentation come from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

PREFIX: Final = "TRUEWATCH_LINEAGE_"
"""How the environment variable of every setting begins."""

Scope = Literal["settings", "destination"]
Kind = Literal[
    "flag",
    "choice",
    "text",
    "seconds",
    "days",
    "bytes",
    "integer",
    "path",
    "existing_file",
    "names",
    "patterns",
    "headers",
    "tree",
    "secret",
    "command",
    "auth",
]
_NOT_ON_COMMAND_LINE: Final[frozenset[Kind]] = frozenset({"secret", "auth"})


@dataclass(frozen=True, slots=True)
class Key:
    """One setting.

    Attributes:
        name: Its name, in snake_case.
        scope: ``settings`` where it holds for the whole, ``destination`` where each destination has its own.
        kind: What its value is, which decides how it is read (see ``coerce``).
        default: The default, in words for people.
        help: What it does, in one line.
        choices: The words it may be, for the kind ``choice``.
        aliases: Other clients' names for the same thing.
        minimum: The least number it may be.
    """

    name: str
    scope: Scope
    kind: Kind
    default: str
    help: str
    choices: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    minimum: float = 0

    @property
    def variable(self) -> str:
        """The environment variable's name."""
        return PREFIX + self.name.upper()

    @property
    def option(self) -> str | None:
        """The command line's option, or None where a secret would have to be typed there, for every process to see."""
        return None if self.kind in _NOT_ON_COMMAND_LINE else "--" + self.name.replace("_", "-")


TOKEN_KEYS: Final = ("token", "token_file", "token_env", "token_command", "airflow_conn_id", "auth")
"""The settings that name a token's source; a destination has one of them."""

_WHOLE: Final = (
    Key(
        "delivery",
        "settings",
        "choice",
        "auto",
        "Who delivers: the emitting call, a thread, or a courier.",
        choices=("auto", "inline", "background", "spool"),
    ),
    Key("delivery_budget", "settings", "seconds", "2 s", "Time one emit() may spend on delivery."),
    Key(
        "exit_budget",
        "settings",
        "seconds",
        "5 s; 30 s where CI is set",
        "Time a process may spend on delivery when it ends.",
    ),
    Key(
        "spool_dir",
        "settings",
        "path",
        "the user's state folder + truewatch-lineage; in Airflow $AIRFLOW_HOME/truewatch-lineage",
        "Folder where events wait until they are delivered.",
    ),
    Key(
        "spool_max_bytes",
        "settings",
        "bytes",
        "1 GiB, at most 10 % of the disk's free space",
        "Bytes the waiting events may take.",
        minimum=1,
    ),
    Key(
        "durability",
        "settings",
        "choice",
        "power",
        "What an accepted event survives: a power cut, or the end of the process.",
        choices=("power", "process"),
    ),
    Key("receipts_days", "settings", "days", "7", "Days a delivered event leaves a receipt without its body."),
    Key(
        "redact",
        "settings",
        "patterns",
        "the token, and passwords in urls",
        "More regular expressions that are masked as *** in events.",
    ),
    Key("enabled", "settings", "flag", "true", "Airflow only: send lineage where nothing else is configured."),
    Key(
        "spark_inject",
        "settings",
        "flag",
        "false",
        "Airflow only: let Spark's properties have the token, which makes it visible there.",
    ),
    Key("disabled", "settings", "flag", "false", "Do nothing; also by OPENLINEAGE_DISABLED."),
)

_DESTINATION: Final = (
    Key(
        "destination",
        "destination",
        "choice",
        "dataway, or what a known endpoint or kafka:// says",
        "Kind of destination.",
        choices=("dataway", "datakit", "portal", "openlineage", "kafka"),
    ),
    Key(
        "url",
        "destination",
        "text",
        "none; datakit: http://127.0.0.1:9529",
        "Where events go: scheme, host and, if need be, a path; the endpoint is appended. kafka://host:9092/topic.",
    ),
    Key("endpoint", "destination", "text", "the destination's", "Path appended to the url."),
    Key(
        "token",
        "destination",
        "secret",
        "none",
        "The token itself; a file or a command keeps it safer.",
        aliases=("api_key",),
    ),
    Key("token_file", "destination", "path", "none", "File that holds the token; read again when it changes."),
    Key("token_env", "destination", "text", "none", "Name of the environment variable that holds the token."),
    Key("token_command", "destination", "command", "none", "Program and arguments, as a list, that print the token."),
    Key("airflow_conn_id", "destination", "text", "none", "Airflow connection whose password is the token."),
    Key("auth", "destination", "auth", "none", "The token as OpenLineage's client takes it: {type: api_key, apiKey}."),
    Key(
        "auth_method",
        "destination",
        "choice",
        "bearer",
        "How the token is sent.",
        choices=("bearer", "x_token", "query"),
    ),
    Key(
        "allow_query_token",
        "destination",
        "flag",
        "false",
        "Allow auth_method query, which shows the token to every proxy's log.",
    ),
    Key("headers", "destination", "headers", "none", "Extra headers; never credentials.", aliases=("custom_headers",)),
    Key(
        "compression",
        "destination",
        "choice",
        "gzip; portal: none",
        "How the body is packed.",
        choices=("gzip", "none"),
    ),
    Key("timeout", "destination", "seconds", "10 s", "Time one attempt may take in total.", minimum=0.001),
    Key("ca_file", "destination", "existing_file", "the system's", "Certificates to trust, in PEM."),
    Key("client_cert", "destination", "existing_file", "none", "Client certificate, in PEM."),
    Key("client_key", "destination", "existing_file", "none", "The client certificate's key, in PEM."),
    Key("proxy", "destination", "text", "HTTPS_PROXY, for https only", "Proxy's url."),
    Key(
        "kafka_config", "destination", "path", "none", "Kafka only: file of its client's properties, for SASL and TLS."
    ),
    Key("allow_insecure_http", "destination", "flag", "false", "Allow a token over plain http to another machine."),
    Key(
        "concurrency",
        "destination",
        "integer",
        "8; in courier and gateway 64",
        "Connections at most.",
        aliases=("max_concurrent_requests",),
        minimum=1,
    ),
    Key("match", "destination", "tree", "all", "Which events go there: {keep: [...], drop: [...]}."),
    Key("map_namespaces", "destination", "tree", "none", "Namespaces to rename: {from: to}, by longest prefix."),
    Key("map_names", "destination", "tree", "none", "Names to rename, by regular expression."),
    Key("exclude_facets", "destination", "names", "none", "Facets left out: names, or kind.name."),
    Key(
        "oversize",
        "destination",
        "choice",
        "trim",
        "What happens to an event above the size limit.",
        choices=("trim", "reject"),
    ),
)

KEYS: Final = {key.name: key for key in (*_WHOLE, *_DESTINATION)}
"""Every setting by its name; ``destinations`` itself, which holds named ones, is not in it."""


def fold(spelling: str) -> str:
    """Return what all spellings of a key have in common: ``tokenFile``, ``token-file`` and ``TOKEN_FILE`` are one."""
    return spelling.replace("_", "").replace("-", "").lower()


BY_SPELLING: Final = {fold(name): key for key in KEYS.values() for name in (key.name, *key.aliases)}
"""The key for every folded spelling."""
