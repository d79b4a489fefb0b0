"""The transport that is set where Airflow has none: it reads its settings at the first emit, and never fails a task."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from truewatch_lineage.config import Layer, Settings, gather, load
from truewatch_lineage.errors import ConfigError
from truewatch_lineage.injection import KIND, injectable
from truewatch_lineage.pipeline import Pipeline
from truewatch_lineage.transport import TrueWatchConfig, TrueWatchTransport
from truewatch_lineage_airflow import section
from truewatch_lineage_airflow.settings import PATIENT_SECONDS, airflow_layers, register

log = logging.getLogger(__name__)

AGAIN_SECONDS: Final = 30.0
"""After how long a process that lives on, such as the scheduler's, looks whether a connection has come or changed."""

SETUP: Final = (
    "No lineage is sent, since no destination is set. Add the connection `truewatch_default` (type truewatch, with url "
    "and token), or set url and token in [truewatch] of Airflow's configuration, or TRUEWATCH_LINEAGE_URL and "
    "TRUEWATCH_LINEAGE_TOKEN_FILE. `[truewatch] enabled = False` ends this message."
)

_told: Final[set[str]] = set()


class AirflowConfig(TrueWatchConfig):
    """What the transport was given; Airflow's settings are read when they are asked for.

    Args:
        params: The transport's own settings.
    """

    def __init__(self, params: Mapping[str, Any]) -> None:
        self.params = dict(params)

    @classmethod
    def from_dict(cls, params: dict[str, Any]) -> AirflowConfig:
        """Keep the transport's settings, and read nothing yet."""
        return cls(params)

    @property
    def settings(self) -> Settings:  # type: ignore[override]  # read late, where the core's transport has them at once
        """The settings of now.

        Raises:
            ConfigError: One of them is wrong, or no destination is set.
        """
        return self.read(self.layers())

    def layers(self) -> list[Layer]:
        """Return Airflow's levels of now; a connection is asked for.

        Where its last settings are known an emit can go on by those, so it waits no longer than its budget.

        Raises:
            ConfigError: One of them is wrong.
        """
        register()
        budget = load(self.params, need_destination=False).delivery_budget
        return airflow_layers(self.params, patience=min(budget, PATIENT_SECONDS))

    def read(self, layers: Sequence[Layer]) -> Settings:
        """Merge what was given with Airflow's levels.

        Raises:
            ConfigError: A setting is wrong, or no destination is set.
        """
        return load(self.params, layers=layers)


@dataclass(frozen=True, slots=True)
class _Read:
    """The settings as they were read last.

    Attributes:
        layers: What connections said, to see whether one has changed.
        pipeline: Takes events; None where no destination is set, or a setting is wrong.
        until: When they are read again, by ``time.monotonic()``.
    """

    layers: Sequence[Layer]
    pipeline: Pipeline | None
    until: float


class AirflowTransport(TrueWatchTransport):
    """Delivers OpenLineage events by what ``[truewatch]``, ``TRUEWATCH_LINEAGE_*`` or an Airflow connection says.

    Without a destination it does nothing but say once how to set one; with a wrong setting, nothing but say once which.

    Args:
        config: The transport's own settings; none are needed.
    """

    config: AirflowConfig
    config_class = AirflowConfig

    def __init__(self, config: AirflowConfig | Mapping[str, Any]) -> None:
        self.config = config if isinstance(config, AirflowConfig) else AirflowConfig(config)
        self._last: _Read | None = None
        if self._injects():
            self.kind = KIND

    def __str__(self) -> str:
        return f"<{type(self).__name__}(name={self.name}, kind={self.kind}, priority={self.priority})>"

    __repr__ = __str__

    def emit(self, event: Any) -> None:
        """Store an event and have it delivered; never raises.

        Args:
            event: An OpenLineage event object, a mapping, or JSON as text or bytes.
        """
        pipeline = self._ready()
        if pipeline is not None:
            pipeline.emit(event)

    def close(self, timeout: float = -1) -> bool:
        """Deliver what is due for at most ``exit_budget`` seconds.

        Args:
            timeout: Seconds, if less than ``exit_budget``; negative for all of it.

        Returns:
            Whether nothing is pending.
        """
        pipeline = self._last.pipeline if self._last else None
        return pipeline is None or pipeline.close(timeout)

    def _ready(self) -> Pipeline | None:
        last = self._last
        if last is None or time.monotonic() >= last.until:
            last = self._last = self._read(last)
        return last.pipeline

    def _read(self, last: _Read | None) -> _Read:
        until = time.monotonic() + AGAIN_SECONDS
        before = last.pipeline if last else None
        try:
            layers = self.config.layers()
            asked = [layer for layer in layers if layer.name != section.NAME]
            if last is not None and before is not None and asked == last.layers:
                return _Read(asked, before, until)
            pipeline = self._pipeline(layers)
        except ConfigError as error:
            _tell(logging.ERROR, f"No lineage is sent: {error}")
            return _Read([], before, until)
        except Exception as error:  # noqa: BLE001 - the outermost guard: lineage must never fail a task
            # Its text may quote a secret, so only its class is told.
            _tell(logging.ERROR, f"No lineage is sent, by a fault of truewatch-lineage: {type(error).__name__}")
            return _Read([], before, until)
        if before is not None:
            before.close(0)
        return _Read(asked, pipeline, until)

    def _pipeline(self, layers: Sequence[Layer]) -> Pipeline | None:
        """Return what takes events, or None where no destination is set.

        Raises:
            ConfigError: A setting is wrong.
        """
        _, destinations = gather(self.config.params, layers=layers, notices=[])
        if not destinations:
            _tell(logging.INFO, SETUP)
            return None
        return Pipeline(self.config.read(layers).named(self.name))

    def _injects(self) -> bool:
        """Tell whether Spark's properties are to have the destination, and whether there is one to have."""
        try:
            settings = load(self.config.params, need_destination=False)
            return settings.spark_inject and injectable(self.config.settings) is not None
        except ConfigError:  # said at the first emit
            return False


def _tell(level: int, text: str) -> None:
    if text not in _told:
        _told.add(text)
        log.log(level, "%s", text)
