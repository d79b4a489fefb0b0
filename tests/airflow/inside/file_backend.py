"""A secrets backend whose connections and configuration are in files, read anew each time."""

import time
from pathlib import Path

from airflow.secrets.local_filesystem import LocalFilesystemBackend


class FileBackend(LocalFilesystemBackend):
    """As Airflow's, with a configuration on Airflow 2 as well; it hangs while there is a file ``hang``."""

    def get_connection(self, conn_id, **options):
        """Return the connection, after a long time where it is to hang."""
        if Path("hang").exists():
            time.sleep(60)
        return super().get_connection(conn_id, **options)

    def get_config(self, key):
        """Return the text of the file ``key`` in the working folder."""
        return Path(key).read_text(encoding="utf-8")
