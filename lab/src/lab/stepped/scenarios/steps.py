"""The form of a scenario, its usual preparations, and what its end compares."""

import itertools
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from lab.stepped.actions import Facts, check_out, create_product, deliver, pay, place_order
from lab.stepped.actors import BUYER, VENDOR
from lab.stepped.marketplace import Marketplace

End = Callable[[], Awaitable[None]]
"""Raises AssertionError unless the run reached its end."""

PRICE_MINOR: Final = 250_000
# The default commission of five percent is taken off.
NET_MINOR: Final = 237_500
_PRODUCTS: Final[dict[int, str]] = {}
_NUMBERS: Final = itertools.count(1)


async def nothing(market: Marketplace) -> Facts:
    """Start from the demo data."""
    await product(market)
    return {}


@dataclass(frozen=True, slots=True)
class Scenario:
    """`run(market, given)` is killed at each effect, `prepare` is not. `further`: more processes that it needs."""

    run: Callable[[Marketplace, Facts], Awaitable[End]]
    prepare: Callable[[Marketplace], Awaitable[Facts]] = nothing
    further: Sequence[str] = ()


def unique_minor(at_least_minor: int) -> int:
    """Return an amount that no other run uses, by which the gateway's records are found."""
    return at_least_minor + next(_NUMBERS)


async def product(market: Marketplace) -> str:
    """Return a product with more stock than all runs buy."""
    if id(market) not in _PRODUCTS:
        _PRODUCTS[id(market)] = await create_product(market, VENDOR, PRICE_MINOR)
    return _PRODUCTS[id(market)]


async def own_product(market: Marketplace) -> Facts:
    """Return a product that no earlier order has, whose stock only this run changes."""
    return {"productId": await create_product(market, VENDOR, PRICE_MINOR)}


async def unpaid_order(market: Marketplace) -> Facts:
    """Return an order without a payment."""
    order = await check_out(market, BUYER, await product(market))
    await market.run_until_idle()
    return order


async def placed_order(market: Marketplace) -> Facts:
    return await place_order(market, await product(market))


async def paid_order(market: Marketplace) -> Facts:
    order = await placed_order(market)
    await pay(market, order)
    return order


async def delivered_order(market: Marketplace) -> Facts:
    order = await paid_order(market)
    await deliver(market, order)
    return order


async def order_of(market: Marketplace, order: Mapping[str, Any]) -> Facts:
    return dict(await market.get(f"/api/orders/{order['id']}", BUYER))


def added(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, int]:
    """How much the amounts of a wallet changed, in kobo, without those that did not."""
    names = ("availableMinor", "lockedMinor", "inTransitMinor", "heldMinor")
    changes = {name: after[name] - before[name] for name in names}
    return {name: change for name, change in changes.items() if change}


async def refunds_of(market: Marketplace, order: Mapping[str, Any]) -> list[Facts]:
    """Return the gateway's refunds of an order's charge."""
    return [
        line for line in await market.sandbox.listed("refund") if line["transaction_reference"] == order["reference"]
    ]


async def pay_out_refunds(market: Marketplace, order: Mapping[str, Any]) -> None:
    """Pay the pending refunds of a charge out, as the bank."""
    for refund in await refunds_of(market, order):
        if refund["status"] == "pending":
            await market.sandbox.act(f"refunds/{refund['id']}/process")
    await market.run_until_idle()


async def assert_refunded_once(market: Marketplace, order: Mapping[str, Any], amount_minor: int) -> None:
    """Check that the gateway paid this amount back once, and that payments recorded it."""
    await pay_out_refunds(market, order)
    refunds = await refunds_of(market, order)
    assert [(line["amount"], line["status"]) for line in refunds] == [(amount_minor, "processed")], refunds
