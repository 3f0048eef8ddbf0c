"""Vendors with a wallet and an account of their own, so that several races on payouts share the passing of time."""

from collections import deque
from dataclasses import dataclass, field
from typing import Final

from common.auth.caller import THE_SERVICE
from common.database.unit_of_work import Database
from common.primitives.ids import new_id
from contracts.demo import ADA, LAGOS
from contracts.identity import VendorApproved
from lab.races.marketplace import RacingMarketplace
from lab.stepped.actions import Facts, create_product, deliver, pay, place_order, set_bank_details, wallet
from lab.stepped.actors import VENDOR, User
from lab.stepped.scenarios.steps import unique_minor

VENDORS: Final = 20
_PRICE_MINOR: Final = 50_000_000
# More than a race pays out.
_FUNDS_MINOR: Final = 500_000


@dataclass(slots=True)
class _Pool:
    """Those that have waited longest first, each with the product that fills its wallet."""

    free: deque[tuple[User, str]] = field(default_factory=deque)
    opened: int = 0


_POOLS: Final[dict[int, _Pool]] = {}


async def next_vendor(market: RacingMarketplace) -> User:
    """Return the vendor of the next race, with enough in the wallet."""
    pool = _POOLS.setdefault(id(market), _Pool())
    if pool.opened < VENDORS:
        pool.opened += 1
        vendor, product_id = await _open_vendor(market)
    else:
        vendor, product_id = pool.free.popleft()
        if (await wallet(market, vendor))["heldMinor"]:
            # A contradicted transfer, which staff have not decided, holds every later payout.
            vendor, product_id = await _open_vendor(market)
    pool.free.append((vendor, product_id))
    if (await wallet(market, vendor))["availableMinor"] < _FUNDS_MINOR:
        await _sell(market, vendor, product_id)
    return vendor


async def next_sale(market: RacingMarketplace) -> tuple[User, Facts]:
    """Return the vendor of the next race, and an order that was delivered right before."""
    vendor = await next_vendor(market)
    product_id = next(product_id for other, product_id in _POOLS[id(market)].free if other == vendor)
    return vendor, await _sell(market, vendor, product_id)


async def _open_vendor(market: RacingMarketplace) -> tuple[User, str]:
    approved = VendorApproved(
        vendor_id=new_id(),
        owner_user_id=new_id(),
        business_name="A vendor of races",
        legal_name=ADA.legal_name,
        campus_id=LAGOS.id,
    )
    identity = market.processes["identity-worker"]
    await identity.run(_publish(identity.dependencies.database, approved))
    await market.run_until_idle()
    vendor = User(approved.owner_user_id, {**VENDOR.claims, "vendor_id": approved.vendor_id})
    await set_bank_details(market, vendor, f"{unique_minor(1):010d}", ADA.legal_name)
    return vendor, await create_product(market, vendor, _PRICE_MINOR)


async def _publish(database: Database, event: VendorApproved) -> None:
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        uow.publish(event)


async def _sell(market: RacingMarketplace, vendor: User, product_id: str) -> Facts:
    order = await place_order(market, product_id)
    await pay(market, order)
    await deliver(market, order, vendor)
    return order
