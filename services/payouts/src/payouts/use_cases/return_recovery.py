"""Give a vendor back what was recovered for a transfer that then came back to the gateway."""

from datetime import datetime
from uuid import UUID

from common import ledger
from common.database import UnitOfWork
from payouts import store
from payouts.domain import accounts
from payouts.domain.returns import PayoutInHand
from payouts.domain.wallet import Line, repayment
from payouts.use_cases.close_live_exception import close_live_exception


async def return_recovery(uow: UnitOfWork, payout: PayoutInHand, transfer_id: UUID, now: datetime) -> None:
    """Gateway cash becomes the wallet's, repaying debt first. The payout keeps its status. It must be locked and judged."""
    standing = await store.lock_wallet(uow, payout.vendor_id)
    repaid_minor = repayment(standing.debt_minor, payout.amount_minor)
    lines = [Line("recovery_returned", payout.amount_minor, payout_id=payout.id)]
    if repaid_minor:
        lines.append(Line("debt_repaid", -repaid_minor, payout_id=payout.id))
    key = f"recovery_returned:{transfer_id}"
    await store.append_lines(uow, payout.vendor_id, key, standing.available_minor, lines, now)
    await ledger.post(uow, accounts.recovery_returned(transfer_id, payout.vendor_id, payout.amount_minor, repaid_minor))
    await close_live_exception(uow, payout.id, "The recovered transfer came back: its amount was returned.", now)
