"""Request a payout from a wallet."""

from datetime import datetime
from functools import partial
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.idempotency import IdempotencyKeyReused
from common.primitives.ids import new_id
from contracts.payouts import PayoutRequested
from payouts.domain import accounts
from payouts.domain.wallet import WalletLine, check_payout_request
from payouts.store import payouts, wallets
from payouts.use_cases.wallets.steps import debit_wallet


async def request_payout(
    uow: UnitOfWork,
    vendor_id: UUID,
    amount_minor: int,
    by: UUID,
    now: datetime,
    *,
    minimum_minor: int = 1,
    key: UUID | None = None,
) -> UUID:
    """Move the amount from wallet to in transit and records the payout, `pending`, with the present bank details.
    Returns its id. A repeated request with the same key returns the id of the first.

    Raises EscrowLocked (423), BelowMinimum, AmountAboveWallet and IdempotencyKeyReused (422), VendorSuspended,
    DebtOutstanding, BankDetailsQuarantined and BankDetailsUnverified (409).
    """
    wallet = await wallets.lock_wallet(uow, vendor_id)
    if key is not None and (requested := await payouts.find_payout_by_key(uow, by, key)) is not None:
        if requested.amount_minor != amount_minor:
            raise IdempotencyKeyReused
        return requested.id
    version_id = check_payout_request(wallet, amount_minor, minimum_minor)
    payout_id = new_id()
    payout = payouts.NewPayout(payout_id, vendor_id, amount_minor, version_id, by)
    number = await payouts.save_payout(uow, payout, now, key)
    line = WalletLine("payout", -amount_minor, payout_id=payout_id)
    posting_of = partial(accounts.payout_requested, payout_id, vendor_id, amount_minor)
    await debit_wallet(uow, vendor_id, wallet, f"payout:{payout_id}", line, posting_of, now)
    uow.publish(PayoutRequested(payout_id=payout_id, vendor_id=vendor_id, amount_minor=amount_minor, number=number))
    return payout_id
