"""The steps of a plan. Each is a value with a sentence; `run` returns its outcome."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import timedelta
from random import Random
from typing import Annotated, Any, ClassVar, Literal, TypeVar, get_args, get_origin, get_type_hints

from lab.crash_points.marketplace import CHECKER, MAKER, OPS, SUPPORT
from lab.crash_points.points import Crash, Side
from lab.simulation.broker import Loss, SimulatedBus
from lab.simulation.gateway import CallFault
from lab.simulation.story import OrderStory, Story

OrderNumber = Annotated[int, range(4)]
PayoutNumber = Annotated[int, range(2)]
Pick = Annotated[int, range(1000)]
"""Chooses among what is there at that moment, by the remainder."""
StepT = TypeVar("StepT", bound="Step")

ABSENT = "-"


@dataclass(frozen=True, slots=True)
class Step(ABC):
    """One step: `text` with the names of its fields in braces is its sentence."""

    text: ClassVar[str] = ""

    @property
    def sentence(self) -> str:
        return self.text.format(**{one.name: getattr(self, one.name) for one in fields(self)})

    @abstractmethod
    async def run(self, story: Story) -> str:
        """Do it; returns what happened, or `ABSENT` without its subject."""


def draw(kind: type[StepT], random: Random, **given: Any) -> StepT:
    """A step with values of its fields' types, except the given ones."""
    hints = get_type_hints(kind, include_extras=True)
    values = {one.name: given.get(one.name, _value(hints[one.name], random)) for one in fields(kind)}
    return kind(**values)


def _value(hint: Any, random: Random) -> Any:
    if get_origin(hint) is Annotated:
        return random.choice(get_args(hint)[1])
    if get_origin(hint) is Literal:
        return random.choice(get_args(hint))
    raise TypeError(f"no values of {hint}")


def _chosen(pick: int, among: Sequence[Any]) -> Any:
    return among[pick % len(among)] if among else None


@dataclass(frozen=True, slots=True)
class _OfOrder(Step):
    order: OrderNumber

    async def run(self, story: Story) -> str:
        found = story.orders.get(self.order)
        return ABSENT if found is None else await self.of(story, found)

    @abstractmethod
    async def of(self, story: Story, order: OrderStory) -> str: ...


# Buyers, vendors, staff


@dataclass(frozen=True, slots=True)
class CheckOut(Step):
    text = "buyer {buyer} orders {quantity} as order {order}"
    order: OrderNumber
    buyer: Annotated[int, range(2)]
    quantity: Annotated[int, range(1, 4)]

    async def run(self, story: Story) -> str:
        if self.order in story.orders:
            return ABSENT
        buyer = story.buyers[self.buyer]
        items = [{"productId": story.product_id, "quantity": self.quantity}]
        order = await story.post("/api/orders/checkout", buyer, {"items": items})
        story.orders[self.order] = OrderStory(order["id"], buyer, order["items"][0]["id"], order["totalMinor"])
        return str(order["status"])


@dataclass(frozen=True, slots=True)
class OpenPayment(_OfOrder):
    text = "the buyer opens a payment of order {order}"

    async def of(self, story: Story, order: OrderStory) -> str:
        intent = await story.post("/api/payments/intent", order.buyer, {"orderId": order.id})
        if intent["reference"] not in order.references:
            order.references.append(intent["reference"])
        return str(intent["status"])


@dataclass(frozen=True, slots=True)
class Pay(_OfOrder):
    text = "the payer pays {terms} by payment {attempt} of order {order}"
    attempt: Annotated[int, range(2)]
    terms: Literal["exactly", "too little", "too much"]

    async def of(self, story: Story, order: OrderStory) -> str:
        reference = _chosen(self.attempt, order.references)
        if reference is None:
            return ABSENT
        difference = {"exactly": 0, "too little": -1, "too much": 77_700}[self.terms]
        return await _act(story, f"charges/{reference}/pay", {"amount": order.total_minor + difference})


@dataclass(frozen=True, slots=True)
class Decline(_OfOrder):
    text = "the payer's bank declines order {order}"

    async def of(self, story: Story, order: OrderStory) -> str:
        return await _act(story, f"charges/{order.references[-1]}/decline") if order.references else ABSENT


@dataclass(frozen=True, slots=True)
class Cancel(_OfOrder):
    text = "the {by} cancels order {order}"
    by: Literal["buyer", "vendor", "staff"]

    async def of(self, story: Story, order: OrderStory) -> str:
        user = {"buyer": order.buyer, "vendor": story.vendor, "staff": SUPPORT}[self.by]
        return str((await story.post(f"/api/orders/{order.id}/cancel", user, {"reason": "as planned"}))["status"])


@dataclass(frozen=True, slots=True)
class Dispatch(_OfOrder):
    text = "the vendor dispatches order {order}"

    async def of(self, story: Story, order: OrderStory) -> str:
        return str((await story.post(f"/api/orders/{order.id}/dispatch", story.vendor))["status"])


@dataclass(frozen=True, slots=True)
class HandOver(_OfOrder):
    text = "the vendor enters the PIN of order {order}"

    async def of(self, story: Story, order: OrderStory) -> str:
        pin = (await story.market.get(f"/api/orders/{order.id}/delivery-pin", order.buyer))["pin"]
        found = await story.post(f"/api/orders/{order.id}/verify-delivery", story.vendor, {"pin": pin})
        return str(found["status"])


@dataclass(frozen=True, slots=True)
class Dispute(_OfOrder):
    text = "the buyer disputes order {order}"

    async def of(self, story: Story, order: OrderStory) -> str:
        complaint = {"reason": "half is missing", "details": "One of two boxes was empty."}
        return str((await story.post(f"/api/orders/{order.id}/dispute", order.buyer, complaint))["status"])


@dataclass(frozen=True, slots=True)
class Resolve(_OfOrder):
    text = "support resolves the dispute of order {order} for {outcome}"
    outcome: Literal["buyer", "vendor", "split"]

    async def of(self, story: Story, order: OrderStory) -> str:
        body: dict[str, Any] = {"outcome": self.outcome}
        if self.outcome == "split":
            body["refundMinor"] = order.total_minor // 3
        made = await story.post(f"/api/orders/{order.id}/resolve", SUPPORT, body)
        order.resolutions.append((made["resolutionId"], made["hash"]))
        return str(made["status"])


@dataclass(frozen=True, slots=True)
class DecideResolution(_OfOrder):
    text = "finance {decision}s the resolution of order {order}"
    decision: Literal["approve", "reject"]

    async def of(self, story: Story, order: OrderStory) -> str:
        if not order.resolutions:
            return ABSENT
        resolution_id, content = order.resolutions[-1]
        body = {"hash": content} if self.decision == "approve" else {"reason": "as planned"}
        await story.post(f"/api/dispute-resolutions/{resolution_id}/{self.decision}", CHECKER, body)
        return "decided"


@dataclass(frozen=True, slots=True)
class RequestReturn(_OfOrder):
    text = "the buyer returns one piece of order {order}"

    async def of(self, story: Story, order: OrderStory) -> str:
        body = {"items": [{"itemId": order.item_id, "quantity": 1}], "reason": "The zip is torn."}
        made = await story.post(f"/api/orders/{order.id}/return-requests", order.buyer, body)
        order.returns.append(made["id"])
        return str(made["status"])


@dataclass(frozen=True, slots=True)
class DecideReturn(_OfOrder):
    text = "the vendor {decision}s the return of order {order}"
    decision: Literal["approve", "reject"]

    async def of(self, story: Story, order: OrderStory) -> str:
        if not order.returns:
            return ABSENT
        body = {} if self.decision == "approve" else {"reason": "as planned"}
        made = await story.post(f"/api/return-requests/{order.returns[-1]}/{self.decision}", story.vendor, body)
        return str(made["status"])


@dataclass(frozen=True, slots=True)
class ReleaseByStaff(_OfOrder):
    text = "finance releases {part} of order {order}"
    part: Literal["a third", "all"]

    async def of(self, story: Story, order: OrderStory) -> str:
        amount_minor = order.total_minor // 3 if self.part == "a third" else order.total_minor
        released = await story.post(f"/api/orders/{order.id}/release", CHECKER, {"amountMinor": amount_minor})
        return f"{released['releasedMinor']} kobo"


@dataclass(frozen=True, slots=True)
class RequestPayout(Step):
    text = "the vendor requests {percent} % of the wallet as payout {payout}"
    payout: PayoutNumber
    percent: Literal[30, 100]

    async def run(self, story: Story) -> str:
        available_minor = (await story.wallet())["availableMinor"]
        amount_minor = available_minor * self.percent // 100
        if self.payout in story.payouts or not amount_minor:
            return ABSENT
        made = await story.post("/api/payouts", story.vendor, {"amountMinor": amount_minor})
        story.payouts[self.payout] = made["id"]
        return f"{amount_minor} kobo"


@dataclass(frozen=True, slots=True)
class _OfPayout(Step):
    payout: PayoutNumber

    async def run(self, story: Story) -> str:
        found = story.payouts.get(self.payout)
        return ABSENT if found is None else await self.of(story, found)

    @abstractmethod
    async def of(self, story: Story, payout_id: str) -> str: ...


@dataclass(frozen=True, slots=True)
class DispatchPayout(_OfPayout):
    text = "finance dispatches payout {payout}"

    async def of(self, story: Story, payout_id: str) -> str:
        batch = await story.post("/api/payouts/dispatch", MAKER, {"payoutIds": [payout_id]})
        return f"{batch['submitted']} submitted"


@dataclass(frozen=True, slots=True)
class SettleTransfer(_OfPayout):
    text = "the bank lets the transfer of payout {payout} {action}"
    action: Literal["succeed", "fail", "reverse"]

    async def of(self, story: Story, payout_id: str) -> str:
        transfers = await story.transfers_of(payout_id)
        if not transfers:
            return ABSENT
        return await _act(story, f"transfers/{transfers[-1]['reference']}/{self.action}")


@dataclass(frozen=True, slots=True)
class ResetPayout(_OfPayout):
    text = "operations reset payout {payout}"

    async def of(self, story: Story, payout_id: str) -> str:
        return str((await story.post(f"/api/payouts/{payout_id}/reset", OPS, {"reason": "as planned"}))["status"])


@dataclass(frozen=True, slots=True)
class CancelPayout(_OfPayout):
    text = "the vendor cancels payout {payout}"

    async def of(self, story: Story, payout_id: str) -> str:
        return str((await story.post(f"/api/payouts/{payout_id}/cancel", story.vendor))["status"])


@dataclass(frozen=True, slots=True)
class ReconcilePayout(_OfPayout):
    text = "two of finance reconcile payout {payout}"

    async def of(self, story: Story, payout_id: str) -> str:
        made = await story.post(f"/api/payouts/{payout_id}/reconciliations", MAKER, {"reason": "as planned"})
        await story.post(f"/api/reconciliations/{made['id']}/approve", CHECKER, {"hash": made["hash"]})
        return str(made["kind"])


# The gateway and the banks


@dataclass(frozen=True, slots=True)
class SettleRefunds(_OfOrder):
    text = "the bank is asked to {action} the refunds of order {order}"
    action: Literal["process", "fail"]

    async def of(self, story: Story, order: OrderStory) -> str:
        pending = [line for line in await story.refunds_of(order) if line["status"] in ("pending", "processing")]
        outcomes = [await _act(story, f"refunds/{refund['id']}/{self.action}") for refund in pending]
        return ", ".join(outcomes) or ABSENT


@dataclass(frozen=True, slots=True)
class OpenChargeback(_OfOrder):
    text = "the payer's bank requests {part} of order {order} back"
    part: Literal["a third", "all"]

    async def of(self, story: Story, order: OrderStory) -> str:
        if not order.references:
            return ABSENT
        amount_minor = order.total_minor // 3 if self.part == "a third" else order.total_minor
        path = f"charges/{order.references[0]}/dispute"
        response = await story.market.sandbox.post(f"/control/{path}", json={"amount": amount_minor})
        if response.is_success:
            order.disputes.append(response.json()["id"])
        return str(response.status_code)


@dataclass(frozen=True, slots=True)
class DecideChargeback(_OfOrder):
    text = "the bank lets the chargeback of order {order} {action}"
    action: Literal["lose", "win", "expire", "remind"]

    async def of(self, story: Story, order: OrderStory) -> str:
        return await _act(story, f"disputes/{order.disputes[-1]}/{self.action}") if order.disputes else ABSENT


async def _act(story: Story, path: str, body: dict[str, Any] | None = None) -> str:
    response = await story.market.sandbox.post(f"/control/{path}", json=body or {})
    return str(response.status_code)


# The schedule


@dataclass(frozen=True, slots=True)
class Relay(Step):
    text = "a relay publishes"
    pick: Pick

    async def run(self, story: Story) -> str:
        name = _chosen(self.pick, story.market.relays())
        if name is None:
            return ABSENT
        await story.market.relay(name)
        return str(name)


@dataclass(frozen=True, slots=True)
class DeliverMessages(Step):
    text = "up to {count} messages of a queue are delivered, in another order"
    pick: Pick
    first: Annotated[int, range(4)]
    count: Annotated[int, range(1, 4)]

    async def run(self, story: Story) -> str:
        queue = _chosen(self.pick, story.market.broker.waiting())
        if queue is None:
            return ABSENT
        types = [message.type for message in story.market.broker.ready[queue]]
        delivered = await story.market.deliver(queue, (self.first,) * self.count)
        return f"{delivered} of {queue}: {', '.join(types)}"


@dataclass(frozen=True, slots=True)
class DeliverTwice(Step):
    text = "a message is in its queue twice"
    pick: Pick
    message: Annotated[int, range(4)]

    async def run(self, story: Story) -> str:
        queue = _chosen(self.pick, story.market.broker.waiting())
        if queue is None:
            return ABSENT
        story.market.broker.duplicate(queue, self.message)
        return str(queue)


@dataclass(frozen=True, slots=True)
class HoldQueue(Step):
    text = "a queue delivers nothing for {minutes} minutes"
    pick: Pick
    minutes: Literal[1, 20, 600]

    async def run(self, story: Story) -> str:
        queue = _chosen(self.pick, sorted(story.market.broker.consumed))
        story.market.broker.hold(queue, story.market.clock.now() + timedelta(minutes=self.minutes))
        return str(queue)


@dataclass(frozen=True, slots=True)
class SendWebhook(Step):
    text = "the gateway sends a webhook {how}"
    pick: Pick
    how: Literal["once", "twice", "and again later"]

    async def run(self, story: Story) -> str:
        webhook = _chosen(self.pick, await story.market.webhooks())
        if webhook is None:
            return ABSENT
        for _ in range(2 if self.how == "twice" else 1):
            await story.market.send_webhook(webhook.body)
        if self.how != "and again later":
            story.market.discard(webhook)
        return str(webhook.event)


@dataclass(frozen=True, slots=True)
class DropWebhook(Step):
    text = "a webhook is lost"
    pick: Pick

    async def run(self, story: Story) -> str:
        webhook = _chosen(self.pick, await story.market.webhooks())
        if webhook is None:
            return ABSENT
        story.market.discard(webhook)
        return str(webhook.event)


@dataclass(frozen=True, slots=True)
class RunTimer(Step):
    text = "a timer runs"
    pick: Pick

    async def run(self, story: Story) -> str:
        name, timer = _chosen(self.pick, story.market.timers())
        error = await story.market.run_timer(name, timer)
        return f"{name}: {timer}" + (f": {error}" if error else "")


@dataclass(frozen=True, slots=True)
class Wait(Step):
    text = "{minutes} minutes pass"
    minutes: Literal[1, 5, 30, 120]

    async def run(self, story: Story) -> str:
        story.market.clock.advance(timedelta(minutes=self.minutes))
        return "ok"


@dataclass(frozen=True, slots=True)
class PassDays(Step):
    text = "{days} days pass with all timers"
    days: Literal[1, 4, 8, 15]

    async def run(self, story: Story) -> str:
        return "; ".join(await story.market.pass_time(timedelta(days=self.days))) or "ok"


@dataclass(frozen=True, slots=True)
class DeliverEverything(Step):
    text = "everything is published and delivered"

    async def run(self, story: Story) -> str:
        await story.market.run_until_idle()
        return "ok"


# Faults


@dataclass(frozen=True, slots=True)
class FailCall(Step):
    text = "the next call to the gateway has {fault}"
    fault: CallFault

    async def run(self, story: Story) -> str:
        story.market.connection.faults.append(self.fault)
        return "ok"


@dataclass(frozen=True, slots=True)
class Kill(Step):
    text = "a process dies and starts again"
    pick: Pick

    async def run(self, story: Story) -> str:
        process = _chosen(self.pick, list(story.market.processes.values()))
        process.die()
        await story.market.revive()
        return str(process.name)


@dataclass(frozen=True, slots=True)
class KillAtEffect(Step):
    text = "a process dies {side} effect {number} from now"
    number: Annotated[int, range(40)]
    side: Side

    async def run(self, story: Story) -> str:
        story.market.points.start(Crash(self.number, self.side))
        return "ok"


@dataclass(frozen=True, slots=True)
class DropConnection(Step):
    text = "the broker's connection of a process ends at its next {loss}"
    pick: Pick
    loss: Loss

    async def run(self, story: Story) -> str:
        process = _chosen(self.pick, list(story.market.processes.values()))
        bus = process.bus
        assert isinstance(bus, SimulatedBus)
        bus.losses.add(self.loss)
        return str(process.name)
