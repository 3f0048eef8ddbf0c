"""Steps of the buyers' banks: refunds and chargebacks."""

from dataclasses import dataclass
from typing import Literal

from lab.simulation.steps.step import ABSENT, OfOrder, act
from lab.simulation.story import OrderStory, Story


@dataclass(frozen=True, slots=True)
class SettleRefunds(OfOrder):
    text = "the bank is asked to {action} the refunds of order {order}"
    action: Literal["process", "fail"]

    async def of(self, story: Story, order: OrderStory) -> str:
        pending = [line for line in await story.refunds_of(order) if line["status"] in ("pending", "processing")]
        outcomes = [await act(story, f"refunds/{refund['id']}/{self.action}") for refund in pending]
        return ", ".join(outcomes) or ABSENT


@dataclass(frozen=True, slots=True)
class OpenChargeback(OfOrder):
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
class DecideChargeback(OfOrder):
    text = "the bank lets the chargeback of order {order} {action}"
    action: Literal["lose", "win", "expire", "remind"]

    async def of(self, story: Story, order: OrderStory) -> str:
        return await act(story, f"disputes/{order.disputes[-1]}/{self.action}") if order.disputes else ABSENT
