"""Products, purchases, deliveries and payouts of demo users on a running system, each until its end."""

from typing import Final
from uuid import uuid4

from operations.journey import Marketplace, SignedInUser

# Several, so that checkouts do not wait for the lock of one stock.
PRODUCTS: Final = 12


async def add_stock(market: Marketplace, vendor: SignedInUser, stock: int) -> list[str]:
    """Ids of new products with `stock` pieces each, all at different prices."""
    return [await add_product(market, vendor, 1_000 + number, stock) for number in range(PRODUCTS)]


async def add_product(market: Marketplace, vendor: SignedInUser, price_minor: int, stock: int) -> str:
    """Return the id of a new product; the price is in kobo."""
    name = f"Lab {uuid4().hex[:8]}"
    body = {"name": name, "description": "For a run", "category": "lab", "priceMinor": price_minor, "stock": stock}
    return str((await market.post("/api/products", body, vendor, key=uuid4()))["id"])


async def purchase(market: Marketplace, buyer: SignedInUser, product_id: str) -> str:
    """Check out and pay; returns the id of the paid order."""
    order = await market.checkout(buyer, product_id)
    await market.pay(await market.pay_intent(buyer, order["id"]))
    await market.order_reaches(buyer, order["id"], "paid_escrow", within=market.wait_seconds_max)
    return str(order["id"])


async def hand_over(market: Marketplace, vendor: SignedInUser, buyer: SignedInUser, order_id: str) -> None:
    """Dispatch, and confirm the delivery with the buyer's PIN."""
    await market.post(f"/api/orders/{order_id}/dispatch", {}, vendor, key=uuid4())
    await market.verify_delivery(vendor, order_id, await market.delivery_pin(buyer, order_id))


async def deliver(market: Marketplace, vendor: SignedInUser, buyer: SignedInUser, order_id: str) -> None:
    """Hand the order over, until its money is released."""
    await hand_over(market, vendor, buyer, order_id)
    await market.order_reaches(buyer, order_id, "paid", within=market.wait_seconds_max)
    await market.get(f"/api/orders/{order_id}/timeline", buyer)
    await market.get("/api/wallets/current/statement", vendor)


async def pay_out(market: Marketplace, vendor: SignedInUser, maker: SignedInUser, amount_minor: int) -> str:
    """Request, dispatch and confirm a payout; returns its id."""
    await market.wallet_reaches(vendor, amount_minor, within=market.wait_seconds_max)
    payout_id = str((await market.request_payout(vendor, amount_minor))["id"])
    await market.dispatch_payouts(maker, [payout_id])
    await market.payout_reaches(vendor, payout_id, "processed", within=market.wait_seconds_max)
    return payout_id
