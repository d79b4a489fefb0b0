"""What program this package runs in."""

from __future__ import annotations

import sys


def runs_in_airflow() -> bool:
    """Tell whether Airflow is loaded in this process, or its Task SDK alone.

    A folder of that name on the path, such as a project's with its DAGs, is no Airflow: once anything has tried to
    import it, Python has a namespace package of it, which has a path and no file.
    """
    module = sys.modules.get("airflow")
    is_folder = hasattr(module, "__path__") and getattr(module, "__file__", None) is None
    return (module is not None and not is_folder) or "airflow.sdk" in sys.modules
