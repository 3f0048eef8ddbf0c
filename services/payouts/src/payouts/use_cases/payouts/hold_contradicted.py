"""Hold money that may have been paid although the ledger returned it (contract section 8)."""

from dataclasses import replace
from datetime import datetime
from functools import partial

from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_id
from payouts import store
from payouts.domain import accounts
from payouts.domain.returns import has_uncovered_payment
from payouts.domain.transfer_updates import LockedTransfer
from payouts.domain.wallet import WalletLine
from payouts.store import returns
from payouts.use_cases.exceptions.open_exception import open_exception
from payouts.use_cases.wallets.debit_wallet import debit_wallet


async def hold_contradicted(uow: UnitOfWork, transfer: LockedTransfer, now: datetime) -> bool:
    """Return whether the reported success is held: the payout's amount moves from the wallet to its hold, the shortfall becomes
    debt, and a SEV-1 exception asks two people for a reconciliation.

    Nothing is held while the ledger has the money of every transfer that may have paid. The transfer and its payout must
    be locked, and the report recorded.
    """
    payout = await returns.lock_payout_with_attempts(uow, transfer.payout_id)
    if payout is None:
        raise AssertionError("a payout is never removed")
    if not has_uncovered_payment(payout):
        return False
    hold_id, vendor_id = new_id(), payout.vendor_id
    wallet = await store.lock_wallet(uow, vendor_id)
    line = WalletLine("hold", -payout.amount_minor, payout_id=payout.id)
    posting_of = partial(accounts.transfer_hold, hold_id, vendor_id, payout.amount_minor)
    await debit_wallet(uow, vendor_id, wallet, f"transfer_hold:{hold_id}", line, posting_of, now)
    await returns.save_hold(uow, hold_id, payout, transfer.id, now)
    detail = (
        f"The gateway reports {transfer.reference} as paid, and the ledger has the money of another transfer only: "
        f"{payout.amount_minor} kobo may have been paid twice and are held. Two people of finance reconcile the payout."
    )
    about = replace(transfer, payout_status=payout.status)
    await open_exception(uow, about, "transfer_contradicted", detail, now)
    return True
