"""A product, its buyer and vendor in the running system, and their operations on an order."""

from dataclasses import dataclass
from typing import Any

from contracts.demo import AKOKA_HUB
from operations.journey import Marketplace, SignedInUser, StepFailed
from tests.end_to_end.conftest import Users

PRICE_MINOR = 200_000
COMPLAINT = {"reason": "never came", "details": "I waited at the gate for two hours."}


@dataclass
class Scenario:
    """A product, its buyer and vendor, and their operations on an order."""

    market: Marketplace
    users: Users
    product_id: str

    def user(self, part: str) -> SignedInUser:
        users: dict[str, SignedInUser] = {
            "buyer": self.users.buyer,
            "vendor": self.users.vendor,
            "hub agent": self.users.hub,
            "staff": self.users.support,
        }
        return users[part]

    async def sell(self, stock: int) -> str:
        offered = {
            "name": "Table of moves",
            "description": "",
            "category": "books",
            "priceMinor": PRICE_MINOR,
            "stock": stock,
        }
        return str((await self.market.post("/api/products", offered, self.users.vendor))["id"])

    async def act(
        self, user: SignedInUser, order: dict[str, Any], verb: str, body: dict[str, Any] | None = None
    ) -> Any:
        return await self.market.post(f"/api/orders/{order['id']}/{verb}", body or {}, user)

    async def reach(self, order: dict[str, Any], *statuses: str) -> str:
        return str((await self.market.order_reaches(self.users.buyer, order["id"], *statuses))["status"])

    async def show(self, order: dict[str, Any]) -> dict[str, Any]:
        return await self.market.order(self.users.buyer, order["id"])

    # The ways to each state

    async def placed(self, quantity: int = 1, product_id: str | None = None) -> dict[str, Any]:
        """Return an order that waits for its payment, which is open on the gateway's page."""
        order = await self.market.checkout(
            self.users.buyer, product_id or self.product_id, quantity, hubId=str(AKOKA_HUB.id)
        )
        order["intent"] = await self.market.pay_intent(self.users.buyer, order["id"])
        return order

    async def placed_in_time(self, product_id: str | None = None) -> dict[str, Any]:
        """As `placed`, while the window for a payment is short: one that ended before the intent was created is started
        again.
        """

        async def probe() -> dict[str, Any] | None:
            try:
                return await self.placed(product_id=product_id)
            except StepFailed as refusal:
                if refusal.status != 409:
                    raise
                return None

        return await self.market.until("an intent within the window", probe, 120)

    async def pay(self, order: dict[str, Any]) -> None:
        await self.market.pay(order["intent"])

    async def paid(self, quantity: int = 1) -> dict[str, Any]:
        order = await self.placed(quantity)
        await self.pay(order)
        await self.reach(order, "paid_escrow")
        return order

    async def dispatched(self) -> dict[str, Any]:
        order = await self.paid()
        assert (await self.act(self.users.vendor, order, "dispatch"))["status"] == "dispatched"
        return order

    async def held(self, state: str) -> dict[str, Any]:
        return await (self.paid() if state == "paid_escrow" else self.dispatched())

    async def disputed(self) -> dict[str, Any]:
        order = await self.dispatched()
        assert (await self.act(self.users.buyer, order, "dispute", COMPLAINT))["status"] == "disputed"
        return order

    async def completed(self, quantity: int = 1) -> dict[str, Any]:
        """Return an order that was delivered and whose money was released."""
        order = await self.paid(quantity)
        await self.deliver(order, "vendor")
        await self.reach(order, "paid")
        return order

    # What happens to it

    async def deliver(self, order: dict[str, Any], part: str) -> str:
        pin = await self.market.delivery_pin(self.users.buyer, order["id"])
        return str((await self.market.verify_delivery(self.user(part), order["id"], pin))["status"])

    async def cancel(self, order: dict[str, Any], part: str) -> str:
        return str((await self.act(self.user(part), order, "cancel", {"reason": "no"}))["status"])

    async def prepare(self, order: dict[str, Any], outcome: str) -> str:
        body = {"outcome": outcome} | ({"refundMinor": PRICE_MINOR // 4} if outcome == "split" else {})
        return str((await self.act(self.users.support, order, "resolve", body))["resolutionId"])

    async def approve(self, resolution_id: str) -> str:
        path = f"/api/dispute-resolutions/{resolution_id}"
        read = {"hash": (await self.market.get(path, self.users.checker))["hash"]}
        return str((await self.market.post(f"{path}/approve", read, self.users.checker))["status"])

    async def release(self, order: dict[str, Any]) -> dict[str, Any]:
        return dict(await self.act(self.users.checker, order, "release", {"amountMinor": order["totalMinor"]}))

    async def charge_back(self, order: dict[str, Any]) -> int:
        response = await self.market.sandbox.post(f"/control/charges/{order['intent']['reference']}/dispute")
        return int(response.raise_for_status().json()["id"])

    async def decide_chargeback(self, dispute_id: int, act: str) -> None:
        (await self.market.sandbox.post(f"/control/disputes/{dispute_id}/{act}")).raise_for_status()

    async def dispute_of(self, order: dict[str, Any]) -> dict[str, Any]:
        return dict(await self.market.get(f"/api/orders/{order['id']}/dispute", self.users.buyer))

    async def give_back(self, order: dict[str, Any], quantity: int) -> str:
        """So many units are returned, and the vendor approves."""
        body = {"items": [{"itemId": order["items"][0]["id"], "quantity": quantity}], "reason": "The zip is torn."}
        requested = await self.act(self.users.buyer, order, "return-requests", body)
        await self.market.post(f"/api/return-requests/{requested['id']}/approve", {}, self.users.vendor)
        return str((await self.show(order))["status"])

    async def refunded(self, order: dict[str, Any], refunded_minor: int) -> str:
        """Return the state in which the order shows that so much went back."""

        async def probe() -> dict[str, Any] | None:
            shown = await self.show(order)
            return shown if shown["refundedMinor"] == refunded_minor else None

        return str((await self.market.until("the refund to be posted", probe, 60))["status"])
