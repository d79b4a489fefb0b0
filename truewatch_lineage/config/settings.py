"""The settings after all sources are merged and checked: frozen, and safe to print.

What may hold a secret (headers, a proxy's password, expressions to redact) is left out of the repr.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from truewatch_lineage.destinations.profile import AuthMethod, Profile
from truewatch_lineage.destinations.tokens import TokenSource

if TYPE_CHECKING:  # 3 ms that few settings need
    from truewatch_lineage.events.mapping import NameMapper
    from truewatch_lineage.events.match import Match

Delivery = Literal["auto", "inline", "background", "spool"]

DEFAULT_NAME: Final = "default"
"""The name of the destination that flat settings describe."""


@dataclass(frozen=True, slots=True)
class DestinationSettings:
    """One place where events go.

    Attributes:
        name: What the user calls it; ``default`` where flat settings are used.
        profile: The rules of its kind.
        url: The final url of the POST, endpoint included, or of Kafka's topic; without any credential.
        token_source: Where the token comes from, or None.
        auth_method: How the token is sent.
        headers: Extra headers; never credentials.
        compression: ``gzip`` or ``none``.
        timeout: Seconds in total for one attempt, body included.
        ca_file: Certificates to trust instead of the default ones.
        client_cert: A client certificate's file.
        client_key: Its key's file.
        proxy: A proxy's url; None means the environment's, for https only.
        kafka_config: A file of properties for Kafka's client.
        allow_insecure_http: Whether a token may go over http to another host.
        concurrency: Connections at most, or None for the caller's default.
        match: Which events go there.
        mapper: How names are changed on the way.
        exclude_facets: Facets left out: names, or ``kind.name``.
        oversize: What to do with an event above the limit.
    """

    name: str
    profile: Profile
    url: str
    token_source: TokenSource | None = None
    auth_method: AuthMethod = "bearer"
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    compression: Literal["gzip", "none"] = "gzip"
    timeout: float = 10.0
    ca_file: Path | None = None
    client_cert: Path | None = None
    client_key: Path | None = None
    proxy: str | None = field(default=None, repr=False)
    kafka_config: Path | None = None
    allow_insecure_http: bool = False
    concurrency: int | None = None
    match: Match | None = None
    mapper: NameMapper | None = None
    exclude_facets: tuple[str, ...] = ()
    oversize: Literal["trim", "reject"] = "trim"


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything the pipeline needs.

    Attributes:
        destinations: At least one, unless ``disabled`` or read for a command that needs none.
        delivery: Who delivers; ``auto`` is decided in each process.
        delivery_budget: Seconds an ``emit()`` may spend on delivery.
        exit_budget: Seconds a process may spend on delivery when it ends.
        spool_dir: The folder of the spool.
        spool_max_bytes: Stored bytes, or None for min(1 GiB, 10 % of the disk's free space).
        durability: ``power`` or ``process``.
        receipts_days: Days a delivered event leaves a receipt.
        redact: Expressions masked in string values, besides the built-in ones.
        enabled: Airflow only: whether the late default is set.
        spark_inject: Airflow only: whether Spark's properties get the token.
        disabled: Whether ``emit()`` does nothing.
        origins: Where each setting came from, as ``{"key" or "destination.key": source}``.
        notices: What was accepted but should be known: settings that have no effect, unknown variables.
    """

    destinations: tuple[DestinationSettings, ...]
    spool_dir: Path
    delivery: Delivery = "auto"
    delivery_budget: float = 2.0
    exit_budget: float = 5.0
    spool_max_bytes: int | None = None
    durability: Literal["power", "process"] = "power"
    receipts_days: float = 7.0
    redact: tuple[re.Pattern[str], ...] = field(default=(), repr=False)
    enabled: bool = True
    spark_inject: bool = False
    disabled: bool = False
    origins: Mapping[str, str] = field(default_factory=dict)
    notices: tuple[str, ...] = ()

    def named(self, name: str | None) -> Settings:
        """Give the one destination that flat settings describe a name, as upstream's composite does with a transport.

        Args:
            name: The name, or None to leave it as it is.
        """
        if name and len(self.destinations) == 1 and self.destinations[0].name == DEFAULT_NAME:
            return replace(self, destinations=(replace(self.destinations[0], name=name),))
        return self
