"""Return the amount of a processed payout that came back to the gateway to its vendor's wallet."""

from datetime import datetime
from uuid import UUID

from common import ledger
from common.database import UnitOfWork
from contracts.payouts import PayoutReversed
from payouts import store
from payouts.domain import accounts
from payouts.domain.returns import PayoutInHand
from payouts.domain.wallet import Line, repayment
from payouts.use_cases.close_live_exception import close_live_exception


async def reverse_payout(uow: UnitOfWork, payout: PayoutInHand, reconciliation_id: UUID, now: datetime) -> None:
    """Gateway cash becomes the wallet's again, repaying debt first; the payout stays `processed`. It must be locked and judged."""
    standing = await store.lock_wallet(uow, payout.vendor_id)
    repaid_minor = repayment(standing.debt_minor, payout.amount_minor)
    lines = [Line("reversal", payout.amount_minor, payout_id=payout.id)]
    if repaid_minor:
        lines.append(Line("debt_repaid", -repaid_minor, payout_id=payout.id))
    key = f"reversal:{payout.id}"
    await store.append_lines(uow, payout.vendor_id, key, standing.available_minor, lines, now)
    await ledger.post(uow, accounts.reversal(payout.id, payout.vendor_id, payout.amount_minor, repaid_minor))
    uow.publish(
        PayoutReversed(
            payout_id=payout.id,
            vendor_id=payout.vendor_id,
            amount_minor=payout.amount_minor,
            reference=payout.reference,
            reconciliation_id=reconciliation_id,
        )
    )
    await close_live_exception(uow, payout.id, "Reversed: the amount was returned to the wallet.", now)
