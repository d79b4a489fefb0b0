"""Airflow connections: what they say of a destination, and the token they hold."""

from __future__ import annotations

import logging
import math
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urlsplit

from truewatch_lineage.config.found import Found
from truewatch_lineage.config.keys import BY_SPELLING, TOKEN_KEYS, fold
from truewatch_lineage.config.spelling import suggestion, unknown
from truewatch_lineage.config.urls import is_loopback
from truewatch_lineage.destinations.tokens import Token
from truewatch_lineage.errors import TokenError, TokenLateError
from truewatch_lineage_airflow import compat, lookup
from truewatch_lineage_airflow.hook_fields import CONN_TYPE

log = logging.getLogger(__name__)

FRESH_SECONDS: Final = 5.0
"""How long what Airflow said of a connection stands in a process: its settings and its token are asked for together."""

TOKEN_EXTRAS: Final = ("apiKey", "api_key", "apikey", "token", "access_token")
"""Keys of a connection's extra that may hold the token, as Airflow's OpenLineage provider looks for them."""

LEAST_SECRET: Final = 8
"""Characters; what is shorter is not masked, as it would be masked in words too (as in the core's redaction)."""

_FORM_PREFIX: Final = f"extra__{CONN_TYPE}__"
"""What Airflow's older forms put before the names of a connection type's own fields."""

_TOKEN_FIX: Final = "Put the token into the connection's password."  # noqa: S105 - advice
_LOOKS_SECRET: Final = re.compile(r"tkn_|bearer\b|.{101}", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Fetched:
    """What Airflow said of a connection.

    Attributes:
        conn_id: The connection's name.
        conn_type: Its type; ``truewatch``, unless another's is used.
        host: Its host, with or without scheme.
        schema: ``https`` or ``http``, where the host has no scheme.
        port: Its port.
        has_login: Whether it has a login, which no destination asks for.
        password: The token.
        extra: Its extra, as a mapping; possibly with a token in it.
        at: When it was asked for, by ``time.monotonic()``.
    """

    conn_id: str
    conn_type: str
    host: str
    schema: str
    port: int | None
    has_login: bool
    password: str = field(repr=False)
    extra: Mapping[str, Any] = field(repr=False)
    at: float

    def token_text(self, extra_key: str | None = None) -> str | None:
        """Return the token: the password, else what ``extra_key`` or one of `TOKEN_EXTRAS` names in the extra."""
        keys = (extra_key,) if extra_key else TOKEN_EXTRAS
        return self.password or next((str(self.extra[key]) for key in keys if self.extra.get(key)), None)

    def secrets(self) -> list[str]:
        """Return the texts that may be a token: the password, and what in the extra is no setting."""
        extra = [value for key, value in self.extra.items() if key in TOKEN_EXTRAS or fold(key) not in BY_SPELLING]
        return [text for text in (self.password, *extra) if isinstance(text, str) and len(text) >= LEAST_SECRET]


_recent: Final[dict[str, Fetched]] = {}
_failed: Final[dict[str, tuple[float, TokenError]]] = {}


def describe(conn_id: str) -> str:
    """Name a connection for people, unless a token may have been written in the place of its name."""
    return (
        "the connection named by airflow_conn_id" if _LOOKS_SECRET.match(conn_id) else f"Airflow connection '{conn_id}'"
    )


def get_connection(conn_id: str, *, refresh: bool = True, within: float = math.inf) -> Fetched:
    """Ask Airflow for a connection: its secrets backends, the environment, then its database or API server.

    Args:
        conn_id: The connection's name.
        refresh: False to take what was said, or went wrong, in the last `FRESH_SECONDS`.
        within: Seconds it may take.

    Raises:
        TokenLateError: Airflow has not answered yet, or can't for a reason that may pass.
        TokenError: There is no such connection, as far as Airflow can tell: where one of its backends fails it goes on
            to the next, so that this may pass as well.
    """
    now = time.monotonic()
    if not refresh:
        if (recent := _recent.get(conn_id)) and now - recent.at < FRESH_SECONDS:
            return recent
        if (failed := _failed.get(conn_id)) and now - failed[0] < FRESH_SECONDS:
            raise failed[1].with_traceback(None)
    try:
        fetched = _asked(conn_id, within)
    except TokenError as error:
        _failed[conn_id] = (time.monotonic(), error)
        raise
    _failed.pop(conn_id, None)
    _recent[conn_id] = fetched
    return fetched


def recent(conn_id: str) -> Fetched | None:
    """Return what Airflow said of a connection in the last `FRESH_SECONDS`, without asking it."""
    fetched = _recent.get(conn_id)
    return fetched if fetched and time.monotonic() - fetched.at < FRESH_SECONDS else None


def _asked(conn_id: str, within: float) -> Fetched:
    problem: tuple[type[TokenError], str]
    try:
        get = compat.connection_getter()  # outside of the time: its imports may take seconds on a busy machine
        return lookup.ask(f"connection {conn_id}", lambda: _fetch(get, conn_id), within)
    except TimeoutError:
        problem = TokenLateError, "has not been found yet: Airflow has not answered in time"
    except compat.not_found() as error:
        # Airflow says so by subclasses of its own for what is denied, too; the text may hold whatever a backend says.
        problem = TokenError, f"is not defined, or can't be reached ({type(error).__name__})"
    except Exception as error:  # noqa: BLE001 - backends are anybody's code, and what they raise may quote a secret
        problem = TokenLateError, f"can't be looked up now ({type(error).__name__})"
    kind, text = problem
    shown = describe(conn_id)
    raise kind(
        f"{shown[0].upper()}{shown[1:]} {text}.",
        key="airflow_conn_id",
        fix="See that `airflow connections get` shows it, and that Airflow's secrets backends answer.",
    )


def _fetch(get: Callable[[str], Any], conn_id: str) -> Fetched:
    at = time.monotonic()
    found = get(conn_id)
    fetched = Fetched(
        conn_id=conn_id,
        conn_type=(found.conn_type or "").replace("-", "_"),
        host=(found.host or "").strip(),
        schema=(found.schema or "").strip(),
        port=found.port or None,
        has_login=bool(found.login),
        password=found.password or "",
        extra=_plain(found.extra_dejson),
        at=at,
    )
    # Here and not by whoever uses it: this may be another thread, which alone may wait for Airflow's supervisor.
    for text in fetched.secrets():
        compat.mask(text)
    return fetched


def _plain(extra: object) -> dict[str, Any]:
    """Return an extra without what an empty field of a form leaves, and without the forms' prefix."""
    if not isinstance(extra, Mapping):
        return {}
    return {str(key).removeprefix(_FORM_PREFIX): value for key, value in extra.items() if value not in (None, "")}


def to_values(connection: Fetched) -> dict[str, Any]:
    """Return what a connection says of a destination, as settings; never its token, only that it has one.

    Raises:
        ConfigError: Its host, schema and port are no url, or its extra holds what is no setting of a destination.
    """
    source = describe(connection.conn_id)
    values = {
        name: value
        for key, value in connection.extra.items()
        if (name := _setting(connection, Found(value, f"extra.{key}", source), key))
    }
    if connection.has_login:
        log.info("The login of %s has no effect: no destination asks for a user.", source)
    if url := _url(connection, source):
        if "url" in values:
            raise Found(None, "extra.url", source).error("says the same as host", "Leave one of them out.")
        values["url"] = url
    if connection.token_text():
        values["airflow_conn_id"] = connection.conn_id
    return values


def _setting(connection: Fetched, found: Found, key: str) -> str | None:
    """Return the name of the setting that a key of the extra is, or None for one that is passed over."""
    known = BY_SPELLING.get(fold(key))
    if key in TOKEN_EXTRAS:
        return None
    if known is None or known.scope != "destination":
        if connection.conn_type != CONN_TYPE:
            return None  # another type's own, such as those of http
        if known is None:
            raise unknown(found, suggestion(key, ("destination",)))
        raise found.error(
            "is a setting of the whole", "Write it in the section [truewatch] of Airflow's configuration."
        )
    if known.name in TOKEN_KEYS:
        # Who may edit connections need not be one who may run commands on workers, or read files there.
        raise found.error("names another source of the token, which a connection may not", _TOKEN_FIX)
    return known.name


def _url(connection: Fetched, source: str) -> str | None:
    host, port = connection.host, connection.port
    if not host:
        return None
    if "://" not in host:
        host = f"{_scheme(connection, source)}://{host}"
    if port is None:
        return host
    scheme, _, rest = host.partition("://")
    name, slash, path = rest.partition("/")
    if _has_port(host):
        raise Found(None, "port", source).error("stands in the host as well", "Leave one of them out.")
    return f"{scheme}://{name}:{port}{slash}{path}"


def _scheme(connection: Fetched, source: str) -> str:
    if connection.schema.lower() in ("http", "https"):
        return connection.schema.lower()
    if connection.schema:
        raise Found(None, "schema", source).error(
            "must be https or http, or empty", "A path belongs to the host, after the name: openway.example/prefix."
        )
    name = re.split(r"[:/]", connection.host, maxsplit=1)[0]
    return "http" if is_loopback(name) else "https"


def _has_port(url: str) -> bool:
    try:
        return urlsplit(url).port is not None
    except ValueError:  # what reads the url says what is wrong with it
        return False


class ConnectionToken:
    """The token of an Airflow connection, asked for when it is sent and kept until it is refused.

    Args:
        conn_id: The connection's name.
        extra_key: The key of its extra that holds the token, where the password is empty; else one of `TOKEN_EXTRAS`.
    """

    __slots__ = ("_at", "_conn_id", "_extra_key", "_token")

    def __init__(self, conn_id: str, extra_key: str | None = None) -> None:
        self._conn_id = conn_id
        self._extra_key = extra_key
        self._token: Token | None = None
        self._at = 0.0

    def __repr__(self) -> str:
        return f"ConnectionToken({self.describe()})"

    @property
    def conn_id(self) -> str:
        """The connection's name."""
        return self._conn_id

    def get(self, *, refresh: bool = False, within: float = math.inf) -> Token:
        """Return the token; ask Airflow the first time and whenever ``refresh`` is set.

        Args:
            refresh: Ask, though the last token is known.
            within: Seconds it may take.

        Raises:
            TokenLateError: Airflow has not answered yet, or can't for a reason that may pass.
            TokenError: There is no such connection, or no legal token in it.
        """
        if self._token is not None and not refresh:
            return self._token
        return self._take(get_connection(self._conn_id, refresh=refresh, within=within))

    def known(self) -> Token | None:
        """Return the token if Airflow has told it.

        Raises:
            TokenError: The connection has no legal token.
        """
        if self._token is None and (fetched := recent(self._conn_id)):
            return self._take(fetched)
        return self._token

    def describe(self) -> str:
        """Name the connection."""
        return describe(self._conn_id)

    def age(self) -> float | None:
        """Return the seconds since Airflow told the token, or None if it has not."""
        return None if self._token is None else time.monotonic() - self._at

    def _take(self, fetched: Fetched) -> Token:
        text = fetched.token_text(self._extra_key)
        if text is None:
            where = f"a key {self._extra_key} in its extra" if self._extra_key else "a password"
            raise TokenError(
                f"{self.describe()} has no token: it needs {where}.", key="airflow_conn_id", fix=_TOKEN_FIX
            )
        self._token = Token.parse(text, source=self.describe(), key="airflow_conn_id")
        self._at = fetched.at
        return self._token
