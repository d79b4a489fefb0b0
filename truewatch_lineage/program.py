"""What program this package runs in."""

from __future__ import annotations

import sys


def runs_in_airflow() -> bool:
    """Tell whether Airflow is loaded in this process, or its Task SDK alone.

    A folder of that name on the path, such as a project's with its DAGs, is no Airflow: once anything has tried to
    import it, Python has a namespace package of it, which has no file.
    """
    return getattr(sys.modules.get("airflow"), "__file__", None) is not None or "airflow.sdk" in sys.modules
