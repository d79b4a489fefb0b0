"""What Airflow shows of this package, seen in a real browser: status page, connection form, link; and the check DAG."""

from __future__ import annotations

import shutil
import socket

import pytest
from support.airflow import Airflow, environment
from support.airflow_environments import DAGS
from support.airflow_scene import TOKEN, Scene
from support.airflow_site import Site
from support.browser import chromium, needed_chromium
from support.repository import ROOT

pytestmark = pytest.mark.timeout(300)

PAGE = "/truewatch-lineage/"
WRONG = "not-the-token-of-this-place"
REFUSED = "the token was refused. Check that the token"
CHECK = ROOT / "examples" / "airflow" / "truewatch_check.py"


@pytest.fixture(scope="module")
def browser():
    """Chromium."""
    with chromium(needed_chromium()) as running:
        yield running


@pytest.fixture(scope="class")
def site(request, tmp_path_factory):
    """The pages of an Airflow in which the DAG succeeds has run, and the check DAG is known."""
    folder = tmp_path_factory.mktemp("ui")
    dags = shutil.copytree(DAGS, folder / "dags")
    shutil.copy(CHECK, dags)
    (folder / "home").mkdir()
    env = {**Site.SETTINGS, "AIRFLOW__CORE__DAGS_FOLDER": str(dags)}
    with Airflow(environment(request.cls.version), folder / "home", env, web=True) as airflow:
        scene = Scene(airflow)
        with scene.receiver() as receiver:
            request.cls.run_id = scene.run("succeeds")["succeeds"]
            events = receiver.wait_for_events(4)
        request.cls.lineage_id = next(row["run_id"] for row in events if row["job_name"] == "succeeds.one")
        yield Site(scene)


class Ui:
    """What must hold in each Airflow."""

    def test_nobody_sees_the_page_who_is_not_signed_in(self, site):
        """Plugins' routes are open by default; these are not."""
        for path in (PAGE, f"{PAGE}run?what={self.lineage_id}"):
            code, led_to, body = site.stranger(path)
            assert (code, led_to) in ((401, path.partition("?")[0]), (200, "/login/"))
            assert "succeeds" not in body
            assert str(site.scene.spool) not in body

    def test_the_page_says_whose_spool_it_shows_and_what_became_of_a_run(self, site, browser):
        """Looked up by the keyboard alone; every event of the run is told, and no token."""
        with site.visitor(browser) as page:
            shown = self.open_page(site, page)
            text = shown.locator("main").inner_text()
            assert socket.gethostname() in text
            assert str(site.scene.spool) in text
            assert shown.get_by_text("ready", exact=True).count() == 1
            shown.get_by_label("Run id").fill(self.lineage_id)
            shown.get_by_label("Run id").press("Enter")
            shown.get_by_text("2 events: 2 delivered").wait_for()
            assert shown.get_by_role("row", name="succeeds.one").count() == 2
            assert TOKEN not in shown.locator("html").inner_html()

    def test_a_task_instance_links_to_its_lineage(self, site, browser):
        """The link leads to the run that the task's events have told."""
        with site.visitor(browser) as page:
            self.open_task(site, page, self.run_id)
            page.get_by_role("link", name="Lineage", exact=True).click()
            page.get_by_text("2 events: 2 delivered").wait_for()
            assert page.url.endswith(f"{PAGE}run?what={self.lineage_id}")
            assert site.link_of(page, "succeeds", self.run_id, "one").endswith(self.lineage_id)

    def test_the_check_dag_tells_each_step_and_fails_with_a_step(self, site):
        """On a worker, with the connection that tasks have; its log has the fix."""
        with site.scene.receiver():
            passed = site.scene.run("truewatch_check")["truewatch_check"]
        with site.scene.receiver(WRONG):
            failed = site.scene.run("truewatch_check")["truewatch_check"]
        states = [site.scene.airflow.state("truewatch_check", run_id) for run_id in (passed, failed)]
        logs = [site.log("truewatch_check", run_id) for run_id in (passed, failed)]
        site.scene.reset()  # those runs' own lineage was refused, too
        assert states == ["success", "failed"]
        assert "COMPLETE: delivered (200)" in logs[0]
        assert "Check that the token is the workspace's own" in logs[1]
        assert TOKEN not in "".join(logs)


class TestAirflow3(Ui):
    """The newest Airflow."""

    version = "3"

    def open_page(self, site, page):
        """Go there by the navigation; the page stands in a frame of Airflow's."""
        page.get_by_role("button", name="Browse").click()
        page.get_by_role("menuitem", name="TrueWatch Lineage").click()
        return page.frame_locator("iframe")

    def open_task(self, site, page, run_id):
        """Open a task instance's details."""
        page.goto(f"{site.url}/dags/succeeds/runs/{run_id}/tasks/one/details")

    @pytest.mark.parametrize(
        ("token", "answer"), [(TOKEN, None), (WRONG, "the token was refused. Check that the token")]
    )
    def test_a_connection_is_made_by_the_form_and_tested(self, site, browser, token, answer):
        """The test goes to the receiver; a refusal is told with its fix, and never with the token."""
        with site.visitor(browser) as page, site.scene.receiver() as receiver:
            page.goto(f"{site.url}/connections")
            page.get_by_role("button", name="Add Connection").click()
            page.fill("input[name=connection_id]", f"by_form_{len(token)}")
            page.get_by_role("combobox").first.click()
            page.get_by_role("option", name="TrueWatch Lineage").click()
            page.get_by_label("URL").fill("http://127.0.0.1")
            page.get_by_label("Port").fill(str(site.scene.port))
            page.locator("input[name=password]").fill(token)
            page.get_by_role("button", name="Extra Fields", exact=True).click()
            page.get_by_text("Kind of destination.").wait_for()
            page.get_by_role("button", name="Save").click()
            row = page.get_by_role("row", name=f"by_form_{len(token)}")
            with page.expect_response(lambda got: got.url.endswith("/connections/test")) as got:
                row.get_by_role("button", name="Test Connection").click()
            told = got.value.json()
            assert token not in told["message"]
            assert (told["status"], answer is None or answer in told["message"]) == (answer is None, True)
            if answer:
                page.get_by_text(answer).wait_for()
            else:
                assert len(receiver.events(run_id=told["message"].rpartition("runId ")[2].removesuffix(")."))) == 2


class TestAirflow2(Ui):
    """The last Airflow 2."""

    version = "2"

    def open_page(self, site, page):
        """Go there by the navigation."""
        page.goto(f"{site.url}/home")
        page.get_by_role("link", name="Browse").hover()
        page.get_by_role("link", name="TrueWatch Lineage").click()
        return page

    def open_task(self, site, page, run_id):
        """Open a task instance's details."""
        page.goto(f"{site.url}/dags/succeeds/grid?dag_run_id={run_id}&task_id=one&tab=details")

    def test_a_connection_is_tested_in_the_form(self, site, browser):
        """It has the fields; a refusal is told with its fix, and never with the token."""
        with site.visitor(browser) as page, site.scene.receiver() as receiver:
            page.goto(f"{site.url}/connection/add")
            page.select_option("#conn_type", "truewatch")
            page.get_by_text("One of dataway, datakit, portal, openlineage, kafka.").wait_for()
            page.fill("#conn_id", "by_form")
            page.fill("#host", receiver.url)
            page.fill("#password", WRONG)
            page.click("#test-connection")
            page.get_by_text(REFUSED).wait_for()
            page.fill("#password", TOKEN)
            page.click("#test-connection")
            page.get_by_text("Passed: name, tcp, tls, token, START, COMPLETE").wait_for()
            assert TOKEN not in page.locator(".alert").first.inner_text()
