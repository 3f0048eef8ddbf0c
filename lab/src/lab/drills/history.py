"""The activity of a marketplace before and after the restored instant: purchases in all states, and payouts."""

import asyncio
import signal
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import uuid4

from campus_tools.launcher.system import System
from lab.systems import transfers_of, value_of
from lab.trade import add_product, deliver, pay_out
from operations.journey import Marketplace, SignedInUser

PRICE_MINOR: Final = 200_000
# Each payout has a unique amount, which identifies its transfer at the sandbox.
FIRST_AMOUNT_MINOR: Final = 10_001
_UNPUBLISHED: Final = "SELECT count(*) FROM outbox WHERE published_at IS NULL"


@dataclass(slots=True)
class Users:
    """The signed-in users. They sign in again after the restore, which lost later sessions."""

    market: Marketplace
    buyer: SignedInUser
    vendor: SignedInUser
    maker: SignedInUser
    ops: SignedInUser

    @classmethod
    async def sign_in(cls, market: Marketplace) -> "Users":
        return cls(
            market,
            buyer=await market.sign_in("buyer@unilag.edu.ng"),
            vendor=await market.sign_in("vendor@unilag.edu.ng"),
            maker=await market.sign_in_with_two_factors("maker@campus.example", "MAKER"),
            ops=await market.sign_in_with_two_factors("ops@campus.example", "OPS"),
        )


@dataclass(slots=True)
class History:
    """Order ids by outcome, the gateway's references of their payments, and the amounts of the payouts in kobo."""

    product_id: str = ""
    references: dict[str, str] = field(default_factory=dict)
    # Finished before the instant; they stay so.
    settled: list[str] = field(default_factory=list)
    # Held at the instant; later changes are lost here and recorded at the gateway.
    to_deliver: list[str] = field(default_factory=list)
    to_cancel: list[str] = field(default_factory=list)
    to_charge_back: list[str] = field(default_factory=list)
    # Placed before the instant and paid after it.
    to_pay: list[str] = field(default_factory=list)
    # Missing in the restored databases.
    placed_after: list[str] = field(default_factory=list)
    payouts: list[int] = field(default_factory=list)
    waiting_payout: str = ""
    requested_after_minor: int = 0

    def next_amount(self) -> int:
        self.payouts.append(FIRST_AMOUNT_MINOR + len(self.payouts))
        return self.payouts[-1]


@dataclass(slots=True)
class Activity:
    """The actions, each until its final state."""

    users: Users
    history: History

    @property
    def market(self) -> Marketplace:
        return self.users.market

    async def stock_product(self) -> None:
        self.history.product_id = await add_product(self.market, self.users.vendor, PRICE_MINOR, 1_000)

    async def placed(self) -> tuple[str, dict[str, Any]]:
        """Return an order with an open payment at the gateway."""
        order = await self.market.checkout(self.users.buyer, self.history.product_id)
        intent = await self.market.pay_intent(self.users.buyer, order["id"])
        self.history.references[order["id"]] = str(intent["reference"])
        return str(order["id"]), intent

    async def paid(self) -> str:
        order_id, intent = await self.placed()
        await self.market.pay(intent)
        await self.market.order_reaches(self.users.buyer, order_id, "paid_escrow")
        return order_id

    async def delivered(self, order_id: str) -> None:
        await deliver(self.market, self.users.vendor, self.users.buyer, order_id)

    async def cancelled(self, order_id: str) -> None:
        await self.market.post(
            f"/api/orders/{order_id}/cancel", {"reason": "changed my mind"}, self.users.buyer, key=uuid4()
        )
        await self.market.order_reaches(self.users.buyer, order_id, "refunded")

    async def charged_back(self, order_id: str) -> None:
        """Charge back a held order, as the buyer's bank."""
        opened = await self.market.sandbox.post(f"/control/charges/{self.history.references[order_id]}/dispute")
        dispute_id = opened.raise_for_status().json()["id"]
        await self.market.order_reaches(self.users.buyer, order_id, "disputed")
        (await self.market.sandbox.post(f"/control/disputes/{dispute_id}/lose")).raise_for_status()

    async def payout(self, amount_minor: int) -> str:
        await self.market.wallet_reaches(self.users.vendor, amount_minor)
        return str((await self.market.request_payout(self.users.vendor, amount_minor))["id"])

    async def paid_out(self, amount_minor: int) -> None:
        await pay_out(self.market, self.users.vendor, self.users.maker, amount_minor)

    async def sent(self, payout_ids: Sequence[str]) -> None:
        await self.market.dispatch_payouts(self.users.maker, list(payout_ids))

    async def set_sandbox(self, **settings: Any) -> None:
        (await self.market.sandbox.put("/control/settings", json=settings)).raise_for_status()

    async def set_faults(self, **rules: Any) -> None:
        (await self.market.sandbox.put("/control/faults", json=rules)).raise_for_status()


async def trade_before(activity: Activity, each: int) -> None:
    """Orders and payouts in every final state, before the base backup."""
    await activity.stock_product()
    for _ in range(each):
        for end in (activity.delivered, activity.cancelled, activity.charged_back):
            order_id = await activity.paid()
            await end(order_id)
            activity.history.settled.append(order_id)
        await activity.paid_out(activity.history.next_amount())


async def trade_up_to_the_instant(activity: Activity, each: int) -> None:
    """Work in progress at the instant: held and unpaid orders; pending, submitted and unknown payouts."""
    history = activity.history
    for _ in range(each):
        history.to_deliver.append(await activity.paid())
        history.to_cancel.append(await activity.paid())
        history.to_charge_back.append(await activity.paid())
        history.to_pay.append((await activity.placed())[0])
    history.waiting_payout = await activity.payout(history.next_amount())
    await activity.set_sandbox(transfer_settlement="manual")
    await activity.sent([await activity.payout(history.next_amount())])
    await activity.set_sandbox(transfer_settlement="auto")
    unknown = history.next_amount()
    rule = {"match": unknown, "times": 1, "error_before": True}
    await activity.set_faults(transfer_call=[rule], verify_call={"error_before": True})
    await activity.sent([await activity.payout(unknown)])


async def hold_release_event(activity: Activity, system: System) -> None:
    """Make a release whose event is at the broker; payouts' worker is stopped until `resume_payouts_worker`."""
    order_id = await activity.paid()
    await asyncio.to_thread(system.process("payouts-worker").signal, signal.SIGSTOP)
    await activity.delivered(order_id)
    await _until_published(system, "payments")


def resume_payouts_worker(system: System) -> None:
    """Continue the stopped worker of payouts."""
    system.process("payouts-worker").signal(signal.SIGCONT)


async def trade_after_the_instant(activity: Activity, each: int) -> None:
    """Activity that the restore loses: charges, releases, refunds, chargebacks and payouts."""
    history = activity.history
    await activity.set_faults(transfer_call=None, verify_call=None)
    await activity.sent([history.waiting_payout])
    for order_id in history.to_deliver:
        await activity.delivered(order_id)
    for order_id in history.to_cancel:
        await activity.cancelled(order_id)
    for order_id in history.to_charge_back:
        await activity.charged_back(order_id)
    for order_id in history.to_pay:
        await activity.market.pay(await activity.market.pay_intent(activity.users.buyer, order_id))
        await activity.market.order_reaches(activity.users.buyer, order_id, "paid_escrow")
    for _ in range(each):
        history.placed_after.append(await activity.paid())
    await _settle_transfers(activity)
    # More than the wallet held at the instant: the vendor cannot request it again before earning it again.
    history.requested_after_minor = int((await activity.market.wallet(activity.users.vendor))["availableMinor"])
    history.payouts.append(history.requested_after_minor)
    await activity.paid_out(history.requested_after_minor)


async def _settle_transfers(activity: Activity) -> None:
    """Let the manually settled transfers succeed, and wait for all payouts."""
    for transfer in await transfers_of(activity.market):
        if transfer["status"] == "pending":
            path = f"/control/transfers/{transfer['reference']}/succeed"
            # A transfer may have settled by itself before.
            await activity.market.sandbox.post(path)

    async def settled() -> bool | None:
        left = await transfers_of(activity.market)
        done = {int(line["amount"]) for line in left if line["status"] == "success"}
        return True if done >= set(activity.history.payouts) else None

    await Marketplace.until("every requested payout was transferred", settled, 180, every=1.0)


async def repeat_lost_actions(activity: Activity) -> None:
    """Users repeat their lost actions: deliveries and cancellations."""
    for order_id in activity.history.to_deliver:
        await activity.delivered(order_id)
    for order_id in activity.history.to_cancel:
        await activity.cancelled(order_id)


async def _until_published(system: System, service: str) -> None:
    async def published() -> bool | None:
        return None if await value_of(system, service, _UNPUBLISHED) else True

    await Marketplace.until(f"all outbox rows of {service} are published", published, 60)
