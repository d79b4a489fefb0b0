"""One destination's settings, checked against each other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

from truewatch_lineage.config import coerce, kafka_settings, urls
from truewatch_lineage.config.credentials import token_source
from truewatch_lineage.config.found import Found
from truewatch_lineage.config.headers import headers
from truewatch_lineage.config.kafka_url import topic_url
from truewatch_lineage.config.keys import KEYS, TOKEN_KEYS
from truewatch_lineage.config.settings import DEFAULT_NAME, DestinationSettings
from truewatch_lineage.config.spelling import DESTINATIONS
from truewatch_lineage.destinations.profile import Profile
from truewatch_lineage.destinations.tokens import TokenSource
from truewatch_lineage.errors import ConfigError
from truewatch_lineage.events.mapping import NameMapper
from truewatch_lineage.events.match import Match

_PLAIN = (
    "auth_method",
    "timeout",
    "ca_file",
    "client_cert",
    "client_key",
    "kafka_config",
    "allow_insecure_http",
    "concurrency",
    "exclude_facets",
    "oversize",
)
"""Settings that need no other to be read, and have the same name in ``DestinationSettings``."""


def build(
    name: str, values: Mapping[str, Found], environ: Mapping[str, str], notices: list[str], *, needs_token: bool
) -> DestinationSettings:
    """Make one destination of its settings.

    Args:
        name: The destination's name.
        values: Its settings by their own names.
        environ: Where ``token_env`` looks.
        notices: Where a sentence about a setting without effect is added.
        needs_token: Whether this process sends, so that a destination that wants a token must have one.

    Raises:
        ConfigError: A setting is malformed, or two of them contradict each other.
    """
    profile = urls.choose_profile(values.get("destination"), values.get("endpoint"), values.get("url"))
    if profile.endpoint:
        kafka_settings.tell_unused(name, values, profile, notices)
        url = urls.final_url(_url(name, values, profile), values.get("endpoint"), profile)
    else:
        kafka_settings.check(values, sends=needs_token)
        url = topic_url(_url(name, values, profile))
    if "endpoint" in values:
        profile = _with_endpoint(profile, urls.clean_endpoint(values["endpoint"]))
    source = _token(name, values, profile, environ, notices)
    if source is None and needs_token and profile.needs_token:
        raise _missing(
            name, f"{profile.label} needs a token, and none is set", "token_file, token_env or token_command"
        )
    given = {key: coerce.coerce(KEYS[key], values[key]) for key in _PLAIN if key in values}
    settings = DestinationSettings(
        name=name,
        profile=profile,
        url=url,
        token_source=source,
        compression=_compression(values, profile),
        headers=headers(values["headers"]) if "headers" in values else {},
        proxy=urls.check_proxy(values["proxy"]) if "proxy" in values else None,
        match=_match(values),
        mapper=_mapper(values),
        **given,
    )
    _check(settings, values)
    return settings


def _url(name: str, values: Mapping[str, Found], profile: Profile) -> Found:
    if "url" in values:
        return values["url"]
    if profile.default_url is None:
        raise _missing(name, f"{profile.label} needs a url, and none is set", "url")
    return Found(profile.default_url, "url", "default")


def _with_endpoint(profile: Profile, endpoint: str) -> Profile:
    """Let what is said where nothing answers blame an endpoint of the user's own, not the url."""
    if endpoint == profile.endpoint:
        return profile
    return replace(profile, missing=f"Check the endpoint: {profile.label} has {profile.endpoint}, not {endpoint}.")


def _missing(name: str, problem: str, keys: str) -> ConfigError:
    key = keys.partition(",")[0]
    where = f"for instance by {KEYS[key].variable}" if name == DEFAULT_NAME else f"in {DESTINATIONS}.{name}"
    return ConfigError(f"Destination `{name}`: {problem}.", key=key, fix=f"Set {keys}, {where}.")


def _token(
    name: str, values: Mapping[str, Found], profile: Profile, environ: Mapping[str, str], notices: list[str]
) -> TokenSource | None:
    if profile.sends_token:
        return token_source(values, environ)
    if found := next((values[key] for key in TOKEN_KEYS if key in values), None):
        notices.append(f"`{found.key}` (from {found.source}) has no effect: {profile.label} ({name}) is sent no token.")
    return None


def _compression(values: Mapping[str, Found], profile: Profile) -> Any:
    return coerce.coerce(KEYS["compression"], values["compression"]) if "compression" in values else profile.compression


def _match(values: Mapping[str, Found]) -> Match | None:
    found = values.get("match")
    if found is None:
        return None
    try:
        return Match.from_config(coerce.tree(found))
    except ConfigError as error:
        raise _placed(error, found) from None


def _mapper(values: Mapping[str, Found]) -> NameMapper | None:
    given = {key: values[key] for key in ("map_namespaces", "map_names") if key in values}
    if not given:
        return None
    trees = {key: coerce.tree(found) for key, found in given.items()}
    try:
        return NameMapper.from_config(trees.get("map_namespaces"), trees.get("map_names"))
    except ConfigError as error:
        raise _placed(error, *given.values()) from None


def _placed(error: ConfigError, *found: Found) -> ConfigError:
    """Say where the tree was written that another module found fault with."""
    if error.source is None:
        error.source = " and ".join(dict.fromkeys(one.source for one in found))
    return error


def _check(settings: DestinationSettings, values: Mapping[str, Found]) -> None:
    """Check what depends on more than one setting."""
    if settings.client_key and not settings.client_cert:
        raise values["client_key"].error("needs client_cert", "Name the certificate's file in client_cert.")
    if settings.auth_method == "query" and not _allows_query_token(values):
        raise values["auth_method"].error(
            "can't be query unless allow_query_token is true",
            "Use bearer or x_token: a token in a url is written to the logs of every proxy on the way.",
        )
    if settings.token_source and not settings.allow_insecure_http:
        _check_encrypted(settings, values)


def _allows_query_token(values: Mapping[str, Found]) -> bool:
    return "allow_query_token" in values and coerce.flag(values["allow_query_token"])


def _check_encrypted(settings: DestinationSettings, values: Mapping[str, Found]) -> None:
    address = urlsplit(settings.url)
    if address.scheme == "http" and not urls.is_loopback(address.hostname or ""):
        raise values["url"].error(
            "would send the token unencrypted to another machine",
            "Use https, or set allow_insecure_http: true where the network itself is safe.",
        )
