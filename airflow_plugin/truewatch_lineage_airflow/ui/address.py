"""Where links lead: to the user's own page of a run's lineage, else to this package's page of that run."""

from __future__ import annotations

import logging
from typing import Final
from urllib.parse import quote, urlsplit

from truewatch_lineage_airflow import compat
from truewatch_lineage_airflow.ui import PREFIX

log = logging.getLogger(__name__)

_SCHEMES: Final = ("http", "https")


def lineage_address(job_namespace: str, job_name: str, run_id: str) -> str:
    """Return where a run's lineage is seen.

    Args:
        job_namespace: The namespace of its job.
        job_name: The name of its job.
        run_id: Its runId.
    """
    template = compat.conf().get("truewatch", "lineage_url", fallback=None)
    if template:
        address = filled(template, job_namespace=job_namespace, job_name=job_name, run_id=run_id)
        if urlsplit(address).scheme in _SCHEMES:
            return address
        log.warning("[truewatch] lineage_url must start with https:// or http://; it is passed over.")
    return f"{_path_of_airflow()}{PREFIX}/run?what={quote(run_id, safe='')}"


def filled(template: str, **values: str) -> str:
    """Put values into ``{name}``, percent-encoded; braces around other words are left as they are."""
    for name, value in values.items():
        template = template.replace(f"{{{name}}}", quote(value, safe=""))
    return template


def _path_of_airflow() -> str:
    """Return the path that Airflow's UI is served below, empty for none."""
    section = "api" if compat.is_airflow_3() else "webserver"
    return urlsplit(compat.conf().get(section, "base_url", fallback=None) or "").path.rstrip("/")
