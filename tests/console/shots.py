"""Writes the images of docs/console.md from a running system: `make console-shots`, after `make run`."""

import asyncio
import os
import shutil
import sys
from pathlib import Path

from PIL import Image
from playwright.async_api import async_playwright

from operations.journey import Marketplace
from operations.processes import CONSOLE_PORT, SANDBOX_PORT
from operations.secrets import read_secrets
from tests.console.browser import adopt_session, new_visitor

FOLDER = Path(__file__).parents[2] / "docs" / "images"
COLOURS_MAX = 64
"""Enough for text and badges, and a third of the size."""


async def main() -> None:
    port_base = int(os.environ.get("PORT_BASE", "8080"))
    secrets = read_secrets(Path(os.environ.get("STATE_DIR", ".state")) / "secrets.env")
    market = Marketplace.at(f"http://127.0.0.1:{port_base}", f"http://127.0.0.1:{port_base + SANDBOX_PORT}", secrets)
    support = await market.sign_in_with_two_factors("support@campus.example", "SUPPORT")
    buyer = await market.sign_in("buyer@unilag.edu.ng")
    product = (await market.products(inStock="true", limit=1))[0]
    order = await market.checkout(buyer, product["id"])
    await market.pay(await market.pay_intent(buyer, order["id"]))
    await market.order_reaches(buyer, order["id"], "paid_escrow")
    complaint = {"reason": "not_as_described", "details": "The lid is broken and the colour is another one."}
    await market.post(f"/api/orders/{order['id']}/dispute", complaint, buyer)
    ticket = await market.post(
        "/api/support-tickets",
        {"subject": "Where is my order?", "message": "I waited at the gate.", "orderId": order["id"]},
        buyer,
    )
    pages = {"work": "/", "order": f"/orders/{order['id']}", "ticket": f"/support-tickets/{ticket['id']}"}
    FOLDER.mkdir(parents=True, exist_ok=True)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        visitor = await new_visitor(browser, f"http://127.0.0.1:{port_base + CONSOLE_PORT}")
        await adopt_session(visitor, support, secrets)
        for name, path in pages.items():
            await visitor.open(path)
            await visitor.page.wait_for_load_state("networkidle")
            written = FOLDER / f"console-{name}.png"
            await visitor.page.screenshot(path=written)
            Image.open(written).convert("RGB").quantize(COLOURS_MAX).save(written, optimize=True)
            sys.stdout.write(f"{written.relative_to(FOLDER.parents[1])}: {written.stat().st_size} bytes\n")
        await browser.close()
    await market.close()


if __name__ == "__main__":
    asyncio.run(main())
