"""Return a payout's amount that a quarantine has held until its transfer ended."""

from datetime import datetime

from common.database.unit_of_work import UnitOfWork
from payouts import store
from payouts.domain.quarantines import confirms_failure, has_failed, may_be_restituted, needs_query_first
from payouts.domain.transfer_updates import LockedTransfer, TransferUpdate
from payouts.store import returns
from payouts.use_cases.payouts.restitute_payout import restitute_payout


async def restitute_after_settlement(
    uow: UnitOfWork, transfer: LockedTransfer, update: TransferUpdate | None, now: datetime
) -> bool:
    """Restitutes an awaiting payout when the gateway confirms that its present attempt failed or was returned.

    `update` None: the gateway, queried, has no such reference. A webhook's failure only causes a query. False when
    nothing was returned. The transfer and its payout must be locked.
    """
    reason = await store.find_awaited_restitution(uow, transfer.id)
    if reason is None:
        return False
    if update is not None and needs_query_first(update):
        uow.enqueue_work("payouts.transfers", transfer.reference, {"transferId": str(transfer.id)})
        return False
    if not (has_failed(transfer) if update is None else confirms_failure(transfer, update)):
        return False
    if update is not None:
        # A webhook alone did not set the row's status: now it is confirmed.
        await store.save_transfer_status(uow, transfer, update, now)
    payout = await returns.lock_payout_with_attempts(uow, transfer.payout_id)
    if payout is None or not may_be_restituted(payout):
        # Another attempt is in progress or contradicted: the payout stays held, and maker and checker may reconcile it.
        return False
    return await restitute_payout(uow, transfer.payout_id, reason, now)
