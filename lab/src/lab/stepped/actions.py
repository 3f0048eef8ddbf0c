"""The actions of users, staff, payers and banks, each written once. Messages follow when the caller lets them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from lab.stepped.actors import BUYER, CHECKER, MAKER, SUPPORT, VENDOR, User
from lab.stepped.marketplace import Marketplace

Facts = dict[str, Any]
"""The facts of an order or a payout, such as its id, its PIN and the hash of a prepared decision."""


@dataclass(frozen=True, slots=True)
class Command:
    """A POST about an order or a payout. The path, and each value of the body that names a fact, are filled in."""

    path: str
    body: Mapping[str, Any] = field(default_factory=dict)

    def path_of(self, facts: Mapping[str, Any]) -> str:
        return self.path.format(**facts)

    def body_of(self, facts: Mapping[str, Any]) -> Facts:
        return {name: facts.get(value, value) for name, value in self.body.items()}

    async def post(self, market: Marketplace, user: User, facts: Mapping[str, Any], **more: Any) -> Any:
        """Send it with a key of its own, and return the data of the response. `more`: further fields of the body."""
        return await market.post(self.path_of(facts), user, self.body_of(facts) | more)

    async def run(self, market: Marketplace, user: User, facts: Mapping[str, Any], **more: Any) -> Any:
        """Send it, and let its messages follow."""
        data = await self.post(market, user, facts, **more)
        await market.run_until_idle()
        return data


REASON: Final = {"reason": "as planned"}
ACCOUNT: Final = {"accountNumber": "0123456789", "bankCode": "058", "accountName": "Chidi Okafor"}
_HASH: Final = {"hash": "hash"}
_COMPLAINT: Final = {"reason": "half is missing", "details": "One of two boxes was empty."}
_ORDER: Final = "/api/orders/{id}"
_RESOLUTION: Final = "/api/dispute-resolutions/{resolution}"
_RECONCILIATION: Final = "/api/reconciliations/{reconciliation}"

CANCEL_ORDER: Final = Command(f"{_ORDER}/cancel", REASON)
DISPATCH: Final = Command(f"{_ORDER}/dispatch")
VERIFY_DELIVERY: Final = Command(f"{_ORDER}/verify-delivery", {"pin": "pin"})
DISPUTE: Final = Command(f"{_ORDER}/dispute", _COMPLAINT)
RELEASE: Final = Command(f"{_ORDER}/release", {"amountMinor": "totalMinor"})
APPROVE_RESOLUTION: Final = Command(f"{_RESOLUTION}/approve", _HASH)
REJECT_RESOLUTION: Final = Command(f"{_RESOLUTION}/reject")
DISPATCH_PAYOUTS: Final = Command("/api/payouts/dispatch")
CANCEL_PAYOUT: Final = Command("/api/payouts/{id}/cancel")
HOLD_PAYOUT: Final = Command("/api/payouts/{id}/hold", REASON)
RELEASE_PAYOUT: Final = Command("/api/payouts/{id}/release", REASON)
RESET_PAYOUT: Final = Command("/api/payouts/{id}/reset", REASON)
APPROVE_RECONCILIATION: Final = Command(f"{_RECONCILIATION}/approve", _HASH)
REJECT_RECONCILIATION: Final = Command(f"{_RECONCILIATION}/reject", REASON)


async def create_product(market: Marketplace, vendor: User, price_minor: int, stock: int = 10**6) -> str:
    """Return the id of a new product, which is published."""
    body = {"name": "Bag", "description": "For a run", "category": "lab", "priceMinor": price_minor, "stock": stock}
    product_id = str((await market.post("/api/products", vendor, body))["id"])
    await market.run_until_idle()
    return product_id


async def check_out(
    market: Marketplace, buyer: User, product_id: str, quantity: int = 1, *further: str, **more: Any
) -> Facts:
    """Return the order of a product, and of one piece of each of the further ones. `more`: fields of the body."""
    items = [{"productId": product_id, "quantity": quantity}]
    items += [{"productId": one, "quantity": 1} for one in further]
    return dict(await market.post("/api/orders/checkout", buyer, {"items": items, **more}))


async def open_payment(market: Marketplace, buyer: User, order_id: str) -> Facts:
    return dict(await market.post("/api/payments/intent", buyer, {"orderId": order_id}))


async def place_order(market: Marketplace, product_id: str, quantity: int = 1) -> Facts:
    """Return an order of the buyer with an open payment, whose `reference` it has."""
    order = await check_out(market, BUYER, product_id, quantity)
    await market.run_until_idle()
    return {**order, "reference": (await open_payment(market, BUYER, order["id"]))["reference"]}


async def pay(market: Marketplace, order: Mapping[str, Any], **terms: Any) -> None:
    """Pay as the payer, and deliver the webhook; `terms` differ from the intent's."""
    await market.sandbox.act(f"charges/{order['reference']}/pay", terms)
    await market.run_until_idle()


async def with_pin(market: Marketplace, order: Facts, buyer: User = BUYER) -> Facts:
    """Return the order with its delivery PIN."""
    return {**order, "pin": (await market.get(f"/api/orders/{order['id']}/delivery-pin", buyer))["pin"]}


async def deliver(market: Marketplace, order: Facts, vendor: User = VENDOR, buyer: User = BUYER) -> None:
    """Dispatch, and confirm the delivery with the PIN."""
    await DISPATCH.run(market, vendor, order)
    await VERIFY_DELIVERY.run(market, vendor, await with_pin(market, order, buyer))


async def resolve(market: Marketplace, order_id: str, outcome: str, refund_minor: int | None = None) -> Facts:
    """Prepare a resolution of a dispute, as support; return what its approval needs."""
    body = {"outcome": outcome} | ({} if refund_minor is None else {"refundMinor": refund_minor})
    made = await market.post(f"/api/orders/{order_id}/resolve", SUPPORT, body)
    return {"resolution": made["resolutionId"], "hash": made["hash"], "status": made["status"]}


async def request_return(market: Marketplace, order_id: str, item_id: str, buyer: User = BUYER, **more: Any) -> Facts:
    """Request the return of one piece."""
    body = {"items": [{"itemId": item_id, "quantity": 1}], "reason": "The zip is torn.", **more}
    return dict(await market.post(f"/api/orders/{order_id}/return-requests", buyer, body))


async def reconcile(market: Marketplace, payout_id: str) -> Facts:
    """Prepare the reconciliation of a payout, as finance; return what its approval needs."""
    made = await market.post(f"/api/payouts/{payout_id}/reconciliations", MAKER, REASON)
    return {"reconciliation": made["id"], "hash": made["hash"], "kind": made["kind"]}


async def prepare_and_approve(market: Marketplace, path: str, decision: Mapping[str, Any]) -> None:
    """Decide about a refund or a quarantined charge, as two of finance."""
    prepared = await market.post(f"{path}/prepare", MAKER, {**REASON, **decision})
    await market.post(f"{path}/approve", CHECKER, {"hash": prepared["hash"]})


async def refund_to_account(market: Marketplace, refund_id: object) -> str:
    """Pay a failed refund to an account of the payer, as two of finance. Return the transfer's reference."""
    path = f"/api/refunds/{refund_id}"
    await market.sandbox.name_account(ACCOUNT["bankCode"], ACCOUNT["accountNumber"], ACCOUNT["accountName"])
    await prepare_and_approve(market, path, {"action": "other_destination", "destination": ACCOUNT})
    return str((await market.get(path, MAKER))["reference"])


async def wallet(market: Marketplace, vendor: User = VENDOR) -> Facts:
    return dict(await market.get("/api/wallets/current", vendor))


async def set_bank_details(market: Marketplace, vendor: User, account_number: str, name: str) -> None:
    """Pay the vendor at a new account from now on, which has this name at its bank."""
    body = {"accountNumber": account_number, "bankCode": "058"}
    await market.sandbox.name_account("058", account_number, name)
    await market.put(f"/api/vendors/{vendor.claims['vendor_id']}/bank-details", vendor, body)
