"""The browser of the tests of pages."""

import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from playwright.async_api import Browser, async_playwright

# Chromium without windows needs a third of the CPU. It shows no notifications.
LIGHT: Final = "chromium-headless-shell"
# A page lives for a second: optimized code of its scripts costs more than it saves.
QUICK_SCRIPTS: Final = "--js-flags=--always-sparkplug --no-maglev --no-opt"
FULL: Final = ("chromium", "chromium-browser", "google-chrome")


@asynccontextmanager
async def running_browser(*, notifies: bool = False) -> AsyncIterator[Browser]:
    """Yield the system's own Chromium; with `notifies` one that shows notifications. Raises FileNotFoundError when
    there is none.
    """
    path = next(filter(None, map(shutil.which, FULL if notifies else (LIGHT, *FULL))), None)
    if path is None:
        raise FileNotFoundError(
            "The tests of pages need Chromium: run `tools/setup browser` (Debian: apt-get install chromium)"
        )
    async with async_playwright() as playwright:
        # As root, and in containers, Chromium's own sandbox cannot start. It loads pages of this machine only.
        browser = await playwright.chromium.launch(executable_path=path, args=["--no-sandbox", QUICK_SCRIPTS])
        try:
            yield browser
        finally:
            await browser.close()
