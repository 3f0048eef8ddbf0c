"""Write a credit to a vendor's wallet: debt is repaid first."""

from collections.abc import Callable
from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.ledger import posting as ledger
from common.ledger.posting import Posting
from payouts import store
from payouts.domain.wallet import WalletLine, WalletSnapshot, repayment


async def post_credit(
    uow: UnitOfWork,
    vendor_id: UUID,
    wallet: WalletSnapshot,
    key: str,
    line: WalletLine,
    posting_of: Callable[[int], Posting],
    now: datetime,
) -> None:
    """Write the statement lines and the posting. `posting_of` gets the part that repays debt, in kobo.

    `wallet` must be read under its lock. A credit of nothing writes its line, and no posting.
    """
    repaid_minor = repayment(wallet.debt_minor, line.net_minor)
    lines = [line]
    if repaid_minor:
        lines.append(WalletLine("debt_repaid", -repaid_minor, line.order_id, line.payout_id))
    await store.append_lines(uow, vendor_id, key, wallet.available_minor, lines, now)
    if line.net_minor:
        await ledger.post(uow, posting_of(repaid_minor))
