"""What several tests of the page look for."""

from __future__ import annotations

import re

from playwright.sync_api import Locator, Page


def has_class(name: str) -> re.Pattern[str]:
    """Return a pattern that matches a class attribute with this class among others."""
    return re.compile(rf"(^|\s){re.escape(name)}(\s|$)")


def node(page: Page, node_id: str) -> Locator:
    """Return the shape of a job, a dataset or a column in the graph; its id holds no double quote."""
    return page.locator(f'[data-id="{node_id}"]')
