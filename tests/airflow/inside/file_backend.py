"""A secrets backend whose connections and configuration are in files, read anew each time."""

from pathlib import Path

from airflow.secrets.local_filesystem import LocalFilesystemBackend


class FileBackend(LocalFilesystemBackend):
    """As Airflow's, and with a configuration on Airflow 2 as well."""

    def get_config(self, key):
        """Return the text of the file ``key`` in the working folder."""
        return Path(key).read_text(encoding="utf-8")
