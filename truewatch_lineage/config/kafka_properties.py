"""A file of librdkafka's properties, for whoever talks to a Kafka that asks for SASL or TLS.

Lines of ``key=value`` as in Kafka's own client files; the keys are those of
https://github.com/confluentinc/librdkafka/blob/master/CONFIGURATION.md. A value may be a password, so no message ever
shows one.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from truewatch_lineage.destinations.token_file import FileToken
from truewatch_lineage.errors import ConfigError

_log = logging.getLogger(__name__)

MAX_BYTES: Final = 64 * 1024
"""More than any such file: a larger one is something else."""

_KEY: Final = re.compile(r"[a-z0-9_]+(?:\.[a-z0-9_]+)*")
_ASKED_FOR: Final = re.compile(r"\b(?:sasl|ssl)(?:\.[a-z]+)+(?= and | must be set)")
_JAVA: Final = {
    "sasl.jaas.config": "Write sasl.username and sasl.password.",
    "security.providers": "Leave it out.",
    "ssl.truststore.location": "Write ssl.ca.location, a PEM file.",
    "ssl.truststore.password": "Leave it out, and name a PEM file in ssl.ca.location.",
    "ssl.truststore.type": "Leave it out, and name a PEM file in ssl.ca.location.",
    "ssl.keystore.type": "Leave it out, and name PKCS#12 in ssl.keystore.location, or PEM in ssl.certificate.location.",
}
"""Keys that Java's clients have and librdkafka has not, and what to write instead."""


NEVER: Final = {
    "enable.ssl.certificate.verification": "Certificates are always checked. Name an authority in ssl.ca.location.",
    "plugin.library.paths": "No code is loaded by a setting.",
    **dict.fromkeys(("debug", "log_level"), "What the library logs for its own sake might hold a secret."),
}
"""Keys that nobody may set, and why."""


@dataclass(frozen=True)
class Properties:
    """What a file says; without arguments, nothing.

    Attributes:
        path: The file.
        values: The properties, by key.
        lines: The number of each key's line.
    """

    path: Path | None = None
    values: Mapping[str, str] = field(default_factory=dict, repr=False)
    lines: Mapping[str, int] = field(default_factory=dict)

    def error(self, key: str, problem: str, fix: str) -> ConfigError:
        """Return an error of one property, that tells its line and not its value."""
        return ConfigError(f"`{key}` {problem}.", key=key, source=f"{self.path}, line {self.lines[key]}", fix=fix)

    def refused(self, told: str) -> ConfigError:
        """Return an error of what librdkafka has refused.

        Args:
            told: What it says; only the key is taken from it, since it may quote the value.
        """
        named = [key for key in self.lines if re.search(rf"(?<![\w.]){re.escape(key)}(?![\w.])", told)]
        if not named:
            missing = sorted(set(_ASKED_FOR.findall(told)))
            fix = f"Set {' and '.join(missing)}." if missing else "Compare them with librdkafka's list."
            source = None if self.path is None else str(self.path)
            return ConfigError("Kafka's client can't be made of these properties.", source=source, fix=fix)
        if "No such configuration property" in told:
            return self.error(named[0], "is no property of librdkafka", "Look for its name in librdkafka's list.")
        return self.error(named[0], "is refused by librdkafka", "Look at its values in librdkafka's list.")


def read(path: Path, reserved: Mapping[str, str]) -> Properties:
    """Read a file of properties; one that others may read or write is warned of.

    Args:
        path: The file.
        reserved: Keys that can't be set in it, each with what to do instead.

    Raises:
        ConfigError: It can't be read, is malformed, or sets a reserved key or one of Java's clients.
    """
    found: dict[str, str] = {}
    lines: dict[str, int] = {}
    for number, line in enumerate(_text(path).splitlines(), 1):
        text = line.strip()
        if text and text[0] not in "#!":
            key, value = _pair(text, f"{path}, line {number}")
            if key in lines:
                fix = "Leave one of them out."
                raise ConfigError(f"`{key}` stands twice.", key=key, source=f"{path}, line {number}", fix=fix)
            found[key], lines[key] = value, number
    properties = Properties(path, found, lines)
    for key, fix in {**_JAVA, **NEVER, **reserved}.items():
        if key in found:
            whose = "is a property of Java's clients" if key in _JAVA else "can't be set here"
            raise properties.error(key, whose, fix)
    if weakness := FileToken(path).weakness():
        _log.warning("The properties' file is not private: %s (%s). Run chmod 600 on it.", weakness, path)
    return properties


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise ConfigError(f"The properties' file can't be read: {error.strerror}.", source=str(path)) from None
    if len(data) > MAX_BYTES:
        raise ConfigError(f"The properties' file holds more than {MAX_BYTES:,} bytes.", source=str(path))
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:  # whose text would quote the file
        raise ConfigError("The properties' file is no UTF-8.", source=str(path)) from None


def _pair(text: str, source: str) -> tuple[str, str]:
    key, equals, value = (part.strip() for part in text.partition("="))
    if not equals or not _KEY.fullmatch(key):  # what stands there may be a password, so it is not shown
        raise ConfigError("The line is no `key=value`.", source=source, fix="Write one property a line.")
    return key, value
