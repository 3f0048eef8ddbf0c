"""Steps of buyers, vendors and staff about an order."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated, Any, Final, Literal

from lab.simulation.steps.step import ABSENT, OfOrder, OrderNumber, Step, act, chosen
from lab.simulation.story import OrderStory, Story
from lab.stepped.actors import CHECKER, SUPPORT

# The daily reconciliation reads the charges of seven days by their opening, and a run's timers may pause for five. A later
# payment whose webhook is lost is a finding of the audit, for staff.
_PAID_WITHIN: Final = timedelta(hours=36)


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
class OpenPayment(OfOrder):
    text = "the buyer opens a payment of order {order}"

    async def of(self, story: Story, order: OrderStory) -> str:
        intent = await story.post("/api/payments/intent", order.buyer, {"orderId": order.id})
        if intent["reference"] not in order.references:
            order.references.append(intent["reference"])
            order.opened_at[intent["reference"]] = story.market.clock.now()
        return str(intent["status"])


@dataclass(frozen=True, slots=True)
class Pay(OfOrder):
    text = "the payer pays {terms} by payment {attempt} of order {order}"
    attempt: Annotated[int, range(2)]
    terms: Literal["exactly", "too little", "too much"]

    async def of(self, story: Story, order: OrderStory) -> str:
        reference = chosen(self.attempt, order.references)
        if reference is None or story.market.clock.now() - order.opened_at[reference] > _PAID_WITHIN:
            return ABSENT
        difference = {"exactly": 0, "too little": -1, "too much": 77_700}[self.terms]
        return await act(story, f"charges/{reference}/pay", {"amount": order.total_minor + difference})


@dataclass(frozen=True, slots=True)
class Decline(OfOrder):
    text = "the payer's bank declines order {order}"

    async def of(self, story: Story, order: OrderStory) -> str:
        return await act(story, f"charges/{order.references[-1]}/decline") if order.references else ABSENT


@dataclass(frozen=True, slots=True)
class Cancel(OfOrder):
    text = "the {by} cancels order {order}"
    by: Literal["buyer", "vendor", "staff"]

    async def of(self, story: Story, order: OrderStory) -> str:
        user = {"buyer": order.buyer, "vendor": story.vendor, "staff": SUPPORT}[self.by]
        return str((await story.post(f"/api/orders/{order.id}/cancel", user, {"reason": "as planned"}))["status"])


@dataclass(frozen=True, slots=True)
class Dispatch(OfOrder):
    text = "the vendor dispatches order {order}"

    async def of(self, story: Story, order: OrderStory) -> str:
        return str((await story.post(f"/api/orders/{order.id}/dispatch", story.vendor))["status"])


@dataclass(frozen=True, slots=True)
class HandOver(OfOrder):
    text = "the vendor enters the PIN of order {order}"

    async def of(self, story: Story, order: OrderStory) -> str:
        pin = (await story.market.get(f"/api/orders/{order.id}/delivery-pin", order.buyer))["pin"]
        found = await story.post(f"/api/orders/{order.id}/verify-delivery", story.vendor, {"pin": pin})
        return str(found["status"])


@dataclass(frozen=True, slots=True)
class Dispute(OfOrder):
    text = "the buyer disputes order {order}"

    async def of(self, story: Story, order: OrderStory) -> str:
        complaint = {"reason": "half is missing", "details": "One of two boxes was empty."}
        return str((await story.post(f"/api/orders/{order.id}/dispute", order.buyer, complaint))["status"])


@dataclass(frozen=True, slots=True)
class Resolve(OfOrder):
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
class DecideResolution(OfOrder):
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
class RequestReturn(OfOrder):
    text = "the buyer returns one piece of order {order}"

    async def of(self, story: Story, order: OrderStory) -> str:
        body = {"items": [{"itemId": order.item_id, "quantity": 1}], "reason": "The zip is torn."}
        made = await story.post(f"/api/orders/{order.id}/return-requests", order.buyer, body)
        order.returns.append(made["id"])
        return str(made["status"])


@dataclass(frozen=True, slots=True)
class DecideReturn(OfOrder):
    text = "the vendor {decision}s the return of order {order}"
    decision: Literal["approve", "reject"]

    async def of(self, story: Story, order: OrderStory) -> str:
        if not order.returns:
            return ABSENT
        body = {} if self.decision == "approve" else {"reason": "as planned"}
        made = await story.post(f"/api/return-requests/{order.returns[-1]}/{self.decision}", story.vendor, body)
        return str(made["status"])


@dataclass(frozen=True, slots=True)
class ReleaseByStaff(OfOrder):
    text = "finance releases {part} of order {order}"
    part: Literal["a third", "all"]

    async def of(self, story: Story, order: OrderStory) -> str:
        amount_minor = order.total_minor // 3 if self.part == "a third" else order.total_minor
        released = await story.post(f"/api/orders/{order.id}/release", CHECKER, {"amountMinor": amount_minor})
        return f"{released['releasedMinor']} kobo"
