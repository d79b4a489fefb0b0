"""Files of librdkafka's properties: what is read, what is refused, and that no value is ever shown."""

from __future__ import annotations

import logging

import pytest
from support.private import write_private

from truewatch_lineage.config.kafka_properties import MAX_BYTES, read
from truewatch_lineage.errors import ConfigError

SECRET = "swordfish-1234"
RESERVED = {"group.id": "Give --group."}


def written(tmp_path, text):
    return write_private(tmp_path / "kafka.properties", text)


def test_lines_are_properties(tmp_path):
    """One property a line; comments, blank lines and spaces around are nothing; a value may hold anything."""
    text = f"# a comment\n! another\n\n security.protocol = SASL_SSL \nsasl.password=a=b #{SECRET}\nssl.key.password=\n"
    found = read(written(tmp_path, text), RESERVED)
    assert found.values == {
        "security.protocol": "SASL_SSL",
        "sasl.password": f"a=b #{SECRET}",
        "ssl.key.password": "",
    }
    assert SECRET not in repr(found)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (SECRET, "The line is no `key=value` (from {path}, line 1). Write one property a line."),
        (f"a.b=1\n{SECRET}=x", "The line is no `key=value` (from {path}, line 2). Write one property a line."),
        ("a.b=1\n#\na.b=2", "`a.b` stands twice (from {path}, line 3). Leave one of them out."),
        ("\ngroup.id=mine", "`group.id` can't be set here (from {path}, line 2). Give --group."),
        (
            f"sasl.jaas.config=Module required password={SECRET}",
            (
                "`sasl.jaas.config` is a property of Java's clients (from {path}, line 1). "
                "Write sasl.username and sasl.password."
            ),
        ),
        ("a.b=1\n" * MAX_BYTES, "The properties' file holds more than 65,536 bytes (from {path})."),
        (b"a.b=\xff", "The properties' file is no UTF-8 (from {path})."),
    ],
)
def test_a_fault_is_told_with_its_line(tmp_path, text, message):
    """The line and the fix are told; what stands there is not."""
    path = tmp_path / "kafka.properties"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    path.chmod(0o600)
    with pytest.raises(ConfigError) as caught:
        read(path, RESERVED)
    assert str(caught.value) == message.format(path=path)
    assert caught.value.__cause__ is None


def test_a_missing_file_is_told(tmp_path):
    """The path and the system's reason."""
    with pytest.raises(ConfigError, match=r"can't be read: No such file or directory \(from .*nowhere\)"):
        read(tmp_path / "nowhere", {})


def test_a_file_that_others_may_read_is_warned_of(tmp_path, caplog):
    """It may hold a password: chmod 600."""
    path = written(tmp_path, "a.b=1\n")
    path.chmod(0o644)
    with caplog.at_level(logging.WARNING):
        read(path, {})
    assert [record.message for record in caplog.records] == [
        f"The properties' file is not private: others may read it ({path}). Run chmod 600 on it."
    ]


@pytest.mark.parametrize(
    ("told", "message"),
    [
        (
            'No such configuration property: "sasl.pasword"',
            (
                "`sasl.pasword` is no property of librdkafka (from {path}, line 2). "
                "Look for its name in librdkafka's list."
            ),
        ),
        (
            f'Invalid value "{SECRET}" for configuration property "security.protocol"',
            (
                "`security.protocol` is refused by librdkafka (from {path}, line 1). "
                "Look at its values in librdkafka's list."
            ),
        ),
        (
            "Failed to create consumer: sasl.username and sasl.oauthbearer.config must be set",
            (
                "Kafka's client can't be made of these properties (from {path}). "
                "Set sasl.oauthbearer.config and sasl.username."
            ),
        ),
        (
            f"something about {SECRET}",
            "Kafka's client can't be made of these properties (from {path}). Compare them with librdkafka's list.",
        ),
    ],
)
def test_what_librdkafka_refuses_is_told_by_its_key(tmp_path, told, message):
    """Only the key is taken from librdkafka's text, which may quote the value."""
    path = written(tmp_path, f"security.protocol={SECRET}\nsasl.pasword={SECRET}\n")
    assert str(read(path, {}).refused(told)) == message.format(path=path)
