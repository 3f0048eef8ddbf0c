"""A purchase from browsing to the hand-over, against a running system with its demo data.

    python clients/python/examples/journey.py --base-url http://localhost:8080 --sandbox-url http://localhost:8170

The password of the demo accounts is read from DEMO_PASSWORD (`secrets.env` of the system's state has it).
"""

import argparse
import os
import time
from collections.abc import Callable
from typing import TypeVar

import httpx

from campus_client import Campus, errors
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
POLL_SECONDS = 0.2
Found = TypeVar("Found")


def main() -> None:
    """Play the purchase and print each step."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--base-url", default="http://localhost:8080")
    arguments.add_argument("--sandbox-url", default="http://localhost:8170")
    options = arguments.parse_args()
    password = os.environ["DEMO_PASSWORD"]
    with Campus(options.base_url) as buyer, Campus(options.base_url) as vendor:
        product = choose(buyer)
        print(f"chosen: {product.name} from {product.vendor_name}, {product.price_minor} kobo")

        buyer.sign_in("buyer@unilag.edu.ng", password)
        vendor.sign_in("vendor@unilag.edu.ng", password)

        line = CheckoutLine(product_id=product.id, quantity=1)
        order = buyer.orders.checkout(CheckoutRequest(items=[line]))
        print(f"order {order.id}: {order.status}, {order.total_minor} kobo")

        intent = until(lambda: intent_for(buyer, order))
        pay(options.sandbox_url, intent)
        order = until(lambda: order_in(buyer, order, "paid_escrow"))
        print(f"order {order.id}: {order.status}")

        order = vendor.orders.dispatch(order.id)
        print(f"order {order.id}: {order.status}")
        pin = until(lambda: delivery_pin(buyer, order))
        delivered = vendor.orders.verify_delivery(order.id, VerifyDeliveryRequest(pin=pin))
        print(f"order {order.id}: {delivered.status}")

        bought = [one.id for one in buyer.orders.list(limit=100) if one.id == order.id]
        print(f"found again in the list of orders: {len(bought)}")


def choose(campus: Campus) -> Product:
    """Return the first product of the demo vendor Ada that is in stock."""
    for product in campus.products.list(in_stock=True, limit=100):
        if product.vendor_name == "Ada's Kitchen":
            return product
    raise LookupError("The demo data is not loaded, or everything is sold.")


def intent_for(campus: Campus, order: Order) -> PaymentIntent | None:
    """Return the payment intent, once payments has received the order."""
    try:
        return campus.payments.create_intent(CreatePaymentIntentRequest(order_id=order.id))
    except errors.ResourceNotFoundError:
        return None


def pay(sandbox_url: str, intent: PaymentIntent) -> None:
    """Pay on the payment gateway's page."""
    page = f"{sandbox_url}/pay/{intent.access_code}"
    httpx.post(page, data={"action": "pay"}, headers={"Accept": "application/json"}).raise_for_status()


def order_in(campus: Campus, order: Order, status: str) -> Order | None:
    """Return the order, once it has this status."""
    current = campus.orders.get(order.id)
    return current if current.status == status else None


def delivery_pin(campus: Campus, order: Order) -> str | None:
    """Return the delivery PIN, once it was issued."""
    try:
        return campus.orders.get_delivery_pin(order.id).pin
    except errors.ResourceNotFoundError:
        return None


def until(probe: Callable[[], Found | None]) -> Found:
    """Return the first result of `probe` that is not None."""
    deadline = time.monotonic() + WAIT_SECONDS_MAX
    while (found := probe()) is None:
        if time.monotonic() > deadline:
            raise TimeoutError(f"Not within {WAIT_SECONDS_MAX:g} s.")
        time.sleep(POLL_SECONDS)
    return found


if __name__ == "__main__":
    main()
