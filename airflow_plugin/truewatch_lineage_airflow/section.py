"""The section ``[truewatch]`` of Airflow's configuration, and the token that it leads to."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Iterator, Mapping
from typing import Any, Final

from truewatch_lineage.config import Layer
from truewatch_lineage.config.found import Found
from truewatch_lineage.config.keys import TOKEN_KEYS
from truewatch_lineage.destinations.tokens import Token
from truewatch_lineage.errors import TokenError, TokenLateError
from truewatch_lineage_airflow import compat, lookup

SECTION: Final = "truewatch"
NAME: Final = "[truewatch] of Airflow's configuration"
PREFIX: Final = "AIRFLOW__TRUEWATCH__"

OWN_OPTIONS: Final = frozenset({"lineage_url"})
"""Options of the section that are no settings of the core."""

_INDIRECT: Final = ("token_cmd", "token_secret")
_KEY: Final = f"[{SECTION}] token"


def section_layer(environ: Mapping[str, str] = os.environ) -> Layer | None:
    """Return what is written in ``[truewatch]``, in ``airflow.cfg`` or as ``AIRFLOW__TRUEWATCH__*``; None for nothing.

    Where the token comes by a command or a secrets backend, it is asked for when it is sent.

    Args:
        environ: Where the variables are looked for.

    Raises:
        ConfigError: Airflow can't read an option of it.
    """
    conf = compat.conf()
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for option in _written(conf, environ):
        variable = PREFIX + option.upper()
        source = f"environment variable {variable}" if variable in environ else NAME
        if option in _INDIRECT:
            values["token"] = ConfigToken(source if variable in environ else f"{option} in {NAME}")
            origins["token"] = source
        elif option not in values:
            # Airflow expands ~ and $ in a variable; a token is taken as it is.
            is_as_it_is = option == "token" and variable in environ
            text = environ[variable] if is_as_it_is else _get(conf, option, source)
            if text or option in TOKEN_KEYS:  # an empty token is a secret that failed to arrive
                values[option], origins[option] = text, source
    return Layer(NAME, values, origins) if values else None


def _get(conf: Any, option: str, source: str) -> str | None:
    try:
        text: str | None = conf.get(SECTION, option, fallback=None)
    except Exception as error:  # noqa: BLE001 - of configparser or Airflow; its text quotes the value
        kind = type(error).__name__
    else:
        return text
    raise Found(None, option, source).error(
        f"can't be read by Airflow ({kind})", "In airflow.cfg, write each percent sign twice."
    )


def _written(conf: Any, environ: Mapping[str, str]) -> Iterator[str]:
    """Give the options that somebody wrote, those that lead to the token first."""
    found = {name.removeprefix(PREFIX).lower() for name in environ if name.startswith(PREFIX)}
    if conf.has_section(SECTION):
        found.update(conf.options(SECTION))
    yield from (option for option in _INDIRECT if option in found)
    yield from sorted(found.difference(_INDIRECT, OWN_OPTIONS))


class ConfigToken:
    """The token that Airflow's configuration gets by a command or from a secrets backend, kept until it is refused.

    Args:
        origin: Which option leads to it, for people.
    """

    __slots__ = ("_at", "_origin", "_token")

    def __init__(self, origin: str) -> None:
        self._origin = origin
        self._token: Token | None = None
        self._at = 0.0

    def __repr__(self) -> str:
        return f"ConfigToken({self._origin})"

    def get(self, *, refresh: bool = False, within: float = math.inf) -> Token:
        """Return the token; have Airflow get it the first time and whenever ``refresh`` is set.

        Args:
            refresh: Get it, though the last one is known.
            within: Seconds it may take.

        Raises:
            TokenLateError: It takes longer.
            TokenError: Airflow can't get it, or it is no legal token.
        """
        if self._token is None or refresh:
            self._token, self._at = self._asked(within), time.monotonic()
        return self._token

    def known(self) -> Token | None:
        """Return the token if Airflow has got it."""
        return self._token

    def describe(self) -> str:
        """Name the option."""
        return self._origin

    def age(self) -> float | None:
        """Return the seconds since Airflow got the token, or None if it has not."""
        return None if self._token is None else time.monotonic() - self._at

    def _asked(self, within: float) -> Token:
        try:
            text = lookup.ask(_KEY, _configured, within)
        except TimeoutError:
            raise self._error(TokenLateError, "has not been got yet: Airflow has not answered in time") from None
        except Exception as error:  # noqa: BLE001 - a command's or backend's, whose text may quote the secret
            kind = type(error).__name__
        else:
            if text is None:
                raise self._error(TokenError, "is empty: the command or the secrets backend gives none")
            return Token.parse(text, source=self._origin, key="token")
        raise self._error(TokenError, f"can't be got ({kind})")

    def _error(self, kind: type[TokenError], problem: str) -> TokenError:
        fix = "See that `airflow config get-value truewatch token` finds it on this machine."
        return kind(f"The token of {self._origin} {problem}.", key="token", fix=fix)


def _configured() -> str | None:
    text = compat.conf().get(SECTION, "token", fallback=None)
    if text:
        compat.mask(text.strip())
    return text or None
