"""Names that are HTML and script, the headers of the page, and the token where one is asked for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect
from support.receiver import Receiver

import truewatch_lineage.receiver

PAGE = Path(truewatch_lineage.receiver.__file__).parent / "page"
TOKEN = "local-test-token"
HOSTILE = "<img src=x onerror=alert(1)><script>window.harmed=1</script>\"'`${1}"
OFF_LOOPBACK = (
    "-c",
    """import runpy
from truewatch_lineage.receiver import server
server.is_loopback = lambda host: False
runpy.run_module('truewatch_lineage.cli.receive', run_name='__main__')""",
)


def hostile_event():
    """Build an event in which every text that may be free is HTML and script."""
    dataset = {
        "namespace": HOSTILE,
        "name": HOSTILE,
        "facets": {
            "schema": {"fields": [{"name": HOSTILE, "type": HOSTILE, "description": HOSTILE}]},
            HOSTILE: {HOSTILE: HOSTILE},
        },
    }
    return {
        "eventType": "FAIL",
        "eventTime": "2026-10-21T08:00:00Z",
        "run": {
            "runId": "4a8f90a7-79c0-4f80-89e7-6b6c5d4fc79a",
            "facets": {
                "errorMessage": {"message": HOSTILE, "programmingLanguage": HOSTILE, "stackTrace": HOSTILE},
                "parent": {
                    "run": {"runId": "7a3f90a7-79c0-4f80-89e7-6b6c5d4fc79b"},
                    "job": {"namespace": HOSTILE, "name": HOSTILE},
                },
            },
        },
        "job": {
            "namespace": HOSTILE,
            "name": HOSTILE,
            "facets": {
                "jobType": {"integration": HOSTILE, "jobType": HOSTILE, "processingType": HOSTILE},
                "sql": {"query": HOSTILE},
            },
        },
        "inputs": [dataset],
        "outputs": [{**dataset, "name": f"{HOSTILE}2"}],
        "producer": "https://example.com/p",
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
    }


def test_names_of_html_and_script_are_shown_as_text(visit, receiver):
    """Through graph, lists, search and every tab of the drawer nothing of an event is parsed or run."""
    assert receiver.post(hostile_event()).status == 200
    shown = visit(receiver)
    page = shown.open("columns=*")
    expect(page.locator("g.job")).to_contain_text("<img")
    for shape in ("g.job", "g.dataset", "g.column"):
        page.locator(shape).first.click()
        expect(page.locator(".drawer h2")).to_contain_text("<img src=x onerror")
        expect(page.locator(".drawer")).not_to_have_class(re.compile("waiting"))
        for tab in page.get_by_role("tab").all():
            tab.click()
        expect(page.locator(".drawer")).not_to_have_class(re.compile("waiting"))
    page.locator(".side .row").last.click()
    expect(page.locator(".json").first).to_contain_text("<script>window.harmed=1</script>")
    shown.screenshot("hostile")
    page.get_by_role("combobox").fill("<img")
    expect(page.get_by_role("option").first).to_contain_text("<img src=x")
    assert page.evaluate("window.harmed") is None
    assert page.locator("img, body script, [onerror]").count() == 0


def test_the_page_allows_only_its_own_files(receiver):
    """The policy allows no script but the page's files, and no frame, base or object."""
    reply = receiver.request("GET", "/")
    policy = reply.headers["content-security-policy"]
    assert "default-src 'self'" in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert reply.headers["x-content-type-options"] == "nosniff"
    assert reply.headers["referrer-policy"] == "no-referrer"


@pytest.mark.parametrize("name", ["..%2Findex.html", "..", "absent.js", "%2e%2e%2fpages.py", "app.js%00"])
def test_only_files_of_the_folder_are_served(receiver, name):
    """A name that leads out of the folder, or to nothing, is unknown."""
    assert receiver.request("GET", f"/static/{name}").status == 404


def test_every_module_is_asked_for_at_once():
    """The page names each of its modules, so that none waits for another to be read first."""
    named = re.findall(r"/static/([a-z-]+\.js)", (PAGE / "index.html").read_text("utf-8"))
    assert sorted(named) == sorted(path.name for path in PAGE.rglob("*.js"))


@pytest.mark.parametrize("path", sorted(PAGE.rglob("*.*")), ids=lambda path: path.name)
def test_no_file_parses_text_or_names_another_host(path):
    """Text is never parsed as HTML or code, and no address leads elsewhere."""
    text = path.read_text("utf-8")
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|srcdoc", text)
    allowed = {"http://www.w3.org/2000/svg", "https://example.com/my-pipeline", "https://openlineage.io/spec/"}
    assert [url for url in re.findall(r"https?://[^\s\"'`]+", text) if not url.startswith(tuple(allowed))] == []
    if path.suffix == ".html":
        assert not re.search(r"<script(?![^>]*src=)|\son\w+=|\sstyle=", text)


@pytest.fixture
def guarded() -> Iterator[Receiver]:
    """A receiver that believes it is bound to another address, and so asks for its token everywhere."""
    with Receiver(tokens=[TOKEN], program=OFF_LOOPBACK) as running:
        running.post(hostile_event())
        yield running


def test_off_loopback_the_page_asks_for_the_token_and_keeps_it_out_of_the_address(visit, guarded):
    """Without a token the answer is 401 and a field to enter it; a reload needs it no more, and no address holds it."""
    assert guarded.request("GET", "/").status == 401
    assert guarded.request("GET", "/api/graph").status == 401
    shown = visit(guarded, tolerates="401")
    page = shown.open()
    expect(page.locator("#cover")).to_contain_text("asks for its token")
    assert page.locator("g.node").count() == 0
    page.get_by_label("Token").fill("not-this-one")
    page.keyboard.press("Enter")
    expect(page.locator("#cover")).to_contain_text("not one of its tokens")
    page.get_by_label("Token").fill(TOKEN)
    page.keyboard.press("Enter")
    expect(page.locator("g.job")).to_be_visible()
    page.reload()
    expect(page.locator("g.job")).to_be_visible()
    assert TOKEN not in page.url


def test_a_token_in_the_address_leaves_it_at_once(visit, guarded):
    """``/?token=`` opens the page; the address that may be shared is without."""
    page = visit(guarded).page
    page.goto(f"{guarded.url}/?token={TOKEN}#depth=2")
    expect(page.locator("g.job")).to_be_visible()
    assert page.url == f"{guarded.url}/#depth=2"
    receiver_hears = guarded.post(hostile_event())
    assert receiver_hears.status == 200
    expect(page.locator("#live-text")).to_contain_text("live")


def test_a_node_with_quotes_in_its_name_can_be_found_by_its_address(visit, receiver):
    """Ids with any character survive the address."""
    receiver.post(hostile_event())
    found = receiver.request("GET", "/api/search?q=onerror&limit=1").json["results"][0]
    shown = visit(receiver)
    page = shown.open()
    page.get_by_role("combobox").fill("onerror")
    page.get_by_role("option").first.click()
    expect(page.locator("g.node.middle")).to_be_visible()
    address = page.url.partition("#")[2]
    other = visit(receiver).open(address)
    assert other.locator("g.node.middle").get_attribute("data-id") == found["id"]
