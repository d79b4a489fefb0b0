"""The one seam to ``openlineage-integration-common``: how an adapter's target becomes a dataset namespace."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from typing import Any, Final

_LOG: Final = logging.getLogger(__name__)
_LATER: Final = {
    "clickhouse": ("clickhouse://{host}:{port}",),
    "duckdb": ("duckdb://{path}",),
    "fabric": ("fabric-warehouse://{server}:{port}", "fabric-warehouse://{server}"),
    "presto": ("presto://{host}:{port}",),
    "spark": ("spark://{host}:{port}",),
    "watsonx_presto": ("presto://{host}:{port}",),
}
"""What upstream's later releases name so; written down, since names must not change with the release installed."""

_SPARK_PORTS: Final = {"http": 443, "odbc": 443, "thrift": 10001}
"""The port of each of dbt-spark's methods where the profile has none."""


def dataset_namespace(adapter_type: str, target: Mapping[str, Any]) -> str:
    """Return the namespace of the datasets of a target, as upstream names it; never raises.

    Where upstream knows the adapter not, or its profile lacks what the namespace is made of, it is the adapter's
    name; that of DuckDB without a ``path`` is ``duckdb://:memory:``, which is what dbt-duckdb then opens.

    Args:
        adapter_type: Such as ``postgres``.
        target: The target's fields as dbt resolved them, such as a profile's output or ``credentials.to_dict()``.
    """
    if adapter_type == "duckdb":  # a path of MotherDuck may end in ?motherduck_token=…, which is not to be told
        target = {"path": str(target.get("path") or ":memory:").partition("?")[0]}
    if adapter_type == "spark":
        target = {**target, "port": target.get("port") or _SPARK_PORTS.get(str(target.get("method")))}
    for template in _LATER.get(adapter_type, ()):
        if all(target.get(name) for name in re.findall(r"{(\w+)}", template)):
            return template.format_map(target)
    return _by_upstream(adapter_type, target)


def _by_upstream(adapter_type: str, target: Mapping[str, Any]) -> str:
    try:
        from openlineage.common.provider.dbt.processor import (  # noqa: PLC0415 - costs a third of a second
            Adapter,
            DbtArtifactProcessor,
        )

        processor = DbtArtifactProcessor(producer="", job_namespace="")
        processor.adapter_type = Adapter(adapter_type)
        return str(processor.extract_namespace({"type": adapter_type, **target}))
    except (ImportError, ValueError, KeyError, TypeError, AttributeError, IndexError, NotImplementedError) as error:
        _LOG.debug("No namespace of upstream's for %s: %s", adapter_type, type(error).__name__)
        return adapter_type
