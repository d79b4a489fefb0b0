"""``truewatch-lineage courier --airflow-conn-id``: url, kind and token come from a connection in Airflow's database."""

from __future__ import annotations

import contextlib
import sqlite3
import subprocess
from contextlib import contextmanager

import pytest
from support.airflow import VERSIONS, environment
from support.airflow_connections import Connections
from support.airflow_processes import wait_until
from support.receiver import PORTAL, Receiver

OLD, NEW = "tkn_0123456789_of_old", "tkn_9876543210_of_new"
SPOOL = {"AIRFLOW__TRUEWATCH__DELIVERY": "spool", "AIRFLOW__TRUEWATCH__AIRFLOW_CONN_ID": "portal"}
pytestmark = pytest.mark.timeout(240)


class Stored(Connections):
    """Connections in the database of an Airflow."""

    def __init__(self, *args):
        super().__init__(*args)
        self.env = {"AIRFLOW__CORE__FERNET_KEY": ""}
        self._airflow("db", "migrate")

    def add(self, url, token):
        """Add the connection, as people do."""
        options = ["--conn-type", "truewatch", "--conn-host", url, "--conn-password", token]
        self._airflow("connections", "add", "portal", *options, "--conn-extra", '{"destination": "portal"}')

    def rotate(self, token):
        """Change the connection's token at once; without a Fernet key it is stored as it is."""
        with contextlib.closing(sqlite3.connect(self.home / "airflow.db", timeout=60)) as database, database:
            changed = database.execute("update connection set password = ? where conn_id = 'portal'", [token])
            assert changed.rowcount == 1

    def _airflow(self, *args):
        done = self.environment.airflow(*args, home=self.home, env=self.env)
        assert done.returncode == 0, done.stderr


@contextmanager
def courier(connections, log):
    """Run a courier for the time of a ``with`` block."""
    command = [connections.environment.python.parent / "truewatch-lineage", "courier", "--airflow-conn-id", "portal"]
    variables = connections.environment.variables(connections.home, connections.env)
    with log.open("wb") as file:
        process = subprocess.Popen(command, env=variables, cwd=connections.home, stdout=file, stderr=file)
        try:
            yield process
        finally:
            process.terminate()
            process.wait(10)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_courier_takes_all_from_a_connection_and_its_new_token_on_401(tmp_path, version):
    """Tasks only spool, with no token; the courier delivers, and goes on when the token is rotated."""
    connections = Stored(environment(version), tmp_path)
    log = tmp_path / "courier.log"
    with Receiver(tokens=[OLD]) as receiver:
        port = receiver.port
        connections.add(receiver.url, OLD)
        connections.emit("fork:first", **SPOOL)
        assert receiver.events() == []
        with courier(connections, log):
            receiver.wait_for_events(1, timeout=60)
            receiver.stop()
            with Receiver(tokens=[NEW], port=port) as renewed:
                connections.rotate(NEW)
                connections.emit("fork:second", **SPOOL)
                wait_until(renewed.events, 60, log.read_text)
                (event,) = renewed.events()
                assert event["event"]["job"]["name"] == "second"
                assert 201 in map(int, renewed.statuses(PORTAL))
    text = log.read_text()
    assert f"to default (http://127.0.0.1:{port}{PORTAL})" in text
    assert "tkn_" not in text
