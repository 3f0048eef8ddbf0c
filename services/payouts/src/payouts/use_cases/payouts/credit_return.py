"""Credit a vendor's wallet with the amount of a payout that did not leave, or that came back."""

from collections.abc import Callable
from datetime import datetime
from typing import Literal
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.ledger import posting as ledger
from common.ledger.posting import Posting
from payouts import store
from payouts.domain.returns import LockedPayout
from payouts.domain.wallet import WalletLine, repayment

# The subject (a payout, a transfer), the vendor, the amount, and how much of it repays debt, in kobo.
PostingOf = Callable[[UUID, UUID, int, int], Posting]


async def credit_return(
    uow: UnitOfWork,
    payout: LockedPayout,
    kind: Literal["restitution", "reversal", "recovery_returned"],
    about: UUID,
    posting_of: PostingOf,
    now: datetime,
) -> None:
    """Writes statement lines and posting of one return, debt repaid first. The payout must be locked and checked."""
    wallet = await store.lock_wallet(uow, payout.vendor_id)
    repaid_minor = repayment(wallet.debt_minor, payout.amount_minor)
    lines = [WalletLine(kind, payout.amount_minor, payout_id=payout.id)]
    if repaid_minor:
        lines.append(WalletLine("debt_repaid", -repaid_minor, payout_id=payout.id))
    await store.append_lines(uow, payout.vendor_id, f"{kind}:{about}", wallet.available_minor, lines, now)
    await ledger.post(uow, posting_of(about, payout.vendor_id, payout.amount_minor, repaid_minor))
