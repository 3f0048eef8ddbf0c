"""The Python client's example and the code of its README run against the running system."""

import ast
import asyncio
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterable
from io import BytesIO
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from PIL import Image

from campus_client import Campus
from campus_client.models import CancelOrderRequest, CheckoutLine, CheckoutRequest, Notification, OwnProduct, Product
from campus_tools.launcher.system import System
from notifications.webhooks.domain.webhooks import secret_of, signatures_of
from testkit.fixtures import eventually
from tests.end_to_end.steps import STOCK_MIN

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "clients/python/examples/journey.py"
README = ROOT / "clients/python/README.md"
BLOCKS = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
SECONDS_MAX = 180


async def test_the_example_of_the_client_buys_something_and_confirms_the_delivery(system: System) -> None:
    command = [sys.executable, str(EXAMPLE), "--base-url", system.base_url, "--sandbox-url", system.sandbox_url]
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT / "clients/python/src"),
        "DEMO_PASSWORD": system.secrets["DEMO_PASSWORD"],
    }
    played = await asyncio.to_thread(
        subprocess.run,
        command,
        env=environment,
        capture_output=True,
        text=True,
        timeout=SECONDS_MAX,
        check=False,
    )
    assert played.returncode == 0, played.stderr
    lines = played.stdout.splitlines()
    assert lines[0].startswith("chosen: ")
    assert [line.rpartition(": ")[2] for line in lines[2:5]] == ["paid_escrow", "dispatched", "delivered"]
    assert lines[-1] == "found again in the list of orders: 1"


def signed_in(system: System, email: str) -> Campus:
    campus = Campus(system.base_url)
    campus.sign_in(email, system.secrets["DEMO_PASSWORD"])
    return campus


def well_stocked(products: Iterable[Product | OwnProduct]) -> Product | OwnProduct:
    """Other tests sell products with one piece."""
    return next(product for product in products if product.stock >= STOCK_MIN)


def a_webhook() -> dict[str, Any]:
    """Return the names of the README's example of a webhook, with a request that is signed now."""
    secret, now = secret_of("QUJDREVGR0hJSktMTU5PUFFSU1RVVldY"), int(time.time())
    body = json.dumps(
        {"type": "orders.order_delivered.v1", "timestamp": "2026-11-23T08:00:00.000Z", "data": {"orderId": "one"}}
    ).encode()
    signature = signatures_of([secret], "event-1", now, body)
    headers = {"webhook-id": "event-1", "webhook-timestamp": str(now), "webhook-signature": signature}
    return {"body": body, "headers": headers, "current": secret, "previous": secret_of("emFtYmlhLXphbWJpYS16YW1iaWE")}


@pytest.mark.parametrize("block", BLOCKS, ids=[block.strip().splitlines()[-1].strip()[:40] for block in BLOCKS])
async def test_the_code_of_the_readme_runs(
    system: System, block: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    image = BytesIO()
    Image.new("RGB", (40, 30), (0, 120, 0)).save(image, "JPEG")
    (tmp_path / "jollof.jpg").write_bytes(image.getvalue())
    monkeypatch.chdir(tmp_path)
    if "notifications.stream" in block:
        # The stream starts before the first notification, so that the example receives one.
        await a_notification(system)
        block = block.replace("stream()", f"stream(last_event_id='{UUID(int=0)}')")
    await asyncio.to_thread(run_block, system, block.replace("http://localhost:8080", system.base_url))


async def a_notification(system: System) -> None:
    """Wait until the buyer has one: a cancelled order causes it."""
    with await asyncio.to_thread(signed_in, system, "buyer@unilag.edu.ng") as campus:
        product = await asyncio.to_thread(lambda: well_stocked(campus.products.list(in_stock=True)))
        request = CheckoutRequest(items=[CheckoutLine(product_id=product.id, quantity=1)])
        order = await asyncio.to_thread(campus.orders.checkout, request)
        await asyncio.to_thread(campus.orders.cancel, order.id, CancelOrderRequest(reason="Ordered twice"))

        async def first() -> list[Notification]:
            return (await asyncio.to_thread(campus.notifications.list, limit=1)).items

        await eventually(first)


def run_block(system: System, block: str) -> None:
    """Run the code with the names that its neighbours in the README have defined."""
    recorded: list[str] = []
    with signed_in(system, "buyer@unilag.edu.ng") as campus, signed_in(system, "vendor@unilag.edu.ng") as vendor:
        product = well_stocked(vendor.products.list_mine(status="published"))
        request = CheckoutRequest(items=[CheckoutLine(product_id=product.id, quantity=1)])
        order = campus.orders.checkout(request)
        names: dict[str, Any] = {
            **a_webhook(),
            "password": system.secrets["DEMO_PASSWORD"],
            "campus": campus,
            "vendor": vendor,
            "product_id": product.id,
            "vendor_id": product.vendor_id,
            "request": request,
            "order_id": order.id,
            "pin": "000000",
            "record": lambda event_id, _content: recorded.append(event_id),
        }
        code = compile(block, str(README), "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        running = eval(code, names)
        if running is not None:
            asyncio.run(running)
    assert recorded == (["event-1"] if "verify_webhook(" in block else [])
