"""Staff on call stop checkout; the stop expires, or is lifted."""

from datetime import timedelta
from uuid import uuid4

from common.primitives.clock import iso
from common.primitives.ids import new_id
from testkit.responses import FORBIDDEN, data_of, error_of

from .conftest import Market

STOP = "/api/stops/checkout"


async def stop(market: Market, role: str = "ops_oncall", path: str = STOP):
    body = {"reason": "the gateway charges twice"}
    if path == STOP:
        expires = iso(market.clock.now() + timedelta(minutes=30))
        body |= {"message": "Checkout pauses for half an hour.", "expiresAt": expires}
    headers = market.headers(new_id(), roles=(role,), stepped_up=True)
    return await market.client.post(path, json=body, headers=headers)


async def test_a_stopped_checkout_names_the_end_of_the_stop(market: Market) -> None:
    product_id, key = await market.sell(stock=5), uuid4()
    placed = data_of(await market.checkout(product_id, key=key), 201)
    data_of(await stop(market), 201)
    refused = await market.checkout(product_id)
    assert (refused.status_code, refused.headers["Retry-After"]) == (503, "1800")
    assert refused.json()["detail"] == "Checkout pauses for half an hour."
    assert await market.stock_of(product_id) == 4
    # The order that was placed before is still the response of its key.
    assert data_of(await market.checkout(product_id, key=key), 201)["id"] == placed["id"]
    market.clock.advance(timedelta(minutes=30))
    assert (await market.checkout(product_id)).status_code == 201


async def test_a_lifted_stop_lets_checkout_run_again(market: Market) -> None:
    product_id = await market.sell(stock=5)
    assert error_of(await stop(market, "support_agent")) == FORBIDDEN
    data_of(await stop(market), 201)
    assert (await market.checkout(product_id)).status_code == 503
    data_of(await stop(market, path=f"{STOP}/lift"))
    assert (await market.checkout(product_id)).status_code == 201
