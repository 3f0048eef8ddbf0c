"""Writes the images of examples/storefront/README.md from a running system: `make storefront-shots`, after
`make run`.
"""

import asyncio
import os
import shutil
import sys
import tempfile
from pathlib import Path

from PIL import Image
from playwright.async_api import async_playwright

from operations.journey import Marketplace
from operations.processes import SANDBOX_PORT
from operations.secrets import read_secrets
from tests.console.shots import COLOURS_MAX, FOLDER
from tests.storefront.shopper import new_customer, new_shopper
from tests.storefront.site import build_storefront, served

SHOWN = {"shop": ("/?category=meals", ".grid"), "order": ("/orders/{order}", ".pin")}


async def main() -> None:
    port_base = int(os.environ.get("PORT_BASE", "8080"))
    secrets = read_secrets(Path(os.environ.get("STATE_DIR", ".state")) / "secrets.env")
    market = Marketplace.at(f"http://127.0.0.1:{port_base}", f"http://127.0.0.1:{port_base + SANDBOX_PORT}", secrets)
    customer = await new_customer(market)
    FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        build_storefront(Path(folder), f"http://127.0.0.1:{port_base}")
        with served(Path(folder)) as site:
            async with async_playwright() as playwright:
                browser = await playwright.chromium.launch(
                    executable_path=shutil.which("chromium"), args=["--no-sandbox"]
                )
                at_shop = await new_shopper(browser, site, await market.sign_in(customer.email))
                for name, (path, complete) in SHOWN.items():
                    await at_shop.open(path.format(**customer.paths))
                    await at_shop.page.locator(complete).first.wait_for()
                    written = FOLDER / f"storefront-{name}.png"
                    await at_shop.page.screenshot(path=written)
                    Image.open(written).convert("RGB").quantize(COLOURS_MAX).save(written, optimize=True)
                    sys.stdout.write(f"{written.relative_to(FOLDER.parents[1])}: {written.stat().st_size} bytes\n")
                await browser.close()
    await market.close()


if __name__ == "__main__":
    asyncio.run(main())
