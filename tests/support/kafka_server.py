"""What a Kafka broker of tests is started with: the command, its properties, free addresses."""

from __future__ import annotations

import contextlib
import functools
import os
import random
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest

from support.certificates import Authority
from support.java import java, java_version
from support.maven import jars
from support.repository import ROOT

USER: Final = "lineage"
"""Who may log in to a broker with a password."""

PASSWORD: Final = "quay-7-lantern-keeper"
"""For those tests that need none of their own."""

LARGEST: Final = 10 * 1024 * 1024
"""The largest message that a broker takes, in bytes."""

_JAVA: Final = 11
# Below those of outgoing connections, one of which could take the port of a broker that is down.
_PORTS: Final = range(12_000, 30_000)
# A run of seconds is over before the second compiler pays for itself.
_SHORT_LIVED: Final = ("-Xmx256m", "-Xms64m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
_QUIET: Final = "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn"
# What `kafka-storage format` writes and a start needs; that tool is a second JVM.
META: Final = "version=1\nnode.id=1\ncluster.id=MkU3OEVBNTcwNTJENDM2Qg\n"
_SETTINGS: Final = {
    "process.roles": "broker,controller",
    "node.id": "1",
    "controller.listener.names": "CONTROLLER",
    "inter.broker.listener.name": "PLAINTEXT",
    "offsets.topic.replication.factor": "1",
    "offsets.topic.num.partitions": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "transaction.state.log.num.partitions": "1",
    "group.initial.rebalance.delay.ms": "0",
    "group.min.session.timeout.ms": "500",
    "auto.create.topics.enable": "false",
    "log.cleaner.enable": "false",
    "message.max.bytes": str(LARGEST),
    # A broker that was killed may come back when its session is over.
    "broker.heartbeat.interval.ms": "200",
    "broker.session.timeout.ms": "1000",
}
_PROTOCOLS: Final = "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SASL:SASL_PLAINTEXT,TLS:SSL"


@functools.cache
def command() -> tuple[str, ...]:
    """Return the command, to which the file of properties is added; skips the test where it can't be had."""
    version = java_version()
    if version is None or version < _JAVA:
        here = "there is none" if version is None else f"this is {version}"
        pytest.skip(
            f"Kafka runs on Java {_JAVA} or newer, and {here}; on Debian: apt-get install openjdk-17-jre-headless"
        )
    path = os.pathsep.join(map(str, jars(ROOT / "requirements" / "kafka-jars.txt")))
    return (str(java()), *_SHORT_LIVED, _QUIET, "-cp", path, "kafka.Kafka")


def properties(
    addresses: Mapping[str, str], folder: Path, *, password: str | None, authority: Authority | None
) -> dict[str, str]:
    """Return the properties of a broker.

    Args:
        addresses: By the names of its listeners: CONTROLLER, PLAINTEXT, and SASL and TLS where there are such.
        folder: Where its files go.
        password: For the listener SASL.
        authority: Signs the certificate of the listener TLS.
    """
    return {
        **_SETTINGS,
        **_listeners(addresses),
        **(_sasl(password) if password is not None else {}),
        **(_tls(authority, folder) if authority is not None else {}),
        "log.dirs": str(folder / "data"),
    }


def _listeners(addresses: Mapping[str, str]) -> dict[str, str]:
    """Return the properties of the listeners, by name; clients are told all but the controller's."""
    told = {name: f"{name}://{address}" for name, address in addresses.items()}
    return {
        "listeners": ",".join(told.values()),
        "advertised.listeners": ",".join(address for name, address in told.items() if name != "CONTROLLER"),
        "listener.security.protocol.map": _PROTOCOLS,
        "controller.quorum.voters": f"1@{addresses['CONTROLLER']}",
    }


def _sasl(password: str) -> dict[str, str]:
    module = "org.apache.kafka.common.security.plain.PlainLoginModule required"
    return {
        "listener.name.sasl.sasl.enabled.mechanisms": "PLAIN",
        "listener.name.sasl.plain.sasl.jaas.config": f'{module} user_{USER}="{password}";',
    }


def _tls(authority: Authority, folder: Path) -> dict[str, str]:
    keys = authority.key_and_certificate(folder / "broker.pem")
    return {"listener.name.tls.ssl.keystore.type": "PEM", "listener.name.tls.ssl.keystore.location": str(keys)}


def free_addresses(count: int) -> list[str]:
    """Return addresses on 127.0.0.1 that nobody listens on."""
    found: list[str] = []
    with contextlib.ExitStack() as held:
        while len(found) < count:
            with contextlib.suppress(OSError):
                server = socket.create_server(("127.0.0.1", random.choice(_PORTS)))
                held.enter_context(server)
                found.append(f"127.0.0.1:{server.getsockname()[1]}")
    return found
