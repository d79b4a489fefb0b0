"""The OpenLineage transport: `type` is ``truewatch_lineage.TrueWatchTransport``.

The only module of the core that imports openlineage.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from openlineage.client.transport import Config, Transport, get_default_factory

from truewatch_lineage.config import Settings, load
from truewatch_lineage.errors import ConfigError
from truewatch_lineage.injection import KIND, InjectableConfig, InjectableTransport, injectable
from truewatch_lineage.pipeline import Pipeline
from truewatch_lineage.program import runs_in_airflow

ALIAS = "truewatch"


class TrueWatchConfig(InjectableConfig, Config):
    """The settings as the transport is given them.

    Args:
        settings: Merged and checked.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    @classmethod
    def from_dict(cls, params: dict[str, Any]) -> TrueWatchConfig:
        """Merge the transport's dict with the environment, the file and the defaults.

        Args:
            params: The transport's settings (docs/settings.md); never changed.

        Raises:
            ConfigError: If a setting is unknown or wrong; the message says which and how to mend it.
        """
        return cls(load(params))


class TrueWatchTransport(InjectableTransport, Transport):
    """Delivers OpenLineage events to TrueWatch, DataKit, Spotify Portal or another OpenLineage endpoint.

    ``emit()`` ends once the event is safe on disk, then tries within ``delivery_budget`` to deliver it; it returns
    None and never raises. See docs/delivery.md for what is promised.

    Args:
        config: The settings, or a mapping of them.

    Raises:
        ConfigError: If a setting is unknown or wrong.
    """

    kind: str | None = ALIAS
    config_class: type[Config] = TrueWatchConfig

    def __init__(self, config: TrueWatchConfig | Mapping[str, Any]) -> None:
        self.config = config if isinstance(config, TrueWatchConfig) else TrueWatchConfig.from_dict(_mapping(config))
        settings = self.config.settings
        if settings.spark_inject and runs_in_airflow() and injectable(settings):
            self.kind = KIND

    def __str__(self) -> str:
        destinations = ", ".join(f"{one.name}: {one.profile.kind}" for one in self._named().destinations)
        parts = f"name={self.name}, kind={self.kind}, priority={self.priority}, destinations=[{destinations}]"
        return f"<{type(self).__name__}({parts})>"

    __repr__ = __str__

    def emit(self, event: Any) -> None:
        """Store an event and have it delivered.

        Args:
            event: An OpenLineage event object, a mapping, or JSON as text or bytes.
        """
        self._started().emit(event)

    def close(self, timeout: float = -1) -> bool:
        """Deliver what is due for at most ``exit_budget`` seconds.

        Args:
            timeout: Seconds, if less than ``exit_budget``; negative for all of it.

        Returns:
            Whether nothing is pending.
        """
        return self._started().close(timeout)

    def _started(self) -> Pipeline:
        """Return the pipeline; made late, since upstream's composite names a transport only after it is built."""
        made: Pipeline | None = self.__dict__.get("pipeline")
        # setdefault is one step, so two threads get one pipeline without a lock that a fork could leave locked.
        return made or self.__dict__.setdefault("pipeline", Pipeline(self._named()))

    def _named(self) -> Settings:
        return self.config.settings.named(self.name)


def _mapping(config: object) -> dict[str, Any]:
    """Return the transport's settings as a dict of their own.

    Raises:
        ConfigError: They are no mapping.
    """
    if isinstance(config, Mapping):
        return dict(config)
    raise ConfigError(
        f"The transport's settings must be a mapping, not {type(config).__name__}.",
        fix='Write {"url": …, "token_file": …}, or {} to take them from variables alone.',
    )


def register() -> None:
    """Let ``{"type": "truewatch"}`` mean this transport in this process; the dotted path works everywhere."""
    get_default_factory().register_transport(ALIAS, TrueWatchTransport)
