"""How texts become values, kind by kind."""

from pathlib import Path

import pytest

from truewatch_lineage.config import KEYS, coerce
from truewatch_lineage.config.found import Found
from truewatch_lineage.errors import ConfigError


def found(value, key="a_key"):
    """Make a setting as it would be found in a file."""
    return Found(value, key, "file x.toml")


GOOD = [
    ("disabled", True, True),
    ("disabled", 1, True),
    ("disabled", 0, False),
    *(("disabled", text, True) for text in ("true", "True", "YES", "on", "t", "Y", "1", " true ")),
    *(("disabled", text, False) for text in ("false", "False", "NO", "off", "f", "n", "0")),
    ("compression", "GZIP", "gzip"),
    ("auth_method", "X-Token", "x_token"),
    ("delivery", " Inline ", "inline"),
    ("timeout", "5", 5.0),
    ("timeout", 5, 5.0),
    ("timeout", 0.25, 0.25),
    ("timeout", "1e1", 10.0),
    ("timeout", "500ms", 0.5),
    ("timeout", "3 s", 3.0),
    ("timeout", "2m", 120.0),
    ("timeout", "1H", 3600.0),
    ("delivery_budget", 0, 0.0),
    ("receipts_days", "0.5", 0.5),
    ("concurrency", "8", 8),
    ("concurrency", 8.0, 8),
    ("spool_max_bytes", "1000", 1000),
    ("spool_max_bytes", "64MB", 64_000_000),
    ("spool_max_bytes", "64 MiB", 64 * 1024**2),
    ("spool_max_bytes", "1.5GiB", 3 * 1024**3 // 2),
    ("spool_max_bytes", "1kb", 1000),
    ("spool_dir", "/x/../y", Path("/x/../y")),
    ("spool_dir", Path("/x"), Path("/x")),
    ("url", " https://x ", "https://x"),
    ("token_env", 12, "12"),
    ("exclude_facets", ["a", "job.b"], ("a", "job.b")),
    ("exclude_facets", "a, job.b", ("a", "job.b")),
    ("exclude_facets", '["a"]', ("a",)),
    ("match", '{"keep": []}', {"keep": []}),
    ("match", {"keep": []}, {"keep": []}),
]


@pytest.mark.parametrize(("key", "value", "expected"), GOOD)
def test_a_value_is_read_by_the_rules_of_its_kind(key, value, expected):
    """Strings from variables and Airflow mean the same as typed values from a file."""
    result = coerce.coerce(KEYS[key], found(value))
    assert result == expected
    assert type(result) is type(expected)


BAD = [
    *(("disabled", value) for value in ("maybe", "", 2, 1.5, None, [])),
    *(("compression", value) for value in ("br", "", 1, True)),
    *(("timeout", value) for value in ("0", 0, -1, "5 years", "nan", "inf", "1e999", float("nan"), float("inf"), True)),
    *(("timeout", value) for value in ("", "1_000", "٣", [], 86_401, "5000000")),
    *(("delivery_budget", value) for value in (-0.1, "-1s")),
    *(("concurrency", value) for value in (0, 1.5, "8x", "many")),
    *(("spool_max_bytes", value) for value in (0, "1.5", "1 XB")),
    *(("spool_dir", value) for value in ("", "~nobody-of-that-name/x", 1.5)),
    *(("url", value) for value in ("", "  ", 1.5, True, [])),
    *(("exclude_facets", value) for value in ("", "a,,b", [1], [""], {"a": 1}, "[1]", "[")),
    *(("redact", value) for value in ("(", ["("], [""], "a*", {}, "[1]", [1])),
    *(("match", value) for value in ("{", "", '{"a": }')),
    *(("ca_file", value) for value in ("/nowhere/ca.pem", "/", "a\0b")),
]


@pytest.mark.parametrize(("key", "value"), BAD)
def test_a_value_of_another_kind_is_refused_with_key_and_source(key, value):
    """The message never shows the value: a token may have been written in the wrong place."""
    with pytest.raises(ConfigError) as caught:
        coerce.coerce(KEYS[key], found(value, key))
    assert f"`{key}`" in str(caught.value)
    assert (caught.value.key, caught.value.source) == (key, "file x.toml")


@pytest.mark.parametrize("key", ["disabled", "timeout", "url", "concurrency"])
def test_a_monstrous_number_is_refused(key):
    """Python itself raises where it should turn more than 4,300 digits into text."""
    with pytest.raises(ConfigError):
        coerce.coerce(KEYS[key], found(10**5000))


@pytest.mark.parametrize("key", [key for key in KEYS if KEYS[key].kind not in ("secret", "command", "auth", "headers")])
@pytest.mark.parametrize("value", ["tkn canary,\0", {"tkn_canary": ["tkn_canary"]}, '{"a": "tkn_canary"'])
def test_no_message_shows_a_value(key, value):
    """Whatever kind a secret was mistaken for."""
    shown = ""
    try:
        coerce.coerce(KEYS[key], found(value, key))
    except ConfigError as error:
        shown = f"{error} {error!r} {error.__cause__}"
    assert "canary" not in shown


def test_a_choice_names_the_nearest_word():
    """A slip of one letter costs no look into the manual."""
    with pytest.raises(ConfigError, match=r"one of gzip, none .* Did you mean gzip\?"):
        coerce.coerce(KEYS["compression"], found("gzpi"))


def test_broken_json_tells_the_position():
    """Enough to find it without showing it."""
    with pytest.raises(ConfigError, match="line 2, column 8"):
        coerce.tree(found('{\n  "a": }'))


def test_home_is_expanded_and_a_relative_path_made_absolute(monkeypatch, tmp_path):
    """A later change of folder moves nothing."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert coerce.path(found("~/x")) == tmp_path / "x"
    assert coerce.path(found("x")) == tmp_path / "x"


@pytest.mark.parametrize(
    ("value", "expressions"),
    [
        (["a+", "b"], ["a+", "b"]),
        ('["a+", "b"]', ["a+", "b"]),
        ("a+", ["a+"]),
        ("[0-9]{4}", ["[0-9]{4}"]),
        ("5", ["5"]),
    ],
)
def test_one_expression_needs_no_list(value, expressions):
    """A character class is not mistaken for JSON."""
    assert [pattern.pattern for pattern in coerce.patterns(found(value))] == expressions


def test_an_existing_file_is_taken(tmp_path):
    """Certificates are looked for when the settings are read, not at the first event."""
    (tmp_path / "ca.pem").write_text("x")
    assert coerce.existing_file(found(str(tmp_path / "ca.pem"))) == tmp_path / "ca.pem"
