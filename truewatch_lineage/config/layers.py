"""The levels settings come from, each a name and a mapping."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from truewatch_lineage.config.keys import PREFIX
from truewatch_lineage.config.spelling import is_known, names_token, suggestion
from truewatch_lineage.errors import ConfigError

CONFIG_VARIABLE: Final = "TRUEWATCH_LINEAGE_CONFIG"
"""The variable that names the TOML file."""

OWN_VARIABLES: Final = frozenset(
    {CONFIG_VARIABLE} | {f"TRUEWATCH_LINEAGE_DBT_{name}" for name in ("PLUGIN", "META", "VARS")}
)
"""Variables with our prefix that are no settings."""


@dataclass(frozen=True, slots=True)
class Layer:
    """One level of settings.

    Attributes:
        name: What people know it by, such as ``the transport's settings`` or a file's path.
        values: The settings as written, in any spelling; never shown.
        origins: Where a single one came from, where that says more than ``name``.
        base: The folder that relative paths in it start from, or None for the working folder.
    """

    name: str
    values: Mapping[str, Any] = field(repr=False)
    origins: Mapping[str, str] = field(default_factory=dict)
    base: Path | None = None

    def origin(self, key: str) -> str:
        """Tell where the top-level ``key`` was written."""
        return self.origins.get(key, self.name)


def environment_layer(environ: Mapping[str, str], notices: list[str]) -> Layer:
    """Collect ``TRUEWATCH_LINEAGE_*``.

    An empty variable counts as not set, as ``${X:-}`` in a compose file leaves it, but for those that name a token: an
    empty one is a secret that failed to arrive, and taking a lower level's token instead could reach the wrong place.

    Args:
        environ: The environment.
        notices: Where a sentence for each unknown variable is added.
    """
    values: dict[str, str] = {}
    origins: dict[str, str] = {}
    for variable in sorted(name for name in environ if name.startswith(PREFIX)):
        if variable in OWN_VARIABLES or "_SERVICE_" in variable or "_PORT" in variable:
            continue  # the last two: what Kubernetes injects for a service of that name
        key = variable[len(PREFIX) :].lower()
        if not is_known(key):
            notices.append(f"{variable} is no setting and has no effect. {suggestion(key, spell=_variable)}")
        elif environ[variable] or names_token(key):
            values[key] = environ[variable]
            origins[key] = f"environment variable {variable}"
    return Layer("the environment", values, origins)


def _variable(name: str) -> str:
    return f"{PREFIX}{name.upper()}"


def file_layer(environ: Mapping[str, str]) -> Layer | None:
    """Read the TOML file that ``TRUEWATCH_LINEAGE_CONFIG`` names, or return None where it names none.

    Raises:
        ConfigError: The file can't be read, or is no TOML; its text, which may hold a token, is not shown.
    """
    name = environ.get(CONFIG_VARIABLE)
    if not name:
        return None
    try:
        path = Path(name).expanduser().absolute()
        return Layer(f"file {path}", _parse(path), base=path.parent)
    except (OSError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or "the user after ~ is unknown"
    raise ConfigError(
        f"The settings file {name} can't be read: {reason}.",
        key=CONFIG_VARIABLE,
        source=f"environment variable {CONFIG_VARIABLE}",
        fix=f"Let {CONFIG_VARIABLE} name a TOML file this user may read, or unset it.",
    )


def _parse(path: Path) -> dict[str, Any]:
    import sys  # noqa: PLC0415 - beside the choice it makes

    if sys.version_info >= (3, 11):  # lazily, as few have a file
        import tomllib  # noqa: PLC0415
    else:
        import tomli as tomllib  # noqa: PLC0415
    try:
        return tomllib.loads(path.read_bytes().decode("utf-8-sig"))
    except UnicodeDecodeError:
        where = "it is not UTF-8"
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        position = re.search(r"\(at [a-z0-9 ,]+\)$", str(error))
        where = position.group().strip("()") if position else "it is malformed"
    raise ConfigError(f"The settings file is no TOML: {where}.", source=f"file {path}")
