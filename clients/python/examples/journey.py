"""A purchase from browsing to the hand-over, through the client, against a running system with its demo data.

    python clients/python/examples/journey.py --base-url http://localhost:8080 --sandbox-url http://localhost:8170

The password of the demo accounts is read from DEMO_PASSWORD (it stands in secrets.env of the system's state).
"""

import argparse
import asyncio
import os
from collections.abc import Awaitable, Callable
from typing import TypeVar

import httpx

from campus_client import Campus, each, errors
from campus_client.models import (
    CheckoutLine,
    CheckoutRequest,
    CreatePaymentIntentRequest,
    Order,
    PaymentIntent,
    Product,
    VerifyDeliveryRequest,
)

WAIT_SECONDS_MAX = 60.0
Seen = TypeVar("Seen")


async def main() -> None:
    """Plays the purchase and prints each step."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--base-url", default="http://localhost:8080")
    arguments.add_argument("--sandbox-url", default="http://localhost:8170")
    options = arguments.parse_args()
    password = os.environ["DEMO_PASSWORD"]
    async with Campus(options.base_url) as buyer, Campus(options.base_url) as vendor:
        product = await choose(buyer)
        print(f"chosen: {product.name} from {product.vendor_name}, {product.price_minor} kobo")

        await buyer.sign_in("buyer@unilag.edu.ng", password)
        await vendor.sign_in("vendor@unilag.edu.ng", password)

        line = CheckoutLine(product_id=product.id, quantity=1)
        order = await buyer.post_orders_checkout(CheckoutRequest(items=[line]))
        print(f"order {order.id}: {order.status}, {order.total_minor} kobo")

        intent = await buyer.post_payments_intent(CreatePaymentIntentRequest(order_id=order.id))
        await pay(options.sandbox_url, intent)
        order = await until(lambda: reached(buyer, order, "paid_escrow"))
        print(f"order {order.id}: {order.status}")

        order = await vendor.post_orders_by_id_dispatch(order.id)
        print(f"order {order.id}: {order.status}")
        pin = await until(lambda: told_pin(buyer, order))
        delivered = await vendor.post_orders_by_id_verify_delivery(order.id, VerifyDeliveryRequest(pin=pin))
        print(f"order {order.id}: {delivered.status}")

        bought = [one.id async for one in each(buyer.get_orders, limit=100) if one.id == order.id]
        print(f"found again in the list of orders: {len(bought)}")


async def choose(campus: Campus) -> Product:
    """The first product of the demo vendor Ada that is in stock."""
    async for product in each(campus.get_products, in_stock=True, limit=100):
        if product.vendor_name == "Ada's Kitchen":
            return product
    raise LookupError("The demo data is not loaded, or everything is sold.")


async def pay(sandbox_url: str, intent: PaymentIntent) -> None:
    """What the buyer does on the payment gateway's page."""
    async with httpx.AsyncClient(base_url=sandbox_url) as sandbox:
        answer = await sandbox.post(
            f"/pay/{intent.access_code}", data={"action": "pay"}, headers={"Accept": "application/json"}
        )
        answer.raise_for_status()


async def reached(campus: Campus, order: Order, status: str) -> Order | None:
    """The order, once it has this status."""
    seen = await campus.get_orders_by_id(order.id)
    return seen if seen.status == status else None


async def told_pin(campus: Campus, order: Order) -> str | None:
    """The delivery PIN, once there is one."""
    try:
        return (await campus.get_orders_by_id_delivery_pin(order.id)).pin
    except errors.ResourceNotFound:
        return None


async def until(look: Callable[[], Awaitable[Seen | None]]) -> Seen:
    """What `look` sees at last: money and messages travel by themselves."""
    async with asyncio.timeout(WAIT_SECONDS_MAX):
        while (seen := await look()) is None:
            await asyncio.sleep(0.2)
        return seen


if __name__ == "__main__":
    asyncio.run(main())
