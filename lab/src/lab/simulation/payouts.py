"""The steps of a payout, by vendors, staff and banks. `sentence: outcome` is a line of a report."""

from typing import Annotated, Literal

from lab.simulation.run import Run
from lab.simulation.step import Absent, Payout, PayoutNumber, chosen, step
from lab.stepped.actions import (
    APPROVE_RECONCILIATION,
    CANCEL_PAYOUT,
    DISPATCH_PAYOUTS,
    HOLD_PAYOUT,
    RELEASE_PAYOUT,
    RESET_PAYOUT,
    reconcile,
    wallet,
)
from lab.stepped.actors import CHECKER, MAKER, OPS

# By these texts payouts names the cause of an exception.
FailureReason = Literal[
    "Account number is invalid",
    "Name mismatch",
    "Insufficient balance",
    "Request timed out",
    "Bank switch error",
    "Declined",
]


@step("the vendor requests {percent} % of the wallet as payout {payout}")
async def request_payout(run: Run, payout: PayoutNumber, percent: Literal[30, 100]) -> str:
    amount_minor = (await wallet(run.market, run.vendor))["availableMinor"] * percent // 100
    if payout in run.payouts or not amount_minor:
        raise Absent
    run.payouts[payout] = (await run.market.post("/api/payouts", run.vendor, {"amountMinor": amount_minor}))["id"]
    return f"{amount_minor} kobo"


@step("finance dispatches payout {payout}")
async def dispatch_payout(run: Run, payout: Payout) -> str:
    return f"{(await DISPATCH_PAYOUTS.post(run.market, MAKER, {}, payoutIds=[payout]))['submitted']} submitted"


@step("the bank lets transfer {attempt} of payout {payout} {action} ({reason})")
async def settle_transfer(
    run: Run,
    payout: Payout,
    attempt: Annotated[int, range(2)],
    action: Literal["succeed", "fail", "reverse"],
    reason: FailureReason,
) -> str:
    reference = chosen(-1 - attempt, await run.transfers_of(payout))["reference"]
    run.ended_at.setdefault(reference, run.market.clock.now())
    return await run.act(f"transfers/{reference}/{action}", {} if action == "succeed" else {"reason": reason})


@step("operations reset payout {payout}")
async def reset_payout(run: Run, payout: Payout) -> str:
    return str((await RESET_PAYOUT.post(run.market, OPS, {"id": payout}))["status"])


@step("the vendor cancels payout {payout}")
async def cancel_payout(run: Run, payout: Payout) -> str:
    return str((await CANCEL_PAYOUT.post(run.market, run.vendor, {"id": payout}))["status"])


@step("two of finance reconcile payout {payout}")
async def reconcile_payout(run: Run, payout: Payout) -> str:
    prepared = await reconcile(run.market, payout)
    await APPROVE_RECONCILIATION.post(run.market, CHECKER, prepared)
    return str(prepared["kind"])


@step("finance prepares a reconciliation of payout {payout}")
async def prepare_reconciliation(run: Run, payout: Payout) -> str:
    return str((await reconcile(run.market, payout))["kind"])


@step("finance holds payout {payout}")
async def hold_payout(run: Run, payout: Payout) -> str:
    return str((await HOLD_PAYOUT.post(run.market, MAKER, {"id": payout}))["status"])


@step("finance releases payout {payout}")
async def release_payout(run: Run, payout: Payout) -> str:
    return str((await RELEASE_PAYOUT.post(run.market, CHECKER, {"id": payout}))["status"])
