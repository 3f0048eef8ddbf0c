"""Steps of vendors, staff and banks about a payout."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Literal

from lab.simulation.steps.step import ABSENT, PayoutNumber, Step, act
from lab.simulation.story import Story
from lab.stepped.actors import CHECKER, MAKER, OPS


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
class OfPayout(Step):
    payout: PayoutNumber

    async def run(self, story: Story) -> str:
        found = story.payouts.get(self.payout)
        return ABSENT if found is None else await self.of(story, found)

    @abstractmethod
    async def of(self, story: Story, payout_id: str) -> str: ...


@dataclass(frozen=True, slots=True)
class DispatchPayout(OfPayout):
    text = "finance dispatches payout {payout}"

    async def of(self, story: Story, payout_id: str) -> str:
        batch = await story.post("/api/payouts/dispatch", MAKER, {"payoutIds": [payout_id]})
        return f"{batch['submitted']} submitted"


@dataclass(frozen=True, slots=True)
class SettleTransfer(OfPayout):
    text = "the bank lets the transfer of payout {payout} {action}"
    action: Literal["succeed", "fail", "reverse"]

    async def of(self, story: Story, payout_id: str) -> str:
        transfers = await story.transfers_of(payout_id)
        if not transfers:
            return ABSENT
        return await act(story, f"transfers/{transfers[-1]['reference']}/{self.action}")


@dataclass(frozen=True, slots=True)
class ResetPayout(OfPayout):
    text = "operations reset payout {payout}"

    async def of(self, story: Story, payout_id: str) -> str:
        return str((await story.post(f"/api/payouts/{payout_id}/reset", OPS, {"reason": "as planned"}))["status"])


@dataclass(frozen=True, slots=True)
class CancelPayout(OfPayout):
    text = "the vendor cancels payout {payout}"

    async def of(self, story: Story, payout_id: str) -> str:
        return str((await story.post(f"/api/payouts/{payout_id}/cancel", story.vendor))["status"])


@dataclass(frozen=True, slots=True)
class ReconcilePayout(OfPayout):
    text = "two of finance reconcile payout {payout}"

    async def of(self, story: Story, payout_id: str) -> str:
        made = await story.post(f"/api/payouts/{payout_id}/reconciliations", MAKER, {"reason": "as planned"})
        await story.post(f"/api/reconciliations/{made['id']}/approve", CHECKER, {"hash": made["hash"]})
        return str(made["kind"])
