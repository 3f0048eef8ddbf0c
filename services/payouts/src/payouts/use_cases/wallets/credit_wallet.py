"""Credit a vendor's wallet: debt is repaid first, then open chargebacks hold what is at stake."""

from collections.abc import Callable
from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.ledger.posting import Posting
from payouts.domain.wallet import WalletLine, WalletSnapshot
from payouts.use_cases.wallets.adjust_holds import adjust_holds
from payouts.use_cases.wallets.post_credit import post_credit


async def credit_wallet(
    uow: UnitOfWork,
    vendor_id: UUID,
    wallet: WalletSnapshot,
    key: str,
    line: WalletLine,
    posting_of: Callable[[int], Posting],
    now: datetime,
) -> None:
    """Every credit, whatever its kind. `wallet` must be read under its lock; `posting_of` gets the part that repays debt,
    in kobo.
    """
    await post_credit(uow, vendor_id, wallet, key, line, posting_of, now)
    await adjust_holds(uow, vendor_id, key, now)
