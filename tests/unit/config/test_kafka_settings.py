"""A destination that is a topic of Kafka: its url, its file of properties, and what can't be meant for it."""

from __future__ import annotations

import pytest
from support.private import write_private

from truewatch_lineage.config import kafka_settings, load
from truewatch_lineage.config.kafka_properties import NEVER
from truewatch_lineage.config.kafka_url import addresses, servers_and_topic
from truewatch_lineage.errors import ConfigError

URL = "kafka://broker.example:9092/lineage"


def settings(**params):
    """Load the settings of one destination."""
    return load({"url": URL, **params}, environ={}).destinations[0]


@pytest.mark.parametrize(
    ("url", "final"),
    [
        (URL, URL),
        ("kafka://a,b:19092/lineage.events", "kafka://a:9092,b:19092/lineage.events"),
        ("KAFKA://a/x/", "kafka://a:9092/x"),
        ("kafka://[::1]:9094,[fe80::1]/x", "kafka://[::1]:9094,[fe80::1]:9092/x"),
    ],
)
def test_a_url_has_every_servers_port(url, final):
    """The scheme alone says that it is Kafka; the port is Kafka's where none is written."""
    found = settings(url=url)
    assert (found.profile.kind, found.url) == ("kafka", final)


def test_a_url_is_taken_apart():
    """As the client takes it, and as ``check`` goes the way."""
    assert servers_and_topic("kafka://a:9092,[::1]:1/x") == ("a:9092,[::1]:1", "x")
    assert addresses("kafka://a:9092,[::1]:1/x") == [("a", 9092), ("::1", 1)]


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("kafka://broker.example:9092", "has no topic"),
        ("kafka://broker.example/", "has no topic"),
        ("kafka://broker.example/a/b", "has no topic"),
        ("kafka://broker.example/..", "has no topic"),
        (f"kafka://broker.example/{'x' * 250}", "has no topic"),
        ("kafka:///lineage", "has a server without a host"),
        ("kafka://a,,b/lineage", "has a server without a host"),
        ("kafka://a:0/lineage", "has a server without a host"),
        ("kafka://a:65536/lineage", "has a server without a host"),
        ("kafka://user:hunter2@a/lineage", "holds a user or password"),
        ("kafka://a/lineage?sasl.password=hunter2", "holds a query or fragment"),
        ("https://broker.example/lineage", "must start with kafka://"),
    ],
)
def test_a_wrong_url_is_refused_without_being_shown(url, problem):
    """What is wrong is told, and never what was written."""
    with pytest.raises(ConfigError, match=problem) as caught:
        settings(url=url, destination="kafka")
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("key", ["endpoint", "headers", "proxy"])
def test_what_can_not_be_meant_is_refused(key):
    """A setting that would do nothing is no silent surprise."""
    with pytest.raises(ConfigError, match=f"`{key}` can't be used with Kafka"):
        settings(**{key: "/x"})


@pytest.mark.parametrize(("key", "instead"), [("ca_file", "ssl.ca.location"), ("client_key", "ssl.key.location")])
def test_tls_is_set_by_the_clients_own_properties(key, instead, tmp_path):
    """The message names the property."""
    with pytest.raises(ConfigError, match=instead):
        settings(**{key: str(write_private(tmp_path / "x.pem", "x"))})


REFUSED = {**kafka_settings.RESERVED, **NEVER}


@pytest.mark.parametrize("key", REFUSED)
def test_a_property_that_the_settings_decide_is_refused(key, tmp_path):
    """The line and what to do instead are told, the value is not."""
    path = write_private(tmp_path / "kafka.properties", f"# ours\n{key}=hunter2\n")
    with pytest.raises(ConfigError, match="line 2") as caught:
        settings(kafka_config=str(path))
    assert REFUSED[key] in str(caught.value)
    assert "hunter2" not in str(caught.value)


def test_who_leaves_delivery_to_a_courier_needs_neither_file_nor_client(monkeypatch, tmp_path):
    """Only who sends can be expected to have them."""
    monkeypatch.setattr(kafka_settings, "find_spec", lambda _: None)
    params = {"kafka_config": str(tmp_path / "missing.properties")}
    assert settings(delivery="spool", **params).profile.kind == "kafka"
    with pytest.raises(ConfigError, match=r"pip install 'truewatch-lineage\[kafka\]'"):
        settings(**params)


def test_a_file_for_kafka_beside_another_destination_is_told():
    """It has no effect there."""
    found = load({"url": "https://h", "token": "tkn_base_token", "kafka_config": "/x"}, environ={})
    assert any("`kafka_config`" in notice and "is not Kafka" in notice for notice in found.notices)


def test_a_token_is_not_sent_to_kafka():
    """A notice says so."""
    found = load({"url": URL, "token": "tkn_base_token"}, environ={})
    assert found.destinations[0].token_source is None
    assert any("is sent no token" in notice for notice in found.notices)
