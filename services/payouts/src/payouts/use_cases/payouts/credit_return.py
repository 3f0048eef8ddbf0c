"""Credit a vendor's wallet with the amount of a payout that was not sent, or that was returned."""

from collections.abc import Callable
from datetime import datetime
from functools import partial
from typing import Literal
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.ledger.posting import Posting
from payouts import store
from payouts.domain.returns import LockedPayout
from payouts.domain.wallet import WalletLine
from payouts.use_cases.wallets.credit_wallet import credit_wallet

# The subject (a payout, a transfer), the vendor, the amount, and how much of it repays debt, in kobo.
PostingOf = Callable[[UUID, UUID, int, int], Posting]


async def credit_return(
    uow: UnitOfWork,
    payout: LockedPayout,
    kind: Literal["restitution", "reversal", "recovery_returned", "hold_released"],
    about: UUID,
    posting_of: PostingOf,
    now: datetime,
) -> None:
    """Write statement lines and posting of one return, debt repaid first. The payout must be locked and checked."""
    wallet = await store.lock_wallet(uow, payout.vendor_id)
    line = WalletLine(kind, payout.amount_minor, payout_id=payout.id)
    posting = partial(posting_of, about, payout.vendor_id, payout.amount_minor)
    await credit_wallet(uow, payout.vendor_id, wallet, f"{kind}:{about}", line, posting, now)
