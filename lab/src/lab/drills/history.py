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
class Actors:
    """The signed-in users. They sign in again after the restore, which lost later sessions."""

    market: Marketplace
    buyer: SignedInUser
    vendor: SignedInUser
    maker: SignedInUser
    ops: SignedInUser

    @classmethod
    async def sign_in(cls, market: Marketplace) -> "Actors":
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
class Play:
    """The actions, each until its final state."""

    actors: Actors
    history: History

    @property
    def market(self) -> Marketplace:
        return self.actors.market

    async def stock_product(self) -> None:
        self.history.product_id = await add_product(self.market, self.actors.vendor, PRICE_MINOR, 1_000)

    async def placed(self) -> tuple[str, dict[str, Any]]:
        """Return an order with an open payment at the gateway."""
        order = await self.market.checkout(self.actors.buyer, self.history.product_id)
        intent = await self.market.pay_intent(self.actors.buyer, order["id"])
        self.history.references[order["id"]] = str(intent["reference"])
        return str(order["id"]), intent

    async def paid(self) -> str:
        order_id, intent = await self.placed()
        await self.market.pay(intent)
        await self.market.order_reaches(self.actors.buyer, order_id, "paid_escrow")
        return order_id

    async def delivered(self, order_id: str) -> None:
        await deliver(self.market, self.actors.vendor, self.actors.buyer, order_id)

    async def cancelled(self, order_id: str) -> None:
        await self.market.post(
            f"/api/orders/{order_id}/cancel", {"reason": "changed my mind"}, self.actors.buyer, key=uuid4()
        )
        await self.market.order_reaches(self.actors.buyer, order_id, "refunded")

    async def charged_back(self, order_id: str) -> None:
        """Charge back a held order, as the buyer's bank."""
        opened = await self.market.sandbox.post(f"/control/charges/{self.history.references[order_id]}/dispute")
        dispute_id = opened.raise_for_status().json()["id"]
        await self.market.order_reaches(self.actors.buyer, order_id, "disputed")
        (await self.market.sandbox.post(f"/control/disputes/{dispute_id}/lose")).raise_for_status()

    async def payout(self, amount_minor: int) -> str:
        await self.market.wallet_reaches(self.actors.vendor, amount_minor)
        return str((await self.market.request_payout(self.actors.vendor, amount_minor))["id"])

    async def paid_out(self, amount_minor: int) -> None:
        await pay_out(self.market, self.actors.vendor, self.actors.maker, amount_minor)

    async def sent(self, payout_ids: Sequence[str]) -> None:
        await self.market.dispatch_payouts(self.actors.maker, list(payout_ids))

    async def set_sandbox(self, **settings: Any) -> None:
        (await self.market.sandbox.put("/control/settings", json=settings)).raise_for_status()

    async def set_faults(self, **rules: Any) -> None:
        (await self.market.sandbox.put("/control/faults", json=rules)).raise_for_status()


async def play_before(play: Play, each: int) -> None:
    """Orders and payouts in every final state, before the base backup."""
    await play.stock_product()
    for _ in range(each):
        for end in (play.delivered, play.cancelled, play.charged_back):
            order_id = await play.paid()
            await end(order_id)
            play.history.settled.append(order_id)
        await play.paid_out(play.history.next_amount())


async def play_up_to_the_instant(play: Play, each: int) -> None:
    """Work in progress at the instant: held and unpaid orders; pending, submitted and unknown payouts."""
    history = play.history
    for _ in range(each):
        history.to_deliver.append(await play.paid())
        history.to_cancel.append(await play.paid())
        history.to_charge_back.append(await play.paid())
        history.to_pay.append((await play.placed())[0])
    history.waiting_payout = await play.payout(history.next_amount())
    await play.set_sandbox(transfer_settlement="manual")
    await play.sent([await play.payout(history.next_amount())])
    await play.set_sandbox(transfer_settlement="auto")
    unknown = history.next_amount()
    rule = {"match": unknown, "times": 1, "error_before": True}
    await play.set_faults(transfer_call=[rule], verify_call={"error_before": True})
    await play.sent([await play.payout(unknown)])


async def hold_release_event(play: Play, system: System) -> None:
    """Make a release whose event is at the broker; payouts' worker is stopped until `resume_payouts_worker`."""
    order_id = await play.paid()
    await asyncio.to_thread(system.process("payouts-worker").signal, signal.SIGSTOP)
    await play.delivered(order_id)
    await _until_published(system, "payments")


def resume_payouts_worker(system: System) -> None:
    """Continue the stopped worker of payouts."""
    system.process("payouts-worker").signal(signal.SIGCONT)


async def play_after_the_instant(play: Play, each: int) -> None:
    """Activity that the restore loses: charges, releases, refunds, chargebacks and payouts."""
    history = play.history
    await play.set_faults(transfer_call=None, verify_call=None)
    await play.sent([history.waiting_payout])
    for order_id in history.to_deliver:
        await play.delivered(order_id)
    for order_id in history.to_cancel:
        await play.cancelled(order_id)
    for order_id in history.to_charge_back:
        await play.charged_back(order_id)
    for order_id in history.to_pay:
        await play.market.pay(await play.market.pay_intent(play.actors.buyer, order_id))
        await play.market.order_reaches(play.actors.buyer, order_id, "paid_escrow")
    for _ in range(each):
        history.placed_after.append(await play.paid())
    await _settle_transfers(play)
    # More than the wallet held at the instant: the vendor cannot request it again before earning it again.
    history.requested_after_minor = int((await play.market.wallet(play.actors.vendor))["availableMinor"])
    history.payouts.append(history.requested_after_minor)
    await play.paid_out(history.requested_after_minor)


async def _settle_transfers(play: Play) -> None:
    """Let the manually settled transfers succeed, and wait for all payouts."""
    for transfer in await transfers_of(play.market):
        if transfer["status"] == "pending":
            path = f"/control/transfers/{transfer['reference']}/succeed"
            # A transfer may have settled by itself before.
            await play.market.sandbox.post(path)

    async def settled() -> bool | None:
        left = await transfers_of(play.market)
        done = {int(line["amount"]) for line in left if line["status"] == "success"}
        return True if done >= set(play.history.payouts) else None

    await Marketplace.until("every requested payout was transferred", settled, 180, every=1.0)


async def repeat_lost_actions(play: Play) -> None:
    """Users repeat their lost actions: deliveries and cancellations."""
    for order_id in play.history.to_deliver:
        await play.delivered(order_id)
    for order_id in play.history.to_cancel:
        await play.cancelled(order_id)


async def _until_published(system: System, service: str) -> None:
    async def published() -> bool | None:
        return None if await value_of(system, service, _UNPUBLISHED) else True

    await Marketplace.until(f"all outbox rows of {service} are published", published, 60)
