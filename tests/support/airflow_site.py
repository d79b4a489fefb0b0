"""The web pages of a running Airflow, as people and strangers see them: the same questions for 2 and 3.

site = Site(scene)
with site.visitor(browser) as page: ...            # signed in as an administrator
site.stranger("/truewatch-lineage/")               # (401, ...) or where it was sent to
"""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from typing import ClassVar
from urllib.parse import urlsplit

from playwright.sync_api import Browser, Page

from support.airflow_scene import Scene

PATIENCE_SECONDS = 20
USER = "admin"
PASSWORD = "a-password-of-the-tests"
# Airflow's own pages complain of these, whatever is in them.
AIRFLOWS_OWN = ("allow-same-origin", "setting 'autocomplete'", "status of 401")


class Site:
    """The pages of a scene's Airflow.

    Args:
        scene: It, running with its web server, with `SETTINGS`.

    Attributes:
        url: Of Airflow.
        scene: The scene.
    """

    SETTINGS: ClassVar = {"AIRFLOW__CORE__TEST_CONNECTION": "Enabled"}

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.url = scene.airflow.api_url
        self._is_new = scene.airflow.environment.major > 2
        if not self._is_new:
            who = ["--firstname", "A", "--lastname", "Min", "--email", "a@example.com"]
            scene.airflow.cli("users", "create", "-u", USER, "-p", PASSWORD, "-r", "Admin", *who)

    def stranger(self, path: str) -> tuple[int, str, str]:
        """Ask for a path as nobody: the status, the path that it led to, and the body."""
        request = urllib.request.Request(self.url + path, headers={"Accept": "text/html"})
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE_SECONDS) as answer:
                return answer.status, urlsplit(answer.url).path, answer.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, urlsplit(error.url).path, error.read().decode()

    @contextmanager
    def visitor(self, browser: Browser) -> Iterator[Page]:
        """Sign in; at the end nothing of ours may have complained, nor any page asked another host for anything."""
        context = browser.new_context(viewport={"width": 1280, "height": 900}, timezone_id="UTC", locale="en-GB")
        complaints: list[str] = []
        hosts: set[str] = set()
        context.on("request", lambda request: hosts.add(urlsplit(request.url).netloc))
        context.on("console", lambda message: complaints.extend([message.text] * (message.type == "error")))
        context.on("weberror", lambda error: complaints.append(str(error.error)))
        page = context.new_page()
        page.set_default_timeout(PATIENCE_SECONDS * 1000)
        try:
            self._sign_in(page)
            complaints.clear()
            yield page
        finally:
            context.close()
        assert [text for text in complaints if not any(own in text for own in AIRFLOWS_OWN)] == []
        assert hosts - {urlsplit(self.url).netloc, ""} == set()

    def link_of(self, page: Page, dag_id: str, run_id: str, task_id: str) -> str | None:
        """Return where the link Lineage of a task instance leads, as Airflow's API says it to the signed-in user."""
        version = "v2" if self._is_new else "v1"
        path = f"/api/{version}/dags/{dag_id}/dagRuns/{run_id}/taskInstances/{task_id}/links"
        found = page.request.get(self.url + path).json()
        link: str | None = found.get("extra_links", found).get("Lineage")
        return link

    def log(self, dag_id: str, run_id: str) -> str:
        """Return the logs of a DAG run's tasks."""
        folder = self.scene.airflow.home / "logs" / f"dag_id={dag_id}" / f"run_id={run_id}"
        return "".join(log.read_text("utf-8") for log in sorted(folder.rglob("*.log")))

    def _sign_in(self, page: Page) -> None:
        page.goto(self.url)
        page.fill("input[name=username]", USER)
        page.fill("input[name=password]", self._password())
        page.press("input[name=password]", "Enter")
        page.wait_for_url(lambda url: "login" not in url)

    def _password(self) -> str:
        if not self._is_new:
            return PASSWORD
        made = self.scene.airflow.home / "simple_auth_manager_passwords.json.generated"
        return str(json.loads(made.read_text("utf-8"))[USER])
