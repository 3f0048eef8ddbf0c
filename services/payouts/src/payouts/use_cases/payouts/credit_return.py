"""Credit a vendor's wallet with the amount of a payout that was not sent, or that was returned."""

from collections.abc import Callable
from datetime import datetime
from functools import partial
from typing import Literal, TypeVar
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.ledger.posting import Posting
from payouts import store
from payouts.domain.accounts import Recovery
from payouts.domain.returns import LockedPayout
from payouts.domain.wallet import WalletLine
from payouts.use_cases.wallets.credit_wallet import credit_wallet

Subject = TypeVar("Subject", UUID, Recovery)


async def credit_return(
    uow: UnitOfWork,
    payout: LockedPayout,
    kind: Literal["restitution", "reversal", "recovery_returned", "hold_released"],
    about: Subject,
    posting_of: Callable[[Subject, UUID, int, int], Posting],
    now: datetime,
) -> None:
    """Write statement lines and posting of one return, debt repaid first. The payout must be locked and checked.

    `posting_of` gets the subject, the vendor, the amount, and how much of it repays debt, in kobo.
    """
    wallet = await store.lock_wallet(uow, payout.vendor_id)
    line = WalletLine(kind, payout.amount_minor, payout_id=payout.id)
    posting = partial(posting_of, about, payout.vendor_id, payout.amount_minor)
    await credit_wallet(uow, payout.vendor_id, wallet, f"{kind}:{about}", line, posting, now)
