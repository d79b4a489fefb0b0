"""Chromium for all of these tests, and a visit for each, which must end without a complaint or a stray request."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from playwright.sync_api import Browser
from support.browser import Visit, chromium, needed_chromium
from support.events import recorded
from support.receiver import Receiver


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run these alone: a browser beside a busy core answers late, and each late answer looks like a fault."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.serial)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium, skipped where it is missing."""
    with chromium(needed_chromium()) as running:
        yield running


@pytest.fixture(scope="session")
def pipelines() -> Iterator[Receiver]:
    """A receiver that holds the recorded events; for tests that only read."""
    with Receiver() as receiver:
        for _name, event in recorded():
            assert receiver.post(event).status == 200
        yield receiver


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """An empty receiver."""
    with Receiver() as running:
        yield running


@pytest.fixture
def visit(browser: Browser) -> Iterator[Callable[..., Visit]]:
    """Begin visits as ``Visit`` does; at the end none may have complained or asked another host for anything."""
    visits: list[Visit] = []
    with ExitStack() as stack:

        def begin(receiver: Receiver, **how: object) -> Visit:
            visits.append(Visit(browser, receiver.url, **how))
            stack.callback(visits[-1].close)
            return visits[-1]

        yield begin
    assert [complaint for one in visits for complaint in one.complaints] == []
    assert [url for one in visits for url in one.strangers] == []
