"""A real Chromium, and the page of a receiver in it, with everything that it asked for and complained of."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Dialog, Page, sync_playwright

ARTEFACTS: Final = Path(__file__).parents[2] / "build" / "screenshots"
"""Where screenshots are kept; git ignores it."""

NAMES: Final = ("chromium", "chromium-browser", "google-chrome")
ARGUMENTS: Final = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
    "--no-first-run",
    # Nothing but this machine has an address, so a stray request can't even leave.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)
_READY: Final = "html[data-ready]"
_SIZE: Final = (1440, 900)


def chromium_path() -> str | None:
    """Return the path of this machine's Chromium, or None."""
    return next((path for path in map(shutil.which, NAMES) if path), None)


def needed_chromium() -> str:
    """Return the path of this machine's Chromium; skips the test where there is none."""
    path = chromium_path()
    if path is None:
        pytest.skip("no Chromium here: apt-get install chromium")
    return path


@contextmanager
def chromium(path: str) -> Iterator[Browser]:
    """Run Chromium without a window, with a profile of its own that is removed afterwards."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(ARGUMENTS), headless=True)
        try:
            yield browser
        finally:
            browser.close()


class Visit:
    """One reader's visit to a receiver's page.

    Args:
        browser: Chromium.
        url: The receiver's.
        dark: What the system prefers.
        size: Of the window, in pixels.
        tolerates: What a complaint may say, such as Chromium's own about a 404.

    Attributes:
        page: Playwright's page.
        complaints: Errors and warnings of the console, uncaught errors, and dialogs that scripts opened.
        requests: The url of every request.
    """

    def __init__(
        self,
        browser: Browser,
        url: str,
        *,
        dark: bool = False,
        size: tuple[int, int] = _SIZE,
        tolerates: str | None = None,
    ) -> None:
        self.url = url
        self._tolerates = tolerates
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self._context: BrowserContext = browser.new_context(
            viewport={"width": size[0], "height": size[1]},
            color_scheme="dark" if dark else "light",
            permissions=["clipboard-read", "clipboard-write"],
            timezone_id="UTC",
            locale="en-GB",
        )
        self._context.on("request", lambda request: self.requests.append(request.url))
        self.page: Page = self._context.new_page()
        self.page.set_default_timeout(10_000)
        self.page.on("console", lambda message: self._note(message.type, message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(f"uncaught: {error}"))
        self.page.on("dialog", self._dismiss)

    def open(self, view: str = "") -> Page:
        """Open the page, with a view such as ``node=job:a|b&depth=2``, and wait until it can be used."""
        self.page.goto("about:blank")
        self.page.goto(f"{self.url}/{f'#{view}' if view else ''}")
        self.page.wait_for_selector(_READY)
        return self.page

    def screenshot(self, name: str) -> Path:
        """Keep a picture of what is shown, as ``ARTEFACTS/name.png``."""
        ARTEFACTS.mkdir(parents=True, exist_ok=True)
        path = ARTEFACTS / f"{name}.png"
        self.page.wait_for_timeout(150)
        # Playwright would write it in a thread that outlives the test.
        path.write_bytes(self.page.screenshot())
        return path

    def close(self) -> None:
        """End the visit."""
        self._context.close()

    @property
    def strangers(self) -> list[str]:
        """Requests that went elsewhere than to the receiver."""
        own = urlsplit(self.url).netloc
        return [url for url in self.requests if urlsplit(url).netloc not in {own, ""}]

    def _dismiss(self, dialog: Dialog) -> None:
        self.complaints.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _note(self, kind: str, text: str) -> None:
        if kind in {"error", "warning"} and not (self._tolerates and self._tolerates in text):
            self.complaints.append(f"{kind}: {text}")
