"""Debit a vendor's wallet: what it lacks becomes debt."""

from collections.abc import Callable
from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.ledger import posting as ledger
from common.ledger.posting import Posting
from payouts import store
from payouts.domain.wallet import WalletLine, WalletSnapshot, shortfall


async def debit_wallet(
    uow: UnitOfWork,
    vendor_id: UUID,
    wallet: WalletSnapshot,
    key: str,
    line: WalletLine,
    posting_of: Callable[[int], Posting],
    now: datetime,
) -> None:
    """Write the statement lines and the posting of one debit. `posting_of` gets the part that becomes debt, in kobo.

    `wallet` must be read under its lock. A debit of nothing writes its line, and no posting.
    """
    shortfall_minor = shortfall(wallet.available_minor, -line.net_minor)
    lines = [line]
    if shortfall_minor:
        # The advance comes first, so that no line has a balance below zero.
        lines.insert(0, WalletLine("debt_taken", shortfall_minor, line.order_id, line.payout_id))
    await store.append_lines(uow, vendor_id, key, wallet.available_minor, lines, now)
    if line.net_minor:
        await ledger.post(uow, posting_of(shortfall_minor))
