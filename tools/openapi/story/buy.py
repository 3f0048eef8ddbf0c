"""A purchase with the client of openapi-python-client: sign in, browse, check out, pay, verify the delivery, list.

BASE_URL, SANDBOX_URL and DEMO_PASSWORD name the running system. An unexpected response ends the story.
"""

import os
import time
from collections.abc import Callable
from typing import TypeVar
from uuid import uuid4

import httpx
from python_client import AuthenticatedClient, Client
from python_client.api.auth import auth_login
from python_client.api.delivery import orders_get_delivery_pin, orders_verify_delivery
from python_client.api.orders import orders_checkout, orders_dispatch, orders_get, orders_list
from python_client.api.payments import payments_create_intent
from python_client.api.products import products_list
from python_client.models import (
    CheckoutLine,
    CheckoutRequest,
    CreatePaymentIntentRequest,
    DeliveryPinResponse,
    LogInRequest,
    OrderDeliveryResponse,
    OrderList,
    OrderResponse,
    PaymentIntentResponse,
    ProductList,
    TokensResponse,
    VerifyDeliveryRequest,
)

BASE_URL, SANDBOX_URL, PASSWORD = (os.environ[name] for name in ("BASE_URL", "SANDBOX_URL", "DEMO_PASSWORD"))
WAIT_SECONDS_MAX = 60.0
Found = TypeVar("Found")


def main() -> None:
    """Play the purchase and print each step."""
    visitor = Client(base_url=BASE_URL)
    buyer, vendor = signed_in(visitor, "buyer@unilag.edu.ng"), signed_in(visitor, "vendor@unilag.edu.ng")
    catalog = expected(ProductList, products_list.sync(client=buyer, q="rice", in_stock=True)).data
    product = next(one for one in catalog if one.vendor_name == "Ada's Kitchen")
    print(f"product {product.name}: {product.price_minor} kobo")

    basket = CheckoutRequest(items=[CheckoutLine(product_id=product.id, quantity=1)])
    order = expected(OrderResponse, orders_checkout.sync(client=buyer, body=basket, idempotency_key=str(uuid4()))).data
    print(f"order {order.number}: {order.status}")

    request = CreatePaymentIntentRequest(order_id=order.id)
    intent = until(
        PaymentIntentResponse,
        lambda: payments_create_intent.sync(client=buyer, body=request, idempotency_key=str(uuid4())),
    ).data
    page = f"{SANDBOX_URL}/pay/{intent.access_code}"
    httpx.post(page, data={"action": "pay"}, headers={"Accept": "application/json"}).raise_for_status()
    paid = until(
        OrderResponse,
        lambda: orders_get.sync(order.id, client=buyer),
        lambda response: str(response.data.status) == "paid_escrow",
    )
    print(f"order {order.number}: {paid.data.status}")

    expected(OrderResponse, orders_dispatch.sync(order.id, client=vendor))
    pin = until(DeliveryPinResponse, lambda: orders_get_delivery_pin.sync(order.id, client=buyer)).data.pin
    proof = VerifyDeliveryRequest(pin=pin)
    delivered = orders_verify_delivery.sync(order.id, client=vendor, body=proof, idempotency_key=str(uuid4()))
    print(f"order {order.number}: {expected(OrderDeliveryResponse, delivered).data.status}")

    orders = expected(OrderList, orders_list.sync(client=buyer, limit=100)).data
    if order.id not in [one.id for one in orders]:
        raise SystemExit("The order is not in the list of orders.")


def signed_in(visitor: Client, email: str) -> AuthenticatedClient:
    """Return a client with the tokens of this demo account."""
    response = auth_login.sync(client=visitor, body=LogInRequest(email=email, password=PASSWORD))
    return AuthenticatedClient(base_url=BASE_URL, token=expected(TokensResponse, response).data.access_token)


def expected(kind: type[Found], response: object) -> Found:
    """Return the response, which must be of this kind."""
    if not isinstance(response, kind):
        raise SystemExit(f"Expected {kind.__name__}, received {response!r}.")
    return response


def until(kind: type[Found], send: Callable[[], object], accepts: Callable[[Found], bool] = lambda _: True) -> Found:
    """Return the first response of this kind that is accepted; services receive an order by message."""
    deadline = time.monotonic() + WAIT_SECONDS_MAX
    while True:
        response = send()
        if isinstance(response, kind) and accepts(response):
            return response
        if time.monotonic() > deadline:
            raise SystemExit(f"No {kind.__name__} within {WAIT_SECONDS_MAX:g} s; the last response is {response!r}.")
        time.sleep(0.2)


if __name__ == "__main__":
    main()
