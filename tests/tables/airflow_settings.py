"""Where settings come from in Airflow: each situation, and what its first destination is to come to.

Of ``error``, the text must stand in the message.
"""

from __future__ import annotations

import json
from typing import Any

URI = "truewatch://:tkn_of_the_uri@openway.example.com"
AS_JSON = json.dumps(
    {
        "conn_type": "truewatch",
        "host": "https://portal.example.com/base",
        "password": "tkn_of_the_json",
        "extra": {"destination": "portal", "timeout": "7", "extra__truewatch__auth_method": "bearer", "ca_file": ""},
    }
)
EXTRA_ONLY = json.dumps({"conn_type": "http", "extra": {"my_key": "tkn_my_key", "token": "tkn_usual", "verify": False}})
DEFAULT = "AIRFLOW_CONN_TRUEWATCH_DEFAULT"
OTHER = "AIRFLOW_CONN_OTHER"
TOKEN = "AIRFLOW__TRUEWATCH__TOKEN"
SECTION_URL = "AIRFLOW__TRUEWATCH__URL"


def _situation(environ: dict[str, str], **params: Any) -> dict[str, Any]:
    return {"environ": environ, "params": params}


SITUATIONS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "connection by uri": (
        _situation({DEFAULT: URI}),
        {"url": "https://openway.example.com/v1/write/openlineage", "token": "tkn_of_the_uri", "name": "default"},
    ),
    "connection by json": (
        _situation({DEFAULT: AS_JSON}),
        {
            "url": "https://portal.example.com/base/api/data-registry/lineage",
            "kind": "portal",
            "token": "tkn_of_the_json",
            "timeout": 7.0,
            "source": "Airflow connection 'truewatch_default'",
        },
    ),
    "connection with scheme, port and path": (
        _situation({DEFAULT: "truewatch://:t@gw.example.com:8443/http?allow_insecure_http=true"}),
        {"url": "http://gw.example.com:8443/v1/write/openlineage"},
    ),
    "loopback without scheme": (
        _situation({DEFAULT: "truewatch://:t@127.0.0.1:9529"}),
        {"url": "http://127.0.0.1:9529/v1/write/openlineage"},
    ),
    "datakit needs no token": (
        _situation({DEFAULT: "truewatch://?destination=datakit"}),
        {"url": "http://127.0.0.1:9529/openlineage/api/v1/lineage", "token": None},
    ),
    "connection named by the dict": (
        _situation({DEFAULT: URI, OTHER: AS_JSON}, airflow_conn_id="other"),
        {"kind": "portal", "token": "tkn_of_the_json", "source": "Airflow connection 'other'"},
    ),
    "connection named by a variable": (
        _situation({DEFAULT: URI, OTHER: AS_JSON, "TRUEWATCH_LINEAGE_AIRFLOW_CONN_ID": "other"}),
        {"token": "tkn_of_the_json"},
    ),
    "connection named by the section": (
        _situation({DEFAULT: URI, OTHER: AS_JSON, "AIRFLOW__TRUEWATCH__AIRFLOW_CONN_ID": "other"}),
        {"token": "tkn_of_the_json"},
    ),
    "key by key: dict over variable over section over connection": (
        _situation(
            {
                DEFAULT: AS_JSON,
                "TRUEWATCH_LINEAGE_AUTH_METHOD": "x_token",
                "AIRFLOW__TRUEWATCH__AUTH_METHOD": "bearer",
                "AIRFLOW__TRUEWATCH__DELIVERY_BUDGET": "1.5",
                SECTION_URL: "https://section.example.com",
                "AIRFLOW__TRUEWATCH__TIMEOUT": "8",
            },
            timeout=9,
        ),
        {
            "timeout": 9.0,
            "auth_method": "x_token",
            "url": "https://section.example.com/api/data-registry/lineage",
            "token": "tkn_of_the_json",
            "budget": 1.5,
        },
    ),
    "the section's token wins whole": (
        _situation({DEFAULT: URI, TOKEN: "tkn_$HOME~%s"}),
        {"token": "tkn_$HOME~%s", "url": "https://openway.example.com/v1/write/openlineage"},
    ),
    "a token that looks like a number": (_situation({DEFAULT: URI, TOKEN: "9e12"}), {"token": "9e12"}),
    "the section alone": (
        _situation({SECTION_URL: "https://section.example.com", TOKEN: "tkn_section"}),
        {"url": "https://section.example.com/v1/write/openlineage", "token": "tkn_section"},
    ),
    "the section's option for the interface is no setting": (
        _situation({DEFAULT: URI, "AIRFLOW__TRUEWATCH__LINEAGE_URL": "https://x"}),
        {"token": "tkn_of_the_uri"},
    ),
    "auth by a connection's password": (
        _situation({OTHER: AS_JSON}, url="https://h", auth={"type": "airflow_connection_api_key", "conn_id": "other"}),
        {"url": "https://h/v1/write/openlineage", "token": "tkn_of_the_json", "kind": "dataway"},
    ),
    "auth by a key of a connection's extra": (
        _situation(
            {OTHER: EXTRA_ONLY},
            url="https://h",
            auth={"type": "airflow_connection_api_key", "conn_id": "other", "extra_key": "my_key"},
        ),
        {"token": "tkn_my_key"},
    ),
    "auth by a usual key of a connection's extra": (
        _situation(
            {OTHER: EXTRA_ONLY}, url="https://h", auth={"type": "airflow_connection_api_key", "conn_id": "other"}
        ),
        {"token": "tkn_usual"},
    ),
    "a named destination takes its connection": (
        _situation({DEFAULT: URI, OTHER: AS_JSON}, destinations={"portal": {"airflow_conn_id": "other"}}),
        {"name": "portal", "kind": "portal", "token": "tkn_of_the_json"},
    ),
    "a named destination with a url takes the token": (
        _situation({OTHER: AS_JSON}, destinations={"prod": {"url": "https://h", "airflow_conn_id": "other"}}),
        {"name": "prod", "kind": "dataway", "token": "tkn_of_the_json", "url": "https://h/v1/write/openlineage"},
    ),
    "nothing": (_situation({}), {"error": "No destination is set"}),
    "a connection that is not there": (_situation({}, airflow_conn_id="gone"), {"error": "connection 'gone' is not"}),
    "a token in the place of the name": (
        _situation({}, airflow_conn_id="tkn_canary"),
        {"error": "The connection named by airflow_conn_id is not defined"},
    ),
    "a connection without a token": (
        _situation({DEFAULT: "truewatch://openway.example.com"}),
        {"error": "needs a token, and none is set"},
    ),
    "a token with a space": (_situation({DEFAULT: "truewatch://:a%20canary@h"}), {"error": "holds a space"}),
    "an unknown key in the extra": (
        _situation({DEFAULT: "truewatch://:t@h?timout=canary"}),
        {"error": "`extra.timout` (from Airflow connection 'truewatch_default'). Did you mean timeout?"},
    ),
    "a setting of the whole in the extra": (
        _situation({DEFAULT: "truewatch://:t@h?spool_dir=canary"}),
        {"error": "Write it in the section [truewatch]"},
    ),
    "a command in the extra": (
        _situation({DEFAULT: "truewatch://:t@h?token_command=canary"}),
        {"error": "names another source of the token, which a connection may not"},
    ),
    "an unknown option of the section": (
        _situation({DEFAULT: URI, "AIRFLOW__TRUEWATCH__TIMOUT": "canary"}),
        {"error": "`timout` (from environment variable AIRFLOW__TRUEWATCH__TIMOUT). Did you mean timeout?"},
    ),
    "an empty token": (
        _situation({DEFAULT: URI, TOKEN: ""}),
        {"error": "is empty"},
    ),
    "a schema that is none": (
        _situation({DEFAULT: "truewatch://:t@h/canary"}),
        {"error": "`schema` must be https or http"},
    ),
    "host and url": (
        _situation({DEFAULT: "truewatch://:t@h?url=https%3A%2F%2Fcanary"}),
        {"error": "says the same as host"},
    ),
    "disabled asks for nothing": (
        _situation({"TRUEWATCH_LINEAGE_DISABLED": "1"}, airflow_conn_id="gone"),
        {"destinations": 0},
    ),
}
