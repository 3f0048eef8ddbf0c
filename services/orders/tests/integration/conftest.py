"""Fixtures: the running service on a migrated database, its HTTP client, its clock, and a market with one vendor and
one buyer.
"""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest
import pytest_asyncio

from common.messaging.messages import Received
from common.primitives.clock import ManualClock
from common.primitives.ids import new_id
from contracts.payments import EscrowHeld, EscrowReleased
from orders.app import SERVICE
from testkit.events import EventT, vendor_event
from testkit.fixtures import DatabaseFactory
from testkit.responses import data_of
from testkit.service_kit import OpenService, opened
from testkit.world import World

PIN_KEY = "a pin key for the tests"
PIN_DELIVERY_KEY = "a pin delivery key for the tests"
_RECORD_HUB = """
INSERT INTO hubs (id, campus_id, name, delivery_fee_minor, active, sequence) VALUES ($1, $2, 'Gate', $3, true, 1)
"""


@dataclass
class Market(World):
    """The running service with a vendor and a buyer on one campus."""

    campus_id: UUID = field(default_factory=new_id)
    vendor_id: UUID = field(default_factory=new_id)
    merchant_id: UUID = field(default_factory=new_id)
    buyer_id: UUID = field(default_factory=new_id)
    packer_id: UUID = field(default_factory=new_id)

    def as_buyer(self, user_id: UUID | None = None, **more: Any) -> dict[str, str]:
        return self.headers(user_id or self.buyer_id, **more)

    def as_merchant(self, vendor_id: UUID | None = None, **more: Any) -> dict[str, str]:
        roles = ("buyer", "merchant")
        return self.headers(self.merchant_id, roles=roles, vendor_id=vendor_id or self.vendor_id, **more)

    def as_packer(self, vendor_id: UUID | None = None, **more: Any) -> dict[str, str]:
        """Return the headers of a packer of the vendor."""
        packing = vendor_id or self.vendor_id
        return self.headers(self.packer_id, roles=("buyer", "shop_packer"), packing_vendor_id=packing, **more)

    def as_agent(self, order: dict[str, Any], **more: Any) -> dict[str, str]:
        """Return the headers of an agent of the order's hub."""
        return self.as_staff("hub_agent", self.campus_id, hub_id=UUID(order["hubId"]), **more)

    def vendor_event(self, event: type[EventT], **changes: Any) -> EventT:
        """Return an event with the profile of the market's vendor."""
        owner_id = changes.pop("owner_user_id", self.merchant_id)
        return vendor_event(event, self.vendor_id, owner_id, campus_id=self.campus_id, **changes)

    async def hub(self, fee_minor: int = 0) -> str:
        """Return the id of a new hub of the campus."""
        hub_id = new_id()
        await self.fetch(_RECORD_HUB, hub_id, self.campus_id, fee_minor)
        return str(hub_id)

    async def sell(self, *, price_minor: int = 150_000, stock: int = 10, **columns: Any) -> UUID:
        """Insert a listed product of the vendor, and return its id."""
        product_id = columns.pop("id", None) or new_id()
        row = {
            "id": product_id,
            "vendor_id": self.vendor_id,
            "vendor_name": "Ada's Kitchen",
            "campus_id": self.campus_id,
            "name": "Jollof Rice",
            "description": "Smoky",
            "category": "meals",
            "price_minor": price_minor,
            "currency": "NGN",
            "stock": stock,
            "images": [],
            "rating_sum": 0,
            "rating_count": 0,
            "revision": 1,
            "created_at": self.clock.now(),
            "updated_at": self.clock.now(),
            **columns,
        }
        names, values = ", ".join(row), list(row.values())
        places = ", ".join(f"${number}" for number in range(1, len(values) + 1))
        await self.fetch(f"INSERT INTO products ({names}) VALUES ({places})", *values)
        return product_id

    async def stock_of(self, product_id: UUID) -> int:
        rows = await self.fetch("SELECT stock FROM products WHERE id = $1", product_id)
        return rows[0]["stock"]

    async def checkout(
        self,
        product_id: UUID,
        quantity: int = 1,
        *,
        key: UUID | str | None = None,
        buyer_id: UUID | None = None,
        **body: Any,
    ) -> httpx.Response:
        items = [{"productId": str(product_id), "quantity": quantity}]
        headers = self.as_buyer(buyer_id, idempotency_key=key or uuid4())
        return await self.client.post("/api/orders/checkout", json={"items": items, **body}, headers=headers)

    async def ordered(self, product_id: UUID | None = None, quantity: int = 1, **more: Any) -> dict[str, Any]:
        """Return an unpaid order."""
        return data_of(await self.checkout(product_id or await self.sell(), quantity, **more), 201)

    async def pay(self, order: dict[str, Any], **delivery: Any) -> Received:
        """Payments holds the order's escrow."""
        return await self.receive(self.held(order), **delivery)

    def held(self, order: dict[str, Any]) -> EscrowHeld:
        return EscrowHeld(
            order_id=UUID(order["id"]),
            buyer_id=UUID(order["buyerId"]),
            vendor_id=UUID(order["vendorId"]),
            amount_minor=order["totalMinor"],
            commission_minor=1,
            delivery_fee_minor=order["deliveryFeeMinor"],
            reference="reference",
            held_at="2026-01-01T00:00:00.000Z",
        )

    async def release(self, order: dict[str, Any], *, remaining_minor: int = 0, **delivery: Any) -> Received:
        """Payments released the order's escrow to the vendor."""
        return await self.receive(
            EscrowReleased(
                order_id=UUID(order["id"]),
                buyer_id=UUID(order["buyerId"]),
                vendor_id=UUID(order["vendorId"]),
                release_id=new_id(),
                gross_minor=order["totalMinor"] - remaining_minor,
                commission_minor=0,
                delivery_fee_minor=0,
                net_minor=order["totalMinor"] - remaining_minor,
                remaining_minor=remaining_minor,
                remaining_vendor_minor=remaining_minor,
            ),
            **delivery,
        )

    async def paid(self, **more: Any) -> dict[str, Any]:
        """Return a paid order."""
        order = await self.ordered(**more)
        await self.pay(order)
        return order

    async def show(self, order: dict[str, Any], headers: dict[str, str] | None = None) -> dict[str, Any]:
        return data_of(await self.client.get(f"/api/orders/{order['id']}", headers=headers or self.as_buyer()))

    async def status_of(self, order: dict[str, Any]) -> str:
        rows = await self.fetch("SELECT status FROM orders WHERE id = $1", UUID(order["id"]))
        return rows[0]["status"]

    async def pin_of(self, order: dict[str, Any]) -> str:
        url = f"/api/orders/{order['id']}/delivery-pin"
        return data_of(await self.client.get(url, headers=self.as_buyer()))["pin"]

    async def verify(
        self, order: dict[str, Any], pin: str, *, key: UUID | None = None, **headers: Any
    ) -> httpx.Response:
        sent = headers.get("headers") or self.as_buyer()
        return await self.client.post(
            f"/api/orders/{order['id']}/verify-delivery",
            json={"pin": pin},
            headers={**sent, "Idempotency-Key": str(key or uuid4())},
        )

    async def approve_resolution(self, resolution_id: Any, headers: dict[str, str] | None = None) -> httpx.Response:
        """Read the prepared resolution and approve its hash, as a finance checker."""
        path = f"/api/dispute-resolutions/{resolution_id}"
        shown = await self.client.get(path, headers=self.as_staff("auditor"))
        body = {"hash": shown.json()["data"]["hash"] if shown.status_code == 200 else "0" * 64}
        checker = headers or self.as_staff("finance_checker", stepped_up=True)
        return await self.client.post(f"{path}/approve", json=body, headers=checker)

    async def post(
        self, order: dict[str, Any], verb: str, headers: dict[str, str], body: dict[str, Any] | None = None
    ) -> httpx.Response:
        return await self.client.post(f"/api/orders/{order['id']}/{verb}", json=body or {}, headers=headers)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(datetime(2026, 1, 5, 12, 0, tzinfo=UTC))


@pytest_asyncio.fixture(loop_scope="session")
async def app(fresh_database: DatabaseFactory, broker_url: str, clock: ManualClock) -> AsyncIterator[OpenService]:
    urls = await fresh_database("orders")
    keys = {"pin_key": PIN_KEY, "pin_delivery_key": PIN_DELIVERY_KEY}
    # One buyer places many orders; `test_unpaid_limits.py` has the limits of the settings.
    limits = {"unpaid_orders_max": 1_000, "unpaid_share_max_percent": 100}
    async with opened(SERVICE, urls, broker_url, clock=clock, **keys, **limits) as running:
        yield running


@pytest.fixture
def market(app: OpenService, clock: ManualClock) -> Market:
    return Market(app, clock)
