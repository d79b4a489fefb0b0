"""No token is ever shown, whichever way it was given and whatever is wrong."""

import json
import logging
import traceback

import pytest

from truewatch_lineage.config import load
from truewatch_lineage.errors import ConfigError

CANARY = "tkn_canary_0123456789abcdef"

KINDS = {
    "token": lambda text: ({"token": text}, {}),
    "api_key": lambda text: ({"api_key": text}, {}),
    "auth": lambda text: ({"auth": {"type": "api_key", "apiKey": text}}, {}),
    "auth text": lambda text: ({"auth": json.dumps({"type": "api_key", "apiKey": text})}, {}),
    "variable": lambda text: ({}, {"TRUEWATCH_LINEAGE_TOKEN": text}),
    "auth variable": lambda text: ({}, {"TRUEWATCH_LINEAGE_AUTH": json.dumps({"apiKey": text})}),
    "upstream's variable": lambda text: ({"token": text}, {"OPENLINEAGE__TRANSPORT__TOKEN": json.dumps(text)}),
    "token_env": lambda text: ({"token_env": "MY_TOKEN"}, {"MY_TOKEN": text}),
    "token_env's place": lambda text: ({"token_env": text}, {}),
    "token_file's place": lambda text: ({"token_file": text}, {}),
    "token_command": lambda text: ({"token_command": ["printf", "%s", text.replace("\0", "")]}, {}),
    "token_command's place": lambda text: ({"token_command": [text]}, {}),
}
FAULTS = {
    "right": CANARY,
    "space": f"{CANARY} x",
    "line break": f"{CANARY}\r\nX-Other: x",
    "NUL": f"{CANARY}\0",
    "letter": f"{CANARY}é",
    "Bearer": f"Bearer {CANARY}",
    "quotes": f'"{CANARY}"',
}


def shown(error):
    """All that may reach a log: message, repr, fields and traceback."""
    return f"{error}{error!r}{vars(error)}{''.join(traceback.format_exception(error))}"


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_a_token_is_shown_nowhere(kind, fault, caplog):
    """Settings, sources, logs, errors and notices; tokens right and wrong."""
    caplog.set_level(logging.DEBUG)
    params, environ = kind(fault)
    texts = []
    try:
        settings = load({"url": "https://h", **params}, environ=environ)
        source = settings.destinations[0].token_source
        texts = [repr(settings), str(settings), repr(source), str(source), source.describe()]
        texts.append(repr(source.get()))
        texts += [repr(source), source.describe()]
    except ConfigError as error:
        texts.append(shown(error))
    assert "canary" not in "".join(texts) + caplog.text


MISPLACED = [
    {"url": f"https://u:{CANARY}@h"},
    {"url": f"https://h?token={CANARY}"},
    {"url": CANARY},
    {"endpoint": f"/x?token={CANARY}"},
    {"destination": CANARY},
    {"delivery": CANARY},
    {"timeout": CANARY},
    {"concurrency": CANARY},
    {"spool_max_bytes": CANARY},
    {"allow_insecure_http": CANARY},
    {"compression": CANARY},
    {"auth_method": CANARY},
    {"headers": {"X-Token": CANARY}},
    {"headers": {"X-A": f"a\n{CANARY}"}},
    {"headers": f'{{"X-Token": "{CANARY}"'},
    {"proxy": f"socks5://u:{CANARY}@p"},
    {"urlParams": {"token": CANARY}},
    {"airflow_conn_id": CANARY, "token": None},
    {"auth": f'{{"apiKey": "{CANARY}"'},
    {"auth": CANARY},
    {"destinations": f'{{"a": {{"token": "{CANARY}"'},
    {"destinations": {"a": {"token": CANARY, "token_file": CANARY}}},
    {"destinations": {"a": CANARY}},
    {"redact": f"({CANARY}"},
    {"ca_file": CANARY},
    {"match": CANARY},
    {"map_names": CANARY},
    {"map_namespaces": CANARY},
    {"tokne": CANARY},
    {"token": [CANARY]},
    {"token": {CANARY: CANARY}},
]


@pytest.mark.parametrize("written", MISPLACED, ids=lambda written: next(iter(written)))
@pytest.mark.parametrize("by_variable", [False, True])
def test_a_token_in_the_wrong_place_is_refused_without_being_shown(written, by_variable):
    """The commonest accident; the error ends in a job's public log."""
    base = {"url": "https://h", "token": "tkn_base"}
    if {"token", "auth", "airflow_conn_id"} & set(written):
        del base["token"]
    if "destinations" in written:
        base = {}
    environ = {}
    if by_variable:
        values = {
            key: value if isinstance(value, str) else json.dumps(value) for key, value in written.items() if value
        }
        environ = {f"TRUEWATCH_LINEAGE_{key.upper()}": value for key, value in values.items()}
        base = {key: value for key, value in base.items() if key not in written}
    with_token = {} if by_variable else written
    try:
        seen = repr(load({**base, **with_token}, environ=environ))
    except ConfigError as error:
        seen = shown(error)
    assert "canary" not in seen


def test_passwords_of_proxies_and_headers_stay_out_of_the_repr():
    """They are kept, but not printed."""
    settings = load(
        {
            "url": "https://h",
            "token": CANARY,
            "proxy": "http://u:canary@p:1",
            "headers": {"X-A": "canary"},
            "redact": "canary",
        },
        environ={},
    )
    assert settings.destinations[0].proxy == "http://u:canary@p:1"
    assert "canary" not in f"{settings!r}{settings}"
